/**
 * Numbers with their units. A figure that a person compares keeps all its digits: a step of a
 * thousand only moves the point. No line breaks within a number, or before its unit.
 */
const thin = "\u202f";
export const hard = "\u00a0";

/** An integer with its thousands apart. */
export function count(value: number | bigint): string {
	return value.toString().replace(/\B(?=(\d{3})+$)/g, thin);
}

/** Picoseconds in the largest unit below them, with all digits: 1234567 is 1.234567 µs. */
export function picoseconds(value: number | bigint): string {
	return stepped(BigInt(value), ["ps", "ns", "µs", "ms", "s"], 3);
}

/** Bit/s, with all digits. */
export function bitRate(value: number | bigint): string {
	return stepped(BigInt(value), ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s"], 3);
}

/** Bytes, with all digits; and in binary units where they are whole. */
export function bytes(value: number | bigint): string {
	const exact = BigInt(value);
	let unit = 0;
	let scaled = exact;
	while (scaled >= 1024n && scaled % 1024n === 0n && unit < 4) {
		scaled /= 1024n;
		unit++;
	}
	const binary = ["B", "KiB", "MiB", "GiB", "TiB"][unit] as string;
	return unit === 0 ? `${count(exact)}${hard}B` : `${count(scaled)}${hard}${binary}`;
}

/** Bytes as a person writes them: readBytes reads it. */
export function sizeText(value: number): string {
	return bytes(value).replaceAll(thin, "").replace(hard, " ");
}

/** A part of one as a percentage. */
export function percent(part: number): string {
	return `${Number((part * 100).toFixed(4))}${hard}%`;
}

/** How much longer or larger b is than a, in words. */
export function change(a: number, b: number): string {
	if (a === b) return "equal";
	if (a === 0) return "from 0";
	const by = ((b - a) / a) * 100;
	return `${by > 0 ? "+" : "−"}${Math.abs(by) < 0.05 ? "<0.1" : Math.abs(by).toFixed(1)}${hard}%`;
}

/**
 * A figure to some significant digits, its unit beside it: 96.484469622409 Tbit/s is 96.48 Tbit/s.
 * Digits before the point stay, so it is never an amount or a count that changes. For figures of
 * which a person needs the size; the whole belongs into a title.
 */
export function rounded(figure: string, digits: number): string {
	return figure.replace(/(\d[\d\u202f]*)\.(\d+)/, (_all, whole: string, part: string) => {
		const leading = whole === "0" ? (/^0*/.exec(part)?.[0].length ?? 0) : -whole.replaceAll(thin, "").length;
		const short = Number(`${whole.replaceAll(thin, "")}.${part}`).toFixed(Math.min(Math.max(leading + digits, 0), 100));
		const [before = "", after = ""] = short.split(".");
		const kept = after.replace(/0+$/, "");
		return count(BigInt(before)) + (kept && `.${kept}`);
	});
}

/**
 * Texts of the API with the units of the console, each of which stays on the line of its number:
 * 2.5us is 2.5 µs, and 9.6 Tbps is 9.6 Tbit/s.
 */
export function inUnits(text: string): string {
	return text
		.replace(/\b(\d{4,15}) bytes\b/g, (_all, figure: string) => bytes(Number(figure)))
		.replace(/(?<![\w.])(\d+(?:\.\d+)?)\s?(ps|ns|us|µs|ms|s|[KMGTP]?bps|[KMGTP]?i?B|%)(?![\w/])/g, (_all, figure: string, unit: string) => {
			return (
				figure +
				hard +
				unit
					.replace("us", "µs")
					.replace("bps", "bit/s")
					.replace(/^K(?!i)/, "k")
			);
		});
}

function stepped(value: bigint, units: string[], step: number): string {
	const digits = value.toString();
	const unit = Math.min(Math.floor((digits.length - 1) / step), units.length - 1);
	if (unit === 0) return `${digits}${hard}${units[0]}`;
	const at = digits.length - unit * step;
	const part = digits.slice(at).replace(/0+$/, "");
	return `${count(BigInt(digits.slice(0, at)))}${part ? `.${part}` : ""}${hard}${units[unit]}`;
}

/** Reads a size such as "64", "1 MiB", "1.5 GiB" or "10 MB" as bytes; undefined if it is none. */
export function readBytes(text: string): number | undefined {
	const match = /^\s*(\d+)(?:\.(\d+))?\s*(?:([KMGT])(i?)B?|B)?\s*$/i.exec(text);
	if (!match) return undefined;
	const [, whole = "", part = "", letter = "", binary = ""] = match;
	const power = letter ? "KMGT".indexOf(letter.toUpperCase()) + 1 : 0;
	const scale = BigInt(binary ? 1024 : 1000) ** BigInt(power);
	const scaled = BigInt(whole + part) * scale;
	const divisor = 10n ** BigInt(part.length);
	const exact = scaled / divisor;
	return scaled % divisor === 0n && exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : undefined;
}
