import type { Rated, Usage } from "./data";
import { dateOf, dayLength, firstOfNextMonth, floor, startOf } from "./days";
import { type Decimal, halfEven, plain, add as plus, scaled, times, whole } from "./decimal";
import { type Price, priceOfDaysAfter, type Rate, windowOf } from "./price";
import { add, during, historiesOf, type Piece, type Use, uses } from "./use";

/** The rules that rate: rows of the older one are rated again by it (docs/rating.md). */
export const newest = "rating-2";
const older = "rating-1";

const wholeDay = 86_400_000_000n; // in microseconds
const hour = 3_600_000_000_000n;

/** A row with its exact cost in 10^-18, times wholeDay. Rows of the older rule have none. */
type Line = { row: Rated; exact?: bigint };

/**
 * What the items cost on one day at a price: a row for each item and rate at which it has
 * units. The usage is that of one account and rate name, in the order of the log.
 */
export function rate(day: number, price: Price, usage: Usage[], rule: (item: bigint) => string): Rated[] {
	const end = startOf(day + 1);
	const histories = historiesOf(usage, end);
	const lines: Line[] = [];
	for (const one of price) {
		for (const use of uses(one, histories, startOf(windowOf([one], day)), end)) {
			const line = charge(day, one, use, rule(use.history.opened.billingItemId));
			if (line) lines.push(line);
		}
	}
	lines.sort((a, b) => (a.row.billingItemId < b.row.billingItemId ? -1 : a.row.billingItemId > b.row.billingItemId ? 1 : 0));
	settle(lines);
	return lines.map(({ row }) => row);
}

function charge(day: number, { row, price, text, ...of }: Rate, use: Use, rule: string): Line | undefined {
	const pieces = widen(row.minimumPeriod, day, use.pieces);
	if (pieces.length === 0) return undefined;
	const old = rule === older;
	let unitDays = whole(0n);
	let cost = whole(0n);
	let exact = 0n;
	const segments = pieces.map(({ from, to, units, count }) => {
		const within = { units: part(day, to, old) - part(day, from, old), places: old ? 6 : 18 };
		const beyond = daysAfter(day, to);
		let all: Decimal = within;
		let after = whole(0n); // the price of the days after the day
		if (beyond > 0n) {
			all = plus(within, whole(beyond));
			after = times(priceOfDaysAfter({ row, price, text, ...of }, day, beyond), whole(units));
		}
		unitDays = plus(unitDays, times(whole(units), all));
		if (old) cost = plus(cost, plus(times(times(price, whole(units)), within), after));
		else exact += scaled(price) * BigInt.asIntN(64, units * (micros(day, to) - micros(day, from))) + scaled(after) * wholeDay;
		return { from, to, units, count, fraction: plain(all) };
	});
	const { first, last, quantity } = during(use.history, startOf(day), startOf(day + 1));
	const { billingItemId, itemName, workspaceId, sandboxId, userId } = use.history.opened;
	const rated: Rated = {
		billingItemId,
		itemName,
		date: dateOf(day),
		rateId: row.rateId,
		rateName: row.rateName,
		rateAmount: row.amount,
		cost: plain(cost),
		currency: row.currency,
		quantity,
		workspaceId,
		sandboxId,
		userId,
		segments,
		dayPrice: text,
		unitDays: plain(unitDays),
		period: row.period,
		tierStart: row.tierStart,
		tierEnd: row.tierEnd,
		engineVersion: old ? rule : newest,
		firstEventId: first,
		lastEventId: last,
	};
	return old ? { row: rated } : { row: rated, exact };
}

/**
 * Rounds exact costs to 18 decimals: the sum of an item's lines half to even, each line
 * truncated. The units that are then missing go to the lines that lost most.
 */
function settle(lines: Line[]): void {
	for (let from = 0, to = 0; from < lines.length; from = to) {
		const item = lines[from]?.row.billingItemId;
		while (lines[to]?.row.billingItemId === item && to < lines.length) to++;
		const own = lines.slice(from, to);
		if (own[0]?.exact === undefined) continue;
		const rest = own.map(({ exact = 0n }, at) => ({ at, units: exact / wholeDay, lost: exact % wholeDay }));
		const sum = own.reduce((total, { exact = 0n }) => total + exact, 0n);
		const missing = halfEven(sum, wholeDay) - rest.reduce((total, { units }) => total + units, 0n);
		const most = rest.toSorted((a, b) => Number(b.lost - a.lost));
		for (let n = 0; n < Number(missing); n++) (most[n] as { units: bigint }).units++;
		for (const { at, units } of rest) (own[at] as Line).row.cost = plain({ units, places: 18 });
	}
}

/** The microseconds of the day that are before an instant. */
function micros(day: number, at: bigint): bigint {
	const before = (at - startOf(day)) / 1000n;
	return before < 0n ? 0n : before > wholeDay ? wholeDay : before;
}

/** The part of the day before an instant, in millionths by the older rule, else in 10^-18. */
const part = (day: number, at: bigint, old: boolean): bigint => halfEven(micros(day, at) * (old ? 10n ** 6n : 10n ** 18n), wholeDay);

/** The whole days between the end of the day and a later instant. */
function daysAfter(day: number, at: bigint): bigint {
	const days = (at - startOf(day)) / dayLength - 1n;
	return days > 0n ? days : 0n;
}

/** The pieces that a minimum period charges to the day. */
function widen(minimum: string, day: number, pieces: Piece[]): Piece[] {
	if (minimum === "hour") return merge(pieces, hour);
	if (minimum === "day") return merge(pieces, dayLength);
	const [first] = pieces;
	if (minimum !== "month") return pieces;
	// The first piece of the month lasts until its end; nothing is charged to later days.
	return first && first.from >= startOf(day) ? [{ ...first, to: startOf(firstOfNextMonth(day)) }] : [];
}

/** Extends the pieces of a day to whole steps. A step counts once, for the piece with the most units. */
function merge(pieces: Piece[], step: bigint): Piece[] {
	const wide = pieces.map((piece) => ({ ...piece, from: floor(piece.from, step) * step, to: floor(piece.to + step - 1n, step) * step }));
	const cuts = [...new Set(wide.flatMap(({ from, to }) => [from, to]))].sort((a, b) => (a < b ? -1 : 1));
	const out: Piece[] = [];
	for (const [at, cut] of cuts.slice(0, -1).entries()) {
		let most = { units: 0n, count: 0n };
		for (const piece of wide) {
			if (piece.from <= cut && piece.to > cut && piece.units > most.units) most = piece;
		}
		add(out, { from: cut, to: cuts[at + 1] as bigint, units: most.units, count: most.count });
	}
	return out;
}
