/**
 * JSON without loss of digits. An integer that a double cannot hold becomes a bigint, and a
 * decimal that it cannot hold becomes its text. All else is what JSON.parse makes of it.
 */
export function parse(text: string): unknown {
	// Sixteen digits in a row, perhaps with a dot, are the least that can be lost.
	if (!/[\d.]{16}/.test(text)) return JSON.parse(text);
	// No text of the server can contain the mark, because it is made here.
	const mark = `${random()}:`;
	const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.]*(?![\d.eE+-])/g, (token) => (token.startsWith('"') || holds(token) ? token : `"${mark}${token}"`));
	return JSON.parse(marked, (_key, value) => {
		if (typeof value !== "string" || !value.startsWith(mark)) return value;
		const number = value.slice(mark.length);
		return number.includes(".") ? number : BigInt(number);
	});
}

/** A number as the text that it is written with. It is neither rounded nor written in another way. */
export class Digits {
	constructor(readonly text: string) {}
	toString(): string {
		return this.text;
	}
}

/**
 * JSON whose numbers can be sent back as they came: each one that JSON.stringify would write
 * in another way is Digits.
 */
export function exact(text: string): unknown {
	const mark = `${random()}:`;
	const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => (token.startsWith('"') || String(Number(token)) === token ? token : `"${mark}${token}"`));
	return JSON.parse(marked, (_key, value) => (typeof value === "string" && value.startsWith(mark) ? new Digits(value.slice(mark.length)) : value));
}

/** Writes JSON. Digits and bigints are numbers with all their digits. */
export function write(value: unknown): string {
	const mark = `${random()}:`;
	const text = JSON.stringify(value, (_key, part) => (part instanceof Digits || typeof part === "bigint" ? `${mark}${part}` : part));
	return text.replace(new RegExp(`"${mark}([^"]*)"`, "g"), "$1");
}

/** Whether a double has all the digits of a number. */
function holds(number: string): boolean {
	if (!number.includes(".")) return Number.isSafeInteger(Number(number));
	// The service writes a double with the digits that it needs, up to 17, as String does.
	return String(Number(number)) === number || number.replace(/[-.]/g, "").replace(/^0+/, "").length <= 15;
}

/** 128 random bits as text. It needs no secure context, unlike crypto.randomUUID. */
export function random(): string {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}
