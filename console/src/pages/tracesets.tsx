import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { call } from "../api/client";
import { type TracesetFilters, tracesetStatuses } from "../lib/inputs";
import { count } from "../lib/units";
import { tracesetsRoute } from "../router";
import { shown } from "../ui/curl";
import { Statuses } from "../ui/filters";
import { InputTabs } from "../ui/inputs";
import { VirtualList } from "../ui/list";
import { Name, Page, Shown, StatusMark, Time } from "../ui/parts";
import { NoWorkspace, WorkspaceChoice } from "../ui/workspaces";

export function Tracesets() {
	const filters = tracesetsRoute.useSearch();
	const navigate = useNavigate({ from: "/tracesets" });
	const set = (change: TracesetFilters) => navigate({ search: (old: TracesetFilters) => ({ ...old, ...change }), replace: true });
	const list = useInfiniteQuery({
		queryKey: ["tracesets", filters],
		queryFn: ({ pageParam, signal }) => call("ListTracesets", { query: { ...filters, cursor: pageParam, limit: 100 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		placeholderData: keepPreviousData,
	});
	return (
		<Page
			title="Tracesets"
			calls={[shown("ListTracesets", { query: { ...filters, limit: 100 } })]}
			actions={
				<Link to="/upload" search={{ kind: "traceset" }} className="button main">
					Upload a traceset
				</Link>
			}
		>
			<InputTabs of="files" />
			<NoWorkspace />
			<search className="filters">
				<WorkspaceChoice value={filters.workspaceId} set={(workspaceId) => set({ workspaceId })} none="all" />
				<Statuses of={tracesetStatuses} value={filters.status} set={(status) => set({ status })} />
			</search>
			<p className="quiet">The workloads of simple submissions are among them, and tracesets that were promoted to your account or to everyone.</p>
			<Shown of="the tracesets" query={list}>
				{(data) => {
					const rows = data.pages.flatMap((page) => page.items);
					return rows.length === 0 ? (
						<p>
							{Object.keys(filters).length > 0 ? "No traceset matches these filters. " : "There are no tracesets yet. "}
							<button type="button" onClick={() => navigate({ search: {} })}>
								Show all
							</button>
						</p>
					) : (
						<VirtualList
							label="Tracesets"
							columns={["Name", "Status", "Files", "Created"]}
							rows={rows}
							id={(row) => row.id}
							cells={(row) => [
								<Link key="name" to="/tracesets/$id" params={{ id: row.id }}>
									<Name>{row.name}</Name>
								</Link>,
								<StatusMark key="status" value={row.status} />,
								count(row.fileCount),
								<Time key="created" at={row.createdAt} />,
							]}
							pages={list}
						/>
					);
				}}
			</Shown>
		</Page>
	);
}
