import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { call } from "../api/client";
import { type Filters, query } from "../lib/filters";
import { count } from "../lib/units";
import { studiesRoute } from "../router";
import { shown } from "../ui/curl";
import { SearchNames, Statuses } from "../ui/filters";
import { VirtualList } from "../ui/list";
import { Name, Page, Shown, StatusMark, Time } from "../ui/parts";

export function Studies() {
	const filters = studiesRoute.useSearch();
	const navigate = useNavigate({ from: "/studies" });
	const { sort: _sort, ...asked } = query(filters);
	const list = useInfiniteQuery({
		queryKey: ["studies", asked],
		queryFn: ({ pageParam, signal }) => call("ListStudies", { query: { ...asked, cursor: pageParam, limit: 100 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		refetchInterval: 10_000,
	});
	const set = (change: Filters) => navigate({ search: (old) => ({ ...old, ...change }), replace: true });
	return (
		<Page
			title="Studies"
			calls={[shown("ListStudies", { query: { ...asked, limit: 100 } })]}
			actions={
				<Link to="/studies/new" className="button main">
					New study
				</Link>
			}
		>
			<search className="filters">
				<SearchNames value={filters.search} set={(search) => set({ search })} most={255} />
				<Statuses of={["running", "completed", "terminated"]} value={filters.status} set={(status) => set({ status })} />
			</search>
			<Shown of="the studies" query={list}>
				{(data) => {
					const rows = data.pages.flatMap((page) => page.studies);
					return rows.length === 0 ? (
						<p>
							{filters.search || filters.status ? (
								"No study matches these filters."
							) : (
								<>
									There are no studies yet. A study runs many variants of one simulation and finds those that are worth their price. <Link to="/studies/new">Start the first.</Link>
								</>
							)}
						</p>
					) : (
						<VirtualList
							label="Studies"
							columns={["Name", "Status", "Points", "Created"]}
							rows={rows}
							id={(row) => row.id}
							cells={(row) => [
								<Link key="name" to="/studies/$id" params={{ id: row.id }}>
									<Name>{row.name}</Name>
								</Link>,
								<StatusMark key="status" value={row.status} />,
								count(row.points),
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
