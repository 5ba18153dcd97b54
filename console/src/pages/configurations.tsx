import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { call } from "../api/client";
import { instant } from "../lib/filters";
import { type ConfigurationFilters, configurationStatuses } from "../lib/inputs";
import { count } from "../lib/units";
import { configurationsRoute } from "../router";
import { shown } from "../ui/curl";
import { SearchNames, Statuses } from "../ui/filters";
import { InputTabs } from "../ui/inputs";
import { VirtualList } from "../ui/list";
import { Name, Page, Shown, StatusMark, Time } from "../ui/parts";
import { NoWorkspace, WorkspaceChoice } from "../ui/workspaces";

export function Configurations() {
	const filters = configurationsRoute.useSearch();
	const navigate = useNavigate({ from: "/configurations" });
	const set = (change: ConfigurationFilters) => navigate({ search: (old: ConfigurationFilters) => ({ ...old, ...change }), replace: true });
	const asked = { ...filters, createdAfter: instant(filters.createdAfter), createdBefore: instant(filters.createdBefore) };
	const list = useInfiniteQuery({
		queryKey: ["configurations", asked],
		queryFn: ({ pageParam, signal }) => call("ListConfigurations", { query: { ...asked, cursor: pageParam, limit: 100 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		placeholderData: keepPreviousData,
	});
	return (
		<Page
			title="Configurations"
			calls={[shown("ListConfigurations", { query: { ...asked, limit: 100 } })]}
			actions={
				<Link to="/templates" className="button main">
					New from a template
				</Link>
			}
		>
			<InputTabs of="configurations" />
			<NoWorkspace />
			<search className="filters">
				<SearchNames value={filters.search} set={(search) => set({ search })} most={100} />
				<WorkspaceChoice value={filters.workspaceId} set={(workspaceId) => set({ workspaceId })} none="all" />
				<label>
					Created from
					<input type="date" value={filters.createdAfter ?? ""} onChange={(event) => set({ createdAfter: event.target.value })} />
				</label>
				<label>
					and before
					<input type="date" value={filters.createdBefore ?? ""} onChange={(event) => set({ createdBefore: event.target.value })} />
				</label>
				<Statuses of={configurationStatuses} value={filters.status} set={(status) => set({ status })} />
			</search>
			<Shown of="the configurations" query={list}>
				{(data) => {
					const rows = data.pages.flatMap((page) => page.configurations);
					if (rows.length === 0) {
						return Object.keys(filters).length > 0 ? (
							<p>
								No configuration matches these filters.{" "}
								<button type="button" onClick={() => navigate({ search: {} })}>
									Show all
								</button>
							</p>
						) : (
							<p>
								There are no configurations yet. <Link to="/templates">A template</Link> is the shortest way to the first one.
							</p>
						);
					}
					return (
						<VirtualList
							label="Configurations"
							columns={["Name", "Status", "Version", "Modified"]}
							rows={rows}
							id={(row) => row.id}
							cells={(row) => [
								<Link key="name" to="/configurations/$id" params={{ id: row.id }}>
									<Name>{row.name}</Name>
								</Link>,
								<StatusMark key="status" value={row.status} />,
								count(row.version),
								<Time key="modified" at={row.modifiedAt} />,
							]}
							pages={list}
						/>
					);
				}}
			</Shown>
		</Page>
	);
}
