import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { call } from "../api/client";
import type { LogLevel, Simulation } from "../api/contract";
import { final } from "../lib/filters";
import { runRoute } from "../router";
import { Shown } from "../ui/parts";

const levels = ["debug", "info", "warn", "error"];

export function Logs({ run }: { run: Simulation }) {
	const { level, component } = runRoute.useSearch();
	const navigate = useNavigate({ from: "/simulations/$id" });
	const set = (change: { level?: string; component?: string }) => navigate({ search: (old) => ({ ...old, ...change }), replace: true });
	const logs = useInfiniteQuery({
		queryKey: ["logs", run.id, level, component],
		queryFn: ({ pageParam, signal }) => call("GetLogs", { path: { sim_id: run.id }, query: { level: level as LogLevel | undefined, component, limit: 100, cursor: pageParam } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		refetchInterval: final.has(run.status) ? false : 3000,
	});
	return (
		<section aria-label="Logs">
			<div className="filters">
				<label>
					At least
					<select value={level ?? "debug"} onChange={(event) => set({ level: event.target.value })}>
						{levels.map((one) => (
							<option key={one}>{one}</option>
						))}
					</select>
				</label>
				{component && (
					<button type="button" onClick={() => set({ component: "" })}>
						All components, not only {component}
					</button>
				)}
			</div>
			<Shown of="the log" query={logs}>
				{(data) => {
					const entries = data.pages.flatMap((page) => page.logs);
					return entries.length === 0 ? (
						<p>The log has no entry of this level{component && ` and of ${component}`}.</p>
					) : (
						<>
							<ol className="log">
								{entries.map((entry, index) => (
									<li key={index} className={entry.level}>
										<time dateTime={entry.timestamp}>{entry.timestamp.slice(11, 23)}</time> <span className="level">{entry.level}</span>{" "}
										<button type="button" className="link" onClick={() => set({ component: entry.component })}>
											{entry.component}
										</button>{" "}
										<bdi>{entry.message}</bdi>
									</li>
								))}
							</ol>
							{logs.hasNextPage && (
								<button type="button" onClick={() => logs.fetchNextPage()} disabled={logs.isFetchingNextPage}>
									More entries
								</button>
							)}
						</>
					);
				}}
			</Shown>
		</section>
	);
}
