import { random } from "../api/json";

/** A member of a value: its path, and its text before and after; absent where it was not there. */
export type Change = { path: string; before?: string; after?: string };

/** The members of two values that differ, in the order of the later one. */
export function difference(before: unknown, after: unknown): Change[] {
	const old = leaves(before);
	const now = leaves(after);
	const changes: Change[] = [];
	for (const path of new Set([...now.keys(), ...old.keys()])) {
		const was = old.get(path);
		const is = now.get(path);
		if (was !== is) changes.push({ path, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) });
	}
	return changes;
}

/** The members of a value that have no members themselves, by their paths. */
function leaves(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
	const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
	if (value === undefined) return into;
	if (members.length === 0) {
		// A state without members is as none.
		if (path !== "" || typeof value !== "object") into.set(path, written(value));
		return into;
	}
	for (const [name, member] of members) leaves(member, Array.isArray(value) ? `${path}[${name}]` : path ? `${path}.${name}` : name, into);
	return into;
}

/** JSON of a value as the API sent it: integers above 2^53 with all their digits. */
export function written(value: unknown, space?: string): string {
	const mark = `${random()}:`;
	const text = JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? `${mark}${member}` : member), space) ?? "";
	return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}
