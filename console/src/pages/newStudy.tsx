import { type UseQueryResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { call, callTagged } from "../api/client";
import type { StudyForecast, StudyStart } from "../api/contract";
import { configurationQuery } from "../configuration/data";
import { lasting } from "../lib/clock";
import { useDebounced } from "../lib/debounced";
import { combinations, defaultDuration, methods, mostReplicates, readAxes, rowsOf, type StudyForm, study, writeAxes } from "../lib/study";
import { count } from "../lib/units";
import { newStudyRoute } from "../router";
import { Axes, type Says } from "../study/axes";
import { Base } from "../study/base";
import { configurationOffers, firstAxes, simpleOffers } from "../study/offers";
import { refusedField } from "../study/refused";
import { shown } from "../ui/curl";
import { Choice } from "../ui/filters";
import { Amount, Facts, Failure, Loading, Page, Said } from "../ui/parts";

/** The form of a study. It stands in the address, so a link is a prepared study. */
export function NewStudy() {
	const search = newStudyRoute.useSearch();
	const navigate = useNavigate({ from: "/studies/new" });
	const { newest, document } = useConfiguration(search);
	const of = newest.data?.data;
	const whole = { duration: search.duration ?? defaultDuration, traceset: of?.activeTraceset?.id, mappingFile: of?.activeMappingFile?.id };
	const offers = search.base ? (document ? configurationOffers(document, whole) : []) : simpleOffers(search);
	// A configuration says itself what an axis of it can be.
	const form: StudyForm = search.base && search.axes === undefined ? { ...search, axes: firstAxes(offers) } : search;
	const axes = readAxes(form.axes);
	const asked = study(form);
	const ready = !form.base || (form.configuration !== undefined && (search.axes !== undefined || document !== undefined));
	const forecast = useForecast(form, ready);
	const client = useQueryClient();
	const start = useMutation({
		mutationFn: () => call("StartStudy", { body: asked }),
		onSuccess: ({ id }) => {
			client.invalidateQueries({ queryKey: ["studies"] });
			navigate({ to: "/studies/$id", params: { id } });
		},
	});
	const set = (change: StudyForm) => {
		if (start.error) start.reset();
		navigate({ search: (old: StudyForm) => ({ ...old, ...change }), replace: true });
	};
	const refused = refusedField(start.error ?? forecast.error, axes);
	const says: Says = (field) => (refused?.field === field ? refused.message : undefined);
	const submit = (event: FormEvent) => {
		event.preventDefault();
		start.mutate();
	};
	return (
		<Page title="New study" calls={[shown("PreviewStudy", { body: asked }, "Validates, and forecasts."), shown("StartStudy", { body: asked }, "Starts it.")]}>
			<p>The axes' values make points, and each point is a simulation of its own. Points whose results are known cost nothing.</p>
			<form onSubmit={submit}>
				<div className="two even">
					<div className="fields">
						<label>
							Name
							<input value={form.study ?? ""} onChange={(event) => set({ study: event.target.value })} maxLength={200} placeholder="study" aria-invalid={says("name") !== undefined} />
							<Said of={says("name")} />
						</label>
						<Method form={form} set={set} says={says} most={combinations(axes)} />
						{form.base && !ready ? (
							<p className="quiet">Axes are over fields of the configuration.</p>
						) : (
							<Axes axes={axes} offers={offers} rows={rowsOf(form, axes)} workspace={search.base && of?.workspaceId} set={(next) => set({ axes: writeAxes(next) })} says={says} />
						)}
						<NumberField
							label="Replicates of each point"
							value={form.replicates ?? "1"}
							range={[1, mostReplicates]}
							set={(replicates) => set({ replicates })}
							hint="Each runs with another seed; the median counts."
							said={says("replicates")}
						/>
						<label className="check">
							<input type="checkbox" checked={form.stop === "true"} onChange={(event) => set({ stop: event.target.checked ? "true" : "" })} />
							Stop runs whose point is dominated
						</label>
						<span className="quiet">A point is dominated if another of its workload is no slower and no dearer, and better in one of the two.</span>
					</div>
					<div className="fields">
						<Base form={form} set={set} says={says} newest={newest} />
					</div>
				</div>
				<Forecast of={forecast} ready={ready} chosen={form.configuration !== undefined} />
				<button type="submit" className="main" disabled={!ready || start.isPending}>
					{start.isPending ? "Starting …" : "Start the study"}
				</button>
				{start.error && <Failure of="It was not started" error={start.error} />}
			</form>
		</Page>
	);
}

/** The configuration that the form names, as it is now, and the document of the version that the study takes. */
function useConfiguration({ configuration: id = "", version = "" }: StudyForm) {
	const newest = useQuery({ ...configurationQuery(id), enabled: id !== "" });
	const earlier = Number(version) > 0 && Number(version) < (newest.data?.data.version ?? 0);
	const path = { config_id: id, version: Number(version) };
	const named = useQuery({
		queryKey: ["configuration", id, "version", version],
		queryFn: ({ signal }) => callTagged("GetConfigurationVersion", { path, query: { include: "all" } }, { signal }),
		enabled: earlier,
		staleTime: Number.POSITIVE_INFINITY,
	});
	// Of a version that does not exist, the forecast says so.
	return { newest, document: id === "" ? undefined : (earlier ? named : newest).data?.data };
}

/** How the values of the axes make points. */
function Method({ form, set, says, most }: { form: StudyForm; set: (change: StudyForm) => void; says: Says; most: number }) {
	const choose = (method: string) => set({ method: method === "grid" ? "" : method, samples: method === "sample" ? String(Math.min(most, 10)) : "", seed: "" });
	return (
		<>
			<Choice name="Method" value={form.method ?? "grid"} values={Object.entries(methods)} set={choose} />
			{form.method === "sample" && (
				<>
					<NumberField
						label="Samples"
						value={form.samples ?? ""}
						range={[1, 10_000]}
						set={(samples) => set({ samples })}
						hint={`How many of ${count(most)} ${most === 1 ? "combination" : "combinations"} are points.`}
						said={says("samples")}
					/>
					<NumberField
						label="Seed of the sample"
						value={form.seed ?? "0"}
						range={[0, Number.MAX_SAFE_INTEGER]}
						set={(seed) => set({ seed })}
						hint="The same seed draws the same points."
						said={says("seed")}
					/>
				</>
			)}
		</>
	);
}

function NumberField({ label, value, range, set, hint, said }: { label: string; value: string; range: [number, number]; set: (value: string) => void; hint: string; said: string | undefined }) {
	return (
		<label>
			{label}
			<input type="number" min={range[0]} max={range[1]} value={value} onChange={(event) => set(event.target.value)} aria-invalid={said !== undefined} />
			<span className="quiet">{hint}</span>
			<Said of={said} />
		</label>
	);
}

/** What the service says of the study before it is started. It is asked when the form stands still and can be asked. */
function useForecast(form: StudyForm, ready: boolean): UseQueryResult<StudyForecast> {
	const asked = useDebounced(ready ? study(form) : undefined, 300);
	return useQuery({
		queryKey: ["forecast", asked],
		queryFn: ({ signal }) => call("PreviewStudy", { body: asked as StudyStart }, signal),
		enabled: asked !== undefined,
		retry: false,
		staleTime: 30_000,
	});
}

/** Whether the study can run, how many points it has, and the price. */
function Forecast({ of: forecast, ready, chosen }: { of: UseQueryResult<StudyForecast>; ready: boolean; chosen: boolean }) {
	return (
		<section aria-label="Forecast" aria-live="polite">
			<h2>Forecast</h2>
			{!ready ? (
				chosen ? (
					<Loading of="the configuration" />
				) : (
					<p>Choose a configuration first.</p>
				)
			) : forecast.error ? (
				<Failure of="This study cannot run" error={forecast.error} />
			) : !forecast.data ? (
				<Loading of="the forecast" />
			) : (
				<Facts
					of={[
						["Points", count(forecast.data.points)],
						["Runs of their own", count(forecast.data.runs)],
						["With the result of an equal run", count(forecast.data.shared)],
						["Time of the runs together", forecast.data.runSeconds === undefined ? "not known: no run of as many ranks has completed" : lasting(forecast.data.runSeconds)],
						["Cost at today's rates", forecast.data.cost === undefined ? "not known" : <Amount key="cost" of={forecast.data.cost} unit={forecast.data.currency} />],
						["Held while they run, at most", <Amount key="held" of={forecast.data.mostHeld} unit={forecast.data.currency} />],
					]}
				/>
			)}
		</section>
	);
}
