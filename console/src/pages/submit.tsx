import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { call } from "../api/client";
import { lasting } from "../lib/clock";
import { useDebounced } from "../lib/debounced";
import { studied } from "../lib/study";
import { type Form, submission } from "../lib/submission";
import { count } from "../lib/units";
import { submitRoute } from "../router";
import { shown } from "../ui/curl";
import { Amount, Facts, Failure, Loading, Page } from "../ui/parts";
import { SimpleFields } from "../ui/simple";
import { Sketch } from "../ui/sketch";

/** The simple form. It stands in the address, so a link is a prepared submission. */
export function Submit() {
	const form = submitRoute.useSearch();
	const navigate = useNavigate({ from: "/simulations/new" });
	const set = (change: Form) => navigate({ search: (old: Form) => ({ ...old, ...change }), replace: true });
	const client = useQueryClient();
	const asked = submission(form);
	const start = useMutation({
		mutationFn: () => call("SubmitSimple", { body: asked }),
		onSuccess: (accepted) => {
			client.invalidateQueries({ queryKey: ["simulations"] });
			navigate({ to: "/simulations/$id", params: { id: accepted.simulationId } });
		},
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		start.mutate();
	};
	return (
		<Page title="New simulation" calls={[shown("PreviewSimple", { body: asked }, "Validates, and shows the fabric."), shown("SubmitSimple", { body: asked }, "Runs it.")]}>
			<div className="two">
				<form onSubmit={submit}>
					<label>
						Name
						<input value={form.name ?? ""} onChange={(event) => set({ name: event.target.value })} maxLength={255} placeholder="made from the first operation" />
					</label>
					<SimpleFields form={form} set={set} />
					<button type="submit" className="main" disabled={start.isPending}>
						{start.isPending ? "Starting …" : "Run"}
					</button>
					{start.error && <Failure of="It was not started" error={start.error} />}
					<Link to="/studies/new" search={studied(form)}>
						Vary it in a study
					</Link>
				</form>
				<Preview form={form} />
			</div>
		</Page>
	);
}

function Preview({ form }: { form: Form }) {
	const { name: _name, ...rest } = form;
	const asked = useDebounced(submission(rest), 250);
	const preview = useQuery({
		queryKey: ["preview", asked],
		queryFn: ({ signal }) => call("PreviewSimple", { body: asked }, signal),
		placeholderData: keepPreviousData,
		retry: false,
		staleTime: 60_000,
	});
	const topology = preview.data?.topology;
	return (
		<section aria-label="Preview" aria-live="polite">
			<h2>The fabric</h2>
			{preview.error && <Failure of="This cannot run" error={preview.error} />}
			{!topology && !preview.error && <Loading of="the fabric" />}
			{topology && !preview.error && (
				<>
					<Sketch topology={topology} />
					<Facts
						of={[
							["Ranks in a host", count(topology.ranksPerHost)],
							["Ranks in a rack", count(topology.ranksPerRack)],
							["NIC", `${count(topology.resolvedConstraints.effectiveNicSpeed)} Gbit/s`],
							["Switch", `${topology.resolvedConstraints.switchRadix}, ${topology.resolvedConstraints.subscriptionRatio}`],
						]}
					/>
					{!preview.isPlaceholderData && <Forecast asked={asked} />}
				</>
			)}
		</section>
	);
}

/** What the run is expected to take and cost: the forecast of a study of one point. */
function Forecast({ asked }: { asked: ReturnType<typeof submission> }) {
	const forecast = useQuery({
		queryKey: ["forecast", asked],
		queryFn: ({ signal }) => call("PreviewStudy", { body: { name: "forecast", base: { simple: asked }, axes: [{ field: "workload.ranks", values: [asked.workload?.ranks] }] } }, signal),
		retry: false,
		staleTime: 60_000,
	});
	if (!forecast.data) return <p className="quiet">{forecast.error ? "There is no forecast of its time and cost now." : "Loading the forecast …"}</p>;
	const { runSeconds, cost, currency, mostHeld, runs } = forecast.data;
	// The forecast of a study leaves out what has been computed; a simulation computes it again.
	if (runs === 0) return <p>An equal run has completed, so its result is known already. What another one takes is not forecast.</p>;
	return (
		<>
			<h2>Forecast</h2>
			<Facts
				of={[
					["Runs of as many ranks took", runSeconds === undefined ? "not known: none has completed" : `${lasting(runSeconds)} of wall-clock time on average`],
					["Cost at today's rates", cost === undefined ? "not known" : <Amount key="cost" of={cost} unit={currency} />],
					["Held while it runs, at most", <Amount key="held" of={mostHeld} unit={currency} />],
				]}
			/>
			<p className="quiet">
				What is held is the price of an hour; what the run does not use is free again when it ends. <Link to="/bills">The rates</Link> say what the price is made of.
			</p>
		</>
	);
}
