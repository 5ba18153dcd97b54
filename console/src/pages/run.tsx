import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { call } from "../api/client";
import type { Simulation } from "../api/contract";
import { lasting } from "../lib/clock";
import { runsElsewhere, streamElsewhere } from "../lib/elsewhere";
import { final } from "../lib/filters";
import { liveWords, useLive } from "../lib/live";
import { current } from "../lib/reload";
import { studied } from "../lib/study";
import { formOf } from "../lib/submission";
import { inUnits } from "../lib/units";
import { runRoute } from "../router";
import { Cost } from "../run/cost";
import { Progress } from "../run/progress";
import { Result } from "../run/result";
import { ConfigurationLink } from "../ui/configurationLink";
import { shown } from "../ui/curl";
import { Facts, Failure, Loading, Name, Page, Shown, StatusMark, Time, useTicks } from "../ui/parts";

const views = {
	timeline: { text: "Timeline", View: lazy(current(() => import("../run/timeline").then(({ Timeline }) => ({ default: Timeline })))) },
	fabric: { text: "Fabric", View: lazy(current(() => import("../run/fabric").then(({ Fabric }) => ({ default: Fabric })))) },
	path: { text: "Critical path", View: lazy(current(() => import("../run/critical").then(({ Critical }) => ({ default: Critical })))) },
	files: { text: "Files", View: lazy(current(() => import("../run/files").then(({ Files }) => ({ default: Files })))) },
	logs: { text: "Logs", View: lazy(current(() => import("../run/logs").then(({ Logs }) => ({ default: Logs })))) },
};

export function Run() {
	const { id } = runRoute.useParams();
	const { view } = runRoute.useSearch();
	const run = useQuery({ queryKey: ["simulation", id], queryFn: ({ signal }) => call("GetSimulation", { path: { sim_id: id } }, signal) });
	const chosen = view && view in views ? views[view as keyof typeof views] : undefined;
	return (
		<Page
			title={run.data?.name ?? "Simulation"}
			actions={run.data && <Actions run={run.data} />}
			calls={[
				shown("GetSimulation", { path: { sim_id: id } }),
				shown("FollowSimulation", { path: { sim_id: id } }, "Its progress as it happens."),
				shown("GetResults", { path: { sim_id: id } }),
				...(view === "logs" ? [shown("GetLogs", { path: { sim_id: id } })] : []),
				...(view === "path" ? [shown("GetResultData", { path: { sim_id: id }, query: { metric: "critical-path" } })] : []),
				...(view === "timeline" ? [shown("GetResultData", { path: { sim_id: id }, query: { metric: "timeline", mode: "perfetto" } }, "For ui.perfetto.dev.")] : []),
			]}
			elsewhere={{ ...streamElsewhere(id), ...runsElsewhere([id]) }}
		>
			<Shown of="the simulation" query={run}>
				{(simulation) => (
					<>
						<Status run={simulation} />
						<nav className="tabs" aria-label="Views of the simulation">
							<Link to="/simulations/$id" params={{ id }} search={{}} activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}>
								Result
							</Link>
							{Object.entries(views).map(([name, { text }]) => (
								<Link key={name} to="/simulations/$id" params={{ id }} search={{ view: name }} activeOptions={{ includeSearch: true }}>
									{text}
								</Link>
							))}
						</nav>
						<Suspense fallback={<Loading of="the view" />}>{chosen ? <chosen.View run={simulation} /> : <Overview run={simulation} />}</Suspense>
					</>
				)}
			</Shown>
		</Page>
	);
}

function Overview({ run }: { run: Simulation }) {
	const mapping = run.appliedMappingFile;
	return (
		<>
			{final.has(run.status) ? <Result run={run} /> : run.progress ? <Progress of={run.progress} /> : <p>It has not begun to compute yet. This page shows its progress as it happens.</p>}
			<Cost run={run} />
			<Next run={run} />
			<Facts
				ids
				of={[
					["Simulation", <code key="id">{run.id}</code>],
					[
						"Configuration",
						<span key="id">
							<ConfigurationLink id={run.configurationId} />, version {run.configurationVersion}
						</span>,
					],
					[
						"Mapping file",
						mapping ? (
							mapping.deleted ? (
								`${mapping.name}, deleted`
							) : (
								<Link key="mapping" to="/mapping-files/$id" params={{ id: mapping.id }}>
									<Name>{mapping.name}</Name>
								</Link>
							)
						) : (
							"none: ranks are placed in order"
						),
					],
				]}
			/>
			<Facts
				of={[
					["Created", <Time key="created" at={run.createdAt} whole />],
					["Started", run.startedAt ? <Time key="started" at={run.startedAt} whole /> : "not yet"],
					["Ended", run.completedAt ? <Time key="ended" at={run.completedAt} whole /> : "not yet"],
				]}
			/>
		</>
	);
}

/** The way from a result to the next run: a simple submission to be changed, or else its configuration. */
function Next({ run }: { run: Simulation }) {
	const first = useQuery({
		queryKey: ["stream", run.id, "first"],
		queryFn: ({ signal }) => call("GetStream", { path: { stream_id: run.id }, query: { limit: 1 } }, signal),
		staleTime: Number.POSITIVE_INFINITY,
		retry: false,
	});
	if (first.isPending) return null;
	const { simple } = (first.data?.facts[0]?.data ?? {}) as { simple?: string };
	const form = simple && formOf(simple, run.name);
	return (
		<p className="actions">
			{form ? (
				<>
					<Link to="/simulations/new" search={form} className="button">
						Run again, changed
					</Link>
					<Link to="/studies/new" search={studied(form)} className="button">
						Vary it in a study
					</Link>
				</>
			) : (
				<>
					<Link to="/configurations/$id" params={{ id: run.configurationId }} search={{ view: "run" }} className="button">
						Run again, changed
					</Link>
					<Link to="/studies/new" search={{ configuration: run.configurationId, version: String(run.configurationVersion), study: run.name.slice(0, 200) }} className="button">
						Vary it in a study
					</Link>
				</>
			)}
		</p>
	);
}

/** The status, which follows the run's events while it is not final. */
function Status({ run }: { run: Simulation }) {
	const client = useQueryClient();
	const following = !final.has(run.status);
	const live = useLive("FollowSimulation", { path: { sim_id: run.id } }, following, ({ data }) => {
		const { status, progress } = JSON.parse(data);
		if (final.has(status)) {
			client.invalidateQueries({ queryKey: ["simulation", run.id] });
			client.invalidateQueries({ queryKey: ["results", run.id] });
			client.invalidateQueries({ queryKey: ["simulations"] });
		}
		client.setQueryData<Simulation>(["simulation", run.id], (old) => old && { ...old, status, ...(progress && { progress }) });
	});
	const now = useTicks(1000, following);
	const since = run.startedAt ? (Date.parse(run.completedAt ?? new Date(now || 0).toISOString()) - Date.parse(run.startedAt)) / 1000 : undefined;
	return (
		<div aria-live="polite">
			<p className="headline">
				<StatusMark value={run.status} /> {following && <span className={`live ${live.state}`}>{liveWords[live.state]}</span>} <Time at={run.createdAt} />
				{since !== undefined && since >= 0 && ` · ${following ? "running for" : "ran for"} ${lasting(following ? Math.floor(since) : since)} of wall-clock time`}
				{run.metrics && ` · ${inUnits(run.metrics.simulatedTime)} simulated`}
			</p>
			{run.failureReason && (
				<section className="failure">
					<p>
						<strong>It did not complete:</strong> <bdi>{run.failureReason}</bdi>
					</p>
					<p>
						<Link to="/simulations/$id" params={{ id: run.id }} search={{ view: "logs" }}>
							Its log
						</Link>{" "}
						says what happened before. Correct the cause and run it again.
					</p>
				</section>
			)}
		</div>
	);
}

function Actions({ run }: { run: Simulation }) {
	const client = useQueryClient();
	const navigate = useNavigate();
	const terminate = useMutation({
		mutationFn: () => call("TerminateSimulation", { path: { sim_id: run.id } }),
		onSettled: () => client.invalidateQueries({ queryKey: ["simulation", run.id] }),
	});
	const remove = useMutation({
		mutationFn: () => call("DeleteSimulation", { path: { sim_id: run.id } }),
		onSuccess: async () => {
			await navigate({ to: "/simulations" });
			client.removeQueries({ queryKey: ["simulation", run.id] });
			client.invalidateQueries({ queryKey: ["simulations"] });
		},
	});
	const error = terminate.error ?? remove.error;
	return (
		<>
			<Link className="button" to="/simulations" search={{ selected: run.id }}>
				Compare with …
			</Link>
			<Link className="button" to="/streams/$id" params={{ id: run.id }}>
				What happened
			</Link>
			{run.status === "running" && (
				<button type="button" onClick={() => terminate.mutate()} disabled={terminate.isPending}>
					Stop
				</button>
			)}
			{run.status !== "running" && (
				<button type="button" onClick={() => confirm(`Delete ${run.name} with its results and logs?`) && remove.mutate()} disabled={remove.isPending}>
					{final.has(run.status) ? "Delete" : "Cancel"}
				</button>
			)}
			{error && <Failure of="It was refused" error={error} />}
		</>
	);
}
