import { useQuery } from "@tanstack/react-query";
import { call } from "../api/client";
import { type Axis, valuesOf } from "../lib/study";
import { Choice } from "../ui/filters";
import { Failure } from "../ui/parts";

/** What an id of an axis can be. The first hundred are offered. */
type Listed = { items: { id: string; name: string }[]; more: boolean };

const lists: Record<string, { one: string; list: (workspaceId: string | undefined, signal: AbortSignal) => Promise<Listed> }> = {
	templateId: {
		one: "template",
		list: async (_workspace, signal) => {
			const { templates, pagination } = await call("ListTemplates", { query: { limit: 100 } }, signal);
			return { items: templates, more: pagination.hasMore };
		},
	},
	tracesetId: {
		one: "traceset",
		list: async (workspaceId, signal) => {
			const { items, pagination } = await call("ListTracesets", { query: { workspaceId, status: "ready", limit: 100 } }, signal);
			return { items, more: pagination.hasMore };
		},
	},
	mappingFileId: {
		one: "mapping file",
		list: async (workspaceId, signal) => {
			const { items, pagination } = await call("ListMappingFiles", { query: { workspaceId, limit: 100 } }, signal);
			return { items, more: pagination.hasMore };
		},
	},
};

function useListed(field: string, workspace: string | undefined) {
	return useQuery({
		queryKey: ["ids", field, workspace],
		queryFn: ({ signal }) => lists[field]?.list(workspace, signal) ?? { items: [], more: false },
		enabled: field in lists,
		staleTime: 30_000,
	});
}

/** The names of what an axis over ids can have, by their ids. Of other fields there are none. */
export function useNames(field: string, workspace: string | undefined): Map<string, string> {
	return new Map(useListed(field, workspace).data?.items.map(({ id, name }) => [id, name]));
}

/** The values of an axis with another one behind them. */
export function withValue({ field, values }: Axis, value: string): Axis {
	const before = values.trim().replace(/,$/, "");
	return { field, values: before ? `${before}, ${value}` : value };
}

/** Adds to the values of an axis over ids, by names. Other axes have no such choice. */
export function Choices({ axis, workspace, set }: { axis: Axis; workspace: string | undefined; set: (axis: Axis) => void }) {
	const listed = useListed(axis.field, workspace);
	const of = lists[axis.field];
	if (!of) return null;
	if (listed.error) return <Failure of={`The ${of.one}s cannot be listed`} error={listed.error} retry={listed.refetch} />;
	const taken = new Set(valuesOf(axis).map(String));
	const free = listed.data?.items.filter(({ id }) => !taken.has(id)) ?? [];
	const nothing = axis.field === "templateId" || taken.has("null") ? [] : [["null", `no ${of.one}`]];
	const first = !listed.data ? "loading …" : free.length + nothing.length === 0 ? "there are no others" : "choose one";
	return (
		<>
			<Choice name={`Add a ${of.one}`} value="" values={[["", first], ...nothing, ...free.map(({ id, name }) => [id, name])]} set={(value) => value && set(withValue(axis, value))} />
			{listed.data?.more && <span className="quiet">These are the first hundred. Write the ids of others among the values.</span>}
		</>
	);
}
