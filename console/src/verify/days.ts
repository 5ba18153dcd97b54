import { exists, millis } from "./json";

/** Days are numbers since 1970, of UTC; instants are nanoseconds since 1970. */
export const dayLength = 86_400_000_000_000n;

export function floor(a: bigint, b: bigint): bigint {
	return a >= 0n ? a / b : -((-a + b - 1n) / b);
}

export const dayOf = (at: bigint): number => Number(floor(at, dayLength));
export const startOf = (day: number): bigint => BigInt(day) * dayLength;

/** YYYY-MM-DD. */
export function dateOf(day: number): string {
	return new Date(day * 86_400_000).toISOString().slice(-24, -14);
}

/** The day of a date, nothing for a text that is none. */
export function parseDate(text: string): number | undefined {
	const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
	const [year = 0, month = 0, day = 0] = (match ?? []).slice(1).map(Number);
	return match && exists(year, month, day) ? Math.floor(millis(year, month, day) / 86_400_000) : undefined;
}

const parts = (day: number) => {
	const date = new Date(day * 86_400_000);
	return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
};
const first = (year: number, month: number) => Math.floor(millis(year, month, 1) / 86_400_000);

export function firstOfMonth(day: number): number {
	const { year, month } = parts(day);
	return first(year, month);
}

export function firstOfNextMonth(day: number): number {
	const { year, month } = parts(day);
	return month === 12 ? first(year + 1, 1) : first(year, month + 1);
}

/** The day is the k-th of the n days of its month, or year. */
export function inPeriod(day: number, ofYear: boolean): { k: bigint; n: bigint } {
	const { year } = parts(day);
	const [from, to] = ofYear ? [first(year, 1), first(year + 1, 1)] : [firstOfMonth(day), firstOfNextMonth(day)];
	return { k: BigInt(day - from + 1), n: BigInt(to - from) };
}
