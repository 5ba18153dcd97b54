import { listed, type Words, words } from "./search";

export const statuses = ["validating", "provisioning", "running", "completed", "failed", "terminated", "invalid"] as const;
export type Status = (typeof statuses)[number];

/** Statuses after which nothing follows. */
export const final: ReadonlySet<string> = new Set(["completed", "failed", "terminated", "invalid"]);

export const sorts = {
	"created:desc": "newest first",
	"created:asc": "oldest first",
	"name:asc": "by name",
	"started:desc": "last started first",
	"completed:desc": "last ended first",
} as const;

/** The filters of a list, as they stand in its address. What is the default is absent. */
export type Filters = {
	status?: string;
	search?: string;
	sort?: string;
	workspaceId?: string;
	createdAfter?: string;
	createdBefore?: string;
	selected?: string;
};

/** Reads filters from an address. Unknown values are left out, so that an old link still works. */
export function readFilters(search: Words): Filters {
	const status = listed(words(search, "status").status, statuses).join(",");
	const sort = words(search, "sort").sort;
	return {
		...(status && { status }),
		...words(search, "search"),
		...(sort && sort in sorts && sort !== "created:desc" && { sort }),
		...words(search, "workspaceId"),
		...day(search, "createdAfter"),
		...day(search, "createdBefore"),
		...words(search, "selected"),
	};
}

/** The beginning of a day in UTC. */
export function instant(day: string | undefined): string | undefined {
	return day ? `${day}T00:00:00.000Z` : undefined;
}

/** The parameters of the API's operation for the filters. A day stands for its beginning in UTC. */
export function query(filters: Filters): Record<string, string | undefined> {
	return {
		status: filters.status,
		search: filters.search,
		sort: filters.sort,
		workspaceId: filters.workspaceId,
		createdAfter: instant(filters.createdAfter),
		createdBefore: instant(filters.createdBefore),
	};
}

/** A list with an item in it, or without it if it was. */
export function toggled(list: string | undefined, item: string): string | undefined {
	const items = new Set((list ?? "").split(",").filter(Boolean));
	if (!items.delete(item)) items.add(item);
	return [...items].join(",") || undefined;
}

export function day<Name extends string>(search: Words, name: Name): { [K in Name]?: string } {
	const value = words(search, name);
	return /^\d{4}-\d{2}-\d{2}$/.test(value[name] ?? "") ? value : {};
}
