/** Whether a value is an object or an array, whose members can be looked at. */
export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}

/**
 * Reads JSON without loss of digits: an integer that a number cannot hold becomes a bigint.
 * Only the data of events has such integers; those of the contract are at most 2^53 - 1.
 */
export function parse(text: string): unknown {
	if (!/\d{16}/.test(text)) return JSON.parse(text);
	const mark = `${crypto.randomUUID()}:`; // No text of the service can contain it.
	const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) => (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token));
	return JSON.parse(marked, (_key, value: unknown) => (typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value));
}
