import { type Filters, readFilters } from "./filters";

type Storage = Pick<globalThis.Storage, "getItem" | "setItem">;

/** Filters of a list under the name that a person gave them. What is selected is no part of them. */
export type Saved = { name: string; filters: Filters };

export const mostViews = 30;
export const longestName = 60;

/** Views belong to who saved them, also where people share a browser. */
export function slot(account: string, user: string): string {
	return `netsim.views.simulations.${account}.${user}`;
}

/** The views that were saved, in the order of their names. */
export function readViews(storage: Storage, slot: string): Saved[] {
	try {
		const saved: unknown = JSON.parse(storage.getItem(slot) ?? "[]");
		if (!Array.isArray(saved)) return [];
		return saved.flatMap((one) => (typeof one?.name === "string" && one.filters instanceof Object ? [{ name: one.name, filters: viewed(readFilters(one.filters)) }] : []));
	} catch {
		return []; // it is of another release
	}
}

/** Filters without what is selected, in one order, so that equal ones are the same text. */
export function viewed({ selected: _selected, ...filters }: Filters): Filters {
	return Object.fromEntries(Object.entries(filters).sort());
}

/** The views with one more, in place of the one of the same name. */
export function withView(views: Saved[], name: string, filters: Filters): Saved[] {
	const others = views.filter((one) => one.name !== name);
	return [...others, { name, filters: viewed(filters) }].sort((a, b) => a.name.localeCompare(b.name)).slice(0, mostViews);
}

/** The view that shows what these filters show. */
export function viewOf(views: Saved[], filters: Filters): Saved | undefined {
	return views.find((one) => JSON.stringify(one.filters) === JSON.stringify(viewed(filters)));
}
