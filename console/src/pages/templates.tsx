import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { call } from "../api/client";
import { categories, type TemplateFilters } from "../lib/inputs";
import { templatesRoute } from "../router";
import { shown } from "../ui/curl";
import { SearchNames } from "../ui/filters";
import { InputTabs } from "../ui/inputs";
import { VirtualList } from "../ui/list";
import { Name, Page, Shown } from "../ui/parts";

export function Templates() {
	const filters = templatesRoute.useSearch();
	const navigate = useNavigate({ from: "/templates" });
	const set = (change: { [K in keyof TemplateFilters]?: string | undefined }) => navigate({ search: (old) => ({ ...old, ...change }) as TemplateFilters, replace: true });
	const asked = filters as TemplateFilters & { category?: (typeof categories)[number] };
	const list = useInfiniteQuery({
		queryKey: ["templates", filters],
		queryFn: ({ pageParam, signal }) => call("ListTemplates", { query: { ...asked, cursor: pageParam, limit: 100 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		placeholderData: keepPreviousData,
	});
	return (
		<Page title="Templates" calls={[shown("ListTemplates", { query: { ...asked, limit: 100 } })]}>
			<InputTabs of="configurations" />
			<search className="filters">
				<SearchNames value={filters.search} set={(search) => set({ search })} most={100} />
				<fieldset>
					<legend>Category</legend>
					{categories.map((category) => (
						<button key={category} type="button" className="chip" aria-pressed={filters.category === category} onClick={() => set({ category: filters.category === category ? undefined : category })}>
							{category}
						</button>
					))}
				</fieldset>
			</search>
			<Shown of="the templates" query={list}>
				{(data) => {
					const rows = data.pages.flatMap((page) => page.templates);
					return rows.length === 0 ? (
						<p>
							No template matches these filters.{" "}
							<button type="button" onClick={() => navigate({ search: {} })}>
								Show all
							</button>
						</p>
					) : (
						<VirtualList
							label="Templates"
							columns={["Name", "Category", "Of"]}
							rows={rows}
							id={(row) => row.id}
							cells={(row) => [
								<span key="name">
									<Link to="/templates/$id" params={{ id: row.id }}>
										<Name>{row.name}</Name>
									</Link>
									<br />
									<span className="quiet">
										<Name>{row.description}</Name>
									</span>
								</span>,
								row.category,
								row.visibility === "account" ? "your account" : "everyone",
							]}
							pages={list}
						/>
					);
				}}
			</Shown>
		</Page>
	);
}
