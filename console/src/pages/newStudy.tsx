import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { call } from "../api/client";
import { measured } from "../lib/clock";
import { useDebounced } from "../lib/debounced";
import { fieldLabel, offered } from "../lib/fields";
import { type Axis, mostReplicates, readAxes, type StudyForm, study, valuesOf, writeAxes } from "../lib/study";
import { type Form, readPhases } from "../lib/submission";
import { count } from "../lib/units";
import { newStudyRoute } from "../router";
import { inputWords } from "../study/heat";
import { shown } from "../ui/curl";
import { Choice } from "../ui/filters";
import { Amount, Facts, Failure, Loading, Page } from "../ui/parts";
import { SimpleFields } from "../ui/simple";

/** The form of a study. It stands in the address, so a link is a prepared study. */
export function NewStudy() {
	const form = newStudyRoute.useSearch();
	const navigate = useNavigate({ from: "/studies/new" });
	const set = (change: StudyForm) => navigate({ search: (old: StudyForm) => ({ ...old, ...change }), replace: true });
	const client = useQueryClient();
	const asked = study(form);
	const start = useMutation({
		mutationFn: () => call("StartStudy", { body: asked }),
		onSuccess: ({ id }) => {
			client.invalidateQueries({ queryKey: ["studies"] });
			navigate({ to: "/studies/$id", params: { id } });
		},
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		start.mutate();
	};
	return (
		<Page title="New study" calls={[shown("PreviewStudy", { body: asked }, "Validates, and forecasts."), shown("StartStudy", { body: asked }, "Starts it.")]}>
			<p>Each combination of the axes' values is a point, and each point a simulation of its own. Points whose results are known cost nothing.</p>
			<form onSubmit={submit}>
				<div className="two even">
					<div className="fields">
						<label>
							Name
							<input value={form.study ?? ""} onChange={(event) => set({ study: event.target.value })} maxLength={200} placeholder="study" />
						</label>
						<Axes axes={readAxes(form.axes)} offered={offered(readPhases(form.phases).length)} set={(axes) => set({ axes: writeAxes(axes) })} />
						<label>
							Replicates of each point
							<input type="number" min={1} max={mostReplicates} value={form.replicates ?? "1"} onChange={(event) => set({ replicates: event.target.value })} />
							<span className="quiet">Each runs with another seed; the median counts.</span>
						</label>
						<label className="check">
							<input type="checkbox" checked={form.stop === "true"} onChange={(event) => set({ stop: event.target.checked ? "true" : "" })} />
							Stop runs whose point is dominated
						</label>
					</div>
					<div className="fields">
						<fieldset className="phase">
							<legend>The base, which the axes vary</legend>
							<SimpleFields form={form} set={(change: Form) => set(change)} />
						</fieldset>
					</div>
				</div>
				<Forecast form={form} />
				<button type="submit" className="main" disabled={start.isPending}>
					{start.isPending ? "Starting …" : "Start the study"}
				</button>
				{start.error && <Failure of="It was not started" error={start.error} />}
			</form>
		</Page>
	);
}

function Axes({ axes, offered, set }: { axes: Axis[]; offered: Record<string, string>; set: (axes: Axis[]) => void }) {
	const change = (at: number, axis: Axis) => set(axes.map((old, index) => (index === at ? axis : old)));
	const next = Object.keys(offered).find((field) => !axes.some((axis) => axis.field === field)) ?? "workload.ranks";
	return (
		<>
			{axes.map((axis, at) => {
				const values = valuesOf(axis);
				return (
					<fieldset key={at} className="phase">
						<legend>Axis {at + 1}</legend>
						<Choice
							name="Field"
							value={axis.field in offered ? axis.field : ""}
							values={[...Object.keys(offered).map((field) => [field, fieldLabel(field)]), ["", "another field, by its path"]]}
							set={(field) => change(at, { field, values: offered[field] ?? "" })}
						/>
						{!(axis.field in offered) && (
							<label>
								Path of the field
								<input
									value={axis.field}
									maxLength={255}
									placeholder="such as groups[0].ranks"
									onChange={({ target: { value } }) => change(at, { ...axis, field: value })}
									aria-invalid={axis.field === ""}
								/>
							</label>
						)}
						<label>
							Values, with commas between
							<input value={axis.values} onChange={(event) => change(at, { ...axis, values: event.target.value })} aria-invalid={values.length === 0} />
							<span className="quiet">{values.length === 0 ? "An axis needs a value." : `${count(values.length)}: ${values.map((value) => inputWords(axis.field, value)).join(", ")}`}</span>
						</label>
						{axes.length > 1 && (
							<button type="button" onClick={() => set(axes.filter((_axis, index) => index !== at))}>
								Remove axis {at + 1}
							</button>
						)}
					</fieldset>
				);
			})}
			<button type="button" onClick={() => set([...axes, { field: next, values: offered[next] ?? "" }])}>
				Add an axis
			</button>
		</>
	);
}

/** What the service says of the study before it is started: whether it can run, how many points, and the price. */
function Forecast({ form }: { form: StudyForm }) {
	const asked = useDebounced(study(form), 300);
	const forecast = useQuery({
		queryKey: ["forecast", asked],
		queryFn: ({ signal }) => call("PreviewStudy", { body: asked }, signal),
		retry: false,
		staleTime: 30_000,
	});
	return (
		<section aria-label="Forecast" aria-live="polite">
			<h2>Forecast</h2>
			{forecast.error ? (
				<Failure of="This study cannot run" error={forecast.error} />
			) : !forecast.data ? (
				<Loading of="the forecast" />
			) : (
				<Facts
					of={[
						["Points", count(forecast.data.points)],
						["Runs of their own", count(forecast.data.runs)],
						["With the result of an equal run", count(forecast.data.shared)],
						["Time of the runs together", forecast.data.runSeconds === undefined ? "not known: no run of as many ranks has completed" : measured(forecast.data.runSeconds)],
						["Cost at today's rates", forecast.data.cost === undefined ? "not known" : <Amount key="cost" of={forecast.data.cost} unit={forecast.data.currency} />],
						["Held while they run, at most", <Amount key="held" of={forecast.data.mostHeld} unit={forecast.data.currency} />],
					]}
				/>
			)}
		</section>
	);
}
