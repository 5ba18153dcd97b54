import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { call } from "../api/client";
import type { Simulation } from "../api/contract";
import { lasting, measured } from "../lib/clock";
import { final } from "../lib/filters";
import { liveWords, useLive } from "../lib/live";
import { current } from "../lib/reload";
import { inUnits } from "../lib/units";
import { runRoute } from "../router";
import { Cost } from "../run/cost";
import { Progress } from "../run/progress";
import { Result } from "../run/result";
import { shown } from "../ui/curl";
import { Facts, Failure, Loading, Page, Shown, StatusMark, Time, useTicks } from "../ui/parts";

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
	return (
		<>
			{final.has(run.status) ? <Result run={run} /> : run.progress ? <Progress of={run.progress} /> : <p>It has not begun to compute yet. This page shows its progress as it happens.</p>}
			<Cost run={run} />
			<Facts
				ids
				of={[
					["Simulation", <code key="id">{run.id}</code>],
					["Configuration", <code key="id">{`${run.configurationId}, version ${run.configurationVersion}`}</code>],
				]}
			/>
			<Facts
				of={[
					["Created", run.createdAt],
					["Started", run.startedAt ?? "not yet"],
					["Ended", run.completedAt ?? "not yet"],
				]}
			/>
		</>
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
				{since !== undefined && since >= 0 && ` · ${following ? "running for" : "ran for"} ${(following ? lasting : measured)(since)} of wall-clock time`}
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
