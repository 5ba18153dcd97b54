/**
 * The parameters of a page's address are plain words, so that people can read and write them.
 */
export type Words = Record<string, unknown>;

export function parseSearch(text: string): Record<string, string> {
	return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Words): string {
	const parameters = new URLSearchParams();
	for (const [name, value] of Object.entries(search)) {
		if (value !== undefined && value !== "") parameters.set(name, String(value));
	}
	// Commas, colons and slashes may stand in a query as they are.
	const text = parameters.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%2F/g, "/");
	return text ? `?${text}` : "";
}

/** The parameters of these names as members, without those that are absent or empty. */
export function words<Name extends string>(search: Words, ...names: Name[]): { [K in Name]?: string } {
	const found = names.filter((name) => typeof search[name] === "string" && search[name] !== "");
	return Object.fromEntries(found.map((name) => [name, search[name]])) as { [K in Name]?: string };
}

/** The items of a list that are known, in the order of those, each once. */
export function listed<Item extends string>(text: string | undefined, known: readonly Item[]): Item[] {
	const named = new Set((text ?? "").split(","));
	return known.filter((item) => named.has(item));
}
