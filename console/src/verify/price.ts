import { quoted } from "./bytes";
import type { RateSet } from "./data";
import { dateOf, firstOfMonth, inPeriod } from "./days";
import { type Decimal, parse, plain, share, sub, times, whole } from "./decimal";

/** The rates that price an account's use on a day (docs/rating.md). */
const forever = 2n ** 63n - 1n;

type Model = {
	tiered?: boolean;
	packaged?: boolean;
	/** The price of an item does not depend on the account's other items. */
	alone?: boolean;
	/** How often the amount is due for an item of q units, if the items before it have o and all have c. */
	due: (rate: Rate, o: bigint, q: bigint, c: bigint) => bigint;
};

const least = (a: bigint, b: bigint) => (a < b ? a : b);
const most = (a: bigint, b: bigint) => (a > b ? a : b);
const packages = (units: bigint, size: bigint) => (units + size - 1n) / size;

export const models: Record<string, Model> = {
	unit: { alone: true, due: (_rate, _o, q) => q },
	flat: { due: (_rate, o, q) => (o === 0n && q > 0n ? 1n : 0n) },
	graduated: { tiered: true, due: (rate, o, q) => most(least(o + q, rate.end) - most(o, rate.start), 0n) },
	volume: { tiered: true, due: (rate, _o, q, c) => (rate.start <= c && c < rate.end ? q : 0n) },
	package: { packaged: true, due: (rate, o, q) => packages(o + q, rate.row.packageSize) - packages(o, rate.row.packageSize) },
};

/** A row of the price list on a day. */
export type Rate = { row: RateSet; model: Model; start: bigint; end: bigint; amount: Decimal; price: Decimal; text: string };

/** The rates that apply together on a day, by tier. */
export type Price = Rate[];

/** A row as a rate on a day, or what is wrong with it. */
function rateOf(row: RateSet, day: number): Rate | string {
	const amount = parse(row.amount);
	if (typeof amount === "string") return `rate ${row.rateName}: amount ${amount}`;
	if (row.amount.startsWith("-") || amount.places > 12) return `rate ${row.rateName}: amount ${row.amount} must be at least 0 and have at most 12 decimals`;
	const model = Object.hasOwn(models, row.rateType) ? models[row.rateType] : undefined;
	if (!model) return `rate ${row.rateName}: there is no rate type ${quoted(row.rateType)}`;
	if (!["hour", "day", "month", "year"].includes(row.period)) return `rate ${row.rateName}: there is no period ${quoted(row.period)}`;
	if (!["", "hour", "day", "month"].includes(row.minimumPeriod)) return `rate ${row.rateName}: there is no minimum period ${quoted(row.minimumPeriod)}`;
	if (row.tierStart < 0n || (row.tierEnd !== 0n && row.tierEnd <= row.tierStart)) return `rate ${row.rateName}: tier ${row.tierStart} to ${row.tierEnd} is empty`;
	if (model.packaged && row.packageSize < 1n) return `rate ${row.rateName}: packageSize ${row.packageSize} is below 1`;
	const price = dayPrice(row, amount, day);
	return { row, model, ...unitsOf(row), amount, price, text: plain(price) };
}

/** The units that a row prices, half-open. */
function unitsOf(row: RateSet): { start: bigint; end: bigint } {
	if (!models[row.rateType]?.tiered) return { start: 0n, end: forever };
	return { start: row.tierStart, end: row.tierEnd === 0n ? forever : row.tierEnd };
}

function overlap(a: RateSet, b: RateSet): boolean {
	const [x, y] = [unitsOf(a), unitsOf(b)];
	return x.start < y.end && y.start < x.end && (a.endDate === "" || b.startDate < a.endDate) && (b.endDate === "" || a.startDate < b.endDate);
}

/**
 * The rates of a price list that apply to an account's rate name on a day. Rows of the account
 * replace those of the platform; of overlapping rows the one recorded last applies.
 */
export function priceOn(day: number, account: string, rateName: string, list: RateSet[]): Price | string {
	const own: Price = [];
	const common: Price = [];
	const date = dateOf(day);
	for (const row of list.toSorted((a, b) => (a.rateId < b.rateId ? 1 : -1))) {
		if (row.rateName !== rateName || row.startDate > date || (row.endDate !== "" && date >= row.endDate)) continue;
		const rate = rateOf(row, day);
		if (typeof rate === "string") return rate;
		const into = row.accountId === account ? own : row.accountId === "" ? common : undefined;
		if (into && !into.some((newer) => overlap(newer.row, row))) into.push(rate);
	}
	return (own.length > 0 ? own : common).sort((a, b) => Number(a.row.tierStart - b.row.tierStart));
}

export const isAlone = (price: Price): boolean => price.every((rate) => rate.model.alone);

/** The first day whose use the rating of a day needs. */
export function windowOf(price: Price, day: number): number {
	return price.some((rate) => rate.row.minimumPeriod === "month") ? firstOfMonth(day) : day;
}

function dayPrice(row: RateSet, amount: Decimal, day: number): Decimal {
	if (row.period === "hour") return times(amount, whole(24n));
	if (row.period === "day") return amount;
	const { k, n } = inPeriod(day, row.period === "year");
	return sub(share(amount, k, n), share(amount, k - 1n, n));
}

/** The sum of the prices of the days that follow the day in its month. */
export function priceOfDaysAfter({ row, amount, price }: Rate, day: number, days: bigint): Decimal {
	if (row.period === "hour" || row.period === "day") return times(price, whole(days));
	const { k, n } = inPeriod(day, row.period === "year");
	return sub(share(amount, k + days, n), share(amount, k, n));
}
