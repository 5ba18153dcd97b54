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

/** The parameter of a name as a member, or nothing if it is absent or empty. */
export function word<Name extends string>(search: Words, name: Name): { [K in Name]?: string } {
	const value = search[name];
	return (typeof value === "string" && value !== "" ? { [name]: value } : {}) as { [K in Name]?: string };
}

/** The items of a list that are known, in the order of those, each once. */
export function listed<Item extends string>(text: string | undefined, known: readonly Item[]): Item[] {
	const named = new Set((text ?? "").split(","));
	return known.filter((item) => named.has(item));
}
