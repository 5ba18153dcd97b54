/** Amounts are decimal texts. Nothing here makes a double of one. */
type Scaled = { units: bigint; decimals: number };

function scaled(text: string): Scaled {
	const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
	if (!match) throw new Error(`'${text}' is not a decimal number`);
	const [, sign, whole = "", part = ""] = match;
	return { units: BigInt(sign + whole + part), decimals: part.length };
}

/** The exact sum of amounts. */
export function sum(amounts: string[]): string {
	let total: Scaled = { units: 0n, decimals: 0 };
	for (const amount of amounts) {
		const next = scaled(amount);
		const decimals = Math.max(total.decimals, next.decimals);
		total = { units: lift(total, decimals) + lift(next, decimals), decimals };
	}
	return written(total);
}

/** Orders two amounts: negative, 0 or positive. */
export function compare(a: string, b: string): number {
	const x = scaled(a);
	const y = scaled(b);
	const decimals = Math.max(x.decimals, y.decimals);
	const difference = lift(x, decimals) - lift(y, decimals);
	return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The part of a whole in millionths, for the length of a bar only. */
export function share(part: string, whole: string): number {
	const x = scaled(part);
	const y = scaled(whole);
	const decimals = Math.max(x.decimals, y.decimals);
	const of = lift(y, decimals);
	return of === 0n ? 0 : Number((lift(x, decimals) * 1_000_000n) / of) / 1_000_000;
}

/** An amount with its thousands apart, between which no line breaks. All its digits stay. */
export function grouped(amount: string): string {
	const [whole = "", part] = amount.split(".");
	const apart = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
	return part === undefined ? apart : `${apart}.${part}`;
}

const decimals = 2;
const significant = 4;

/**
 * An amount to two decimals, or to more if it is so small that it needs them for four significant
 * digits: 0.000001 stays so. One that lost digits begins with ≈, so 0.99999 is never just 1.
 */
export function short(amount: string): string {
	const [, sign = "", whole = "", part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
	const zeros = /^0*/.exec(part)?.[0].length ?? 0;
	const kept = Math.max(decimals, /[1-9]/.test(whole) ? 0 : zeros + significant);
	if (part.length <= kept) return grouped(amount);
	const unit = 10n ** BigInt(part.length - kept);
	const rounded = (BigInt(whole + part) + unit / 2n) / unit;
	const text = written({ units: rounded, decimals: kept });
	const exact = compare(text, `${whole}.${part}`) === 0;
	return `${exact ? "" : "≈\u00a0"}${sign}${grouped(text)}`;
}

function lift(x: Scaled, decimals: number): bigint {
	return x.units * 10n ** BigInt(decimals - x.decimals);
}

function written(x: Scaled): string {
	const sign = x.units < 0n ? "-" : "";
	const digits = (x.units < 0n ? -x.units : x.units).toString().padStart(x.decimals + 1, "0");
	const at = digits.length - x.decimals;
	const part = digits.slice(at).replace(/0+$/, "");
	return sign + digits.slice(0, at) + (part ? `.${part}` : "");
}
