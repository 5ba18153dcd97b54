/** Whether a value is an object or an array, whose members can be looked at. */
export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}

/**
 * Reads JSON without loss of digits: an integer that a number cannot hold becomes a bigint.
 * The contract has such integers only where it does not know the content, as in the parameters
 * of a configuration and in the data of events.
 */
export function parse(text: string): unknown {
	if (!/\d{16}/.test(text)) return JSON.parse(text);
	const mark = `${crypto.randomUUID()}:`; // No text of the service can contain it.
	const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
		/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
	);
	return JSON.parse(marked, (_key, value: unknown) => (typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value));
}

/** Writes JSON; a bigint is a number with all its digits. */
export function write(value: unknown): string {
	const mark = `${crypto.randomUUID()}:`;
	const text = JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? `${mark}${part}` : part));
	return text.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}
