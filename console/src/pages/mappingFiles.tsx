import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { call } from "../api/client";
import { bytes, count } from "../lib/units";
import { mappingFilesRoute } from "../router";
import { shown } from "../ui/curl";
import { InputTabs } from "../ui/inputs";
import { VirtualList } from "../ui/list";
import { Loading, Name, Page, Shown, Time } from "../ui/parts";
import { NoWorkspace, useWorkspaces, WorkspaceChoice } from "../ui/workspaces";

/** The mapping files of one workspace: the API has no list over all of them. */
export function MappingFiles() {
	const { workspaceId: asked } = mappingFilesRoute.useSearch();
	const navigate = useNavigate({ from: "/mapping-files" });
	const workspaces = useWorkspaces();
	// Configurations that name no workspace are in the default one, so their files are too.
	const first = workspaces.data?.workspaces.find((one) => one.name === "default") ?? workspaces.data?.workspaces[0];
	const workspaceId = asked ?? first?.id ?? "";
	const list = useInfiniteQuery({
		queryKey: ["mapping-files", workspaceId],
		queryFn: ({ pageParam, signal }) => call("ListMappingFiles", { query: { workspaceId, cursor: pageParam, limit: 100 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		enabled: workspaceId !== "",
	});
	return (
		<Page
			title="Mapping files"
			calls={workspaceId ? [shown("ListMappingFiles", { query: { workspaceId, limit: 100 } })] : [shown("ListWorkspaces", {})]}
			actions={
				<Link to="/upload" search={{ kind: "mapping-file", ...(workspaceId && { workspaceId }) }} className="button main">
					Upload a mapping file
				</Link>
			}
		>
			<InputTabs of="files" />
			<NoWorkspace />
			<search className="filters">
				<WorkspaceChoice value={workspaceId} set={(id) => navigate({ search: id ? { workspaceId: id } : {}, replace: true })} />
			</search>
			{!workspaceId ? (
				workspaces.isPending ? (
					<Loading of="the workspaces" />
				) : (
					<p>{workspaces.error ? `The workspaces cannot be listed: ${workspaces.error.message}.` : "There is no workspace whose mapping files could be listed."}</p>
				)
			) : (
				<Shown of="the mapping files" query={list}>
					{(data) => {
						const rows = data.pages.flatMap((page) => page.items);
						return rows.length === 0 ? (
							<p>This workspace has no mapping files. One says on which server each rank of a traceset runs; without it ranks are placed in order.</p>
						) : (
							<VirtualList
								label="Mapping files"
								columns={["Name", "Ranks", "Size", "Created"]}
								rows={rows}
								id={(row) => row.id}
								cells={(row) => [
									<Link key="name" to="/mapping-files/$id" params={{ id: row.id }}>
										<Name>{row.name}</Name>
									</Link>,
									count(row.rankCount),
									bytes(row.sizeBytes),
									<Time key="created" at={row.createdAt} />,
								]}
								pages={list}
							/>
						);
					}}
				</Shown>
			)}
		</Page>
	);
}
