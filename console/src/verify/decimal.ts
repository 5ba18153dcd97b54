import { quoted } from "./bytes";

/** An exact decimal: units of 10^-places. */
export type Decimal = { units: bigint; places: number };

export const whole = (units: bigint): Decimal => ({ units, places: 0 });

/** Reads an amount: at most 18 decimals and 40 characters, no exponent. It returns why a text is none. */
export function parse(text: string): Decimal | string {
	const match = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text);
	const [, sign = "", head = "", tail = ""] = match ?? [];
	if (/[^0-9.-]/.test(text)) return `${quoted(text)} is not a decimal number`;
	if (!match || head + tail === "" || text.length > 40 || tail.length > 18) return `${quoted(text)} is not a decimal number of at most 18 decimals`;
	const units = BigInt(head + tail);
	return { units: sign ? -units : units, places: tail.length };
}

const lift = (x: Decimal, places: number) => x.units * 10n ** BigInt(places - x.places);

export function add(a: Decimal, b: Decimal): Decimal {
	const places = Math.max(a.places, b.places);
	return { units: lift(a, places) + lift(b, places), places };
}

export const sub = (a: Decimal, b: Decimal): Decimal => add(a, { units: -b.units, places: b.places });
export const times = (a: Decimal, b: Decimal): Decimal => ({ units: a.units * b.units, places: a.places + b.places });

/** n/d rounded half to even, for d above 0 and n not below it. */
export function halfEven(n: bigint, d: bigint): bigint {
	const quotient = n / d;
	const twice = 2n * (n % d);
	return twice > d || (twice === d && quotient % 2n === 1n) ? quotient + 1n : quotient;
}

/** a·k/n rounded half to even at 12 decimals. */
export function share(a: Decimal, k: bigint, n: bigint): Decimal {
	return { units: halfEven(a.units * k * 10n ** 12n, n * 10n ** BigInt(a.places)), places: 12 };
}

/** Without an exponent and trailing zeros. */
export function plain({ units, places }: Decimal): string {
	const digits = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
	const at = digits.length - places;
	const tail = digits.slice(at).replace(/0+$/, "");
	return (units < 0n ? "-" : "") + digits.slice(0, at) + (tail && `.${tail}`);
}

/** An amount in units of 10^-18, for amounts of at most 18 decimals. */
export const scaled = (a: Decimal): bigint => lift(a, 18);

/** Whether two texts are the same number. */
export function equal(a: string, b: string): boolean {
	if (a === b && /^\d{1,18}$/.test(a)) return true;
	const [x, y] = [parse(a), parse(b)];
	return typeof x !== "string" && typeof y !== "string" && sub(x, y).units === 0n;
}

/** An exact sum of texts. */
export class Sum {
	private total = whole(0n);

	/** Adds an amount, times a number. It returns why a text is none, "" if it is one. */
	add(amount: string, by = 1n): string {
		const read = parse(amount);
		if (typeof read === "string") return read;
		this.total = add(this.total, times(read, whole(by)));
		return "";
	}

	get text(): string {
		return plain(this.total);
	}
}
