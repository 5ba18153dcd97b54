import type { Usage } from "./data";
import type { Rate } from "./price";

/** An item's units over time, by its events before an instant, in the order of time. */
export type History = { opened: Usage; steps: Usage[] };

/** A span of time in which the priced units do not change. */
export type Piece = { from: bigint; to: bigint; units: bigint; count: bigint };

/** What one item uses at one rate. */
export type Use = { history: History; pieces: Piece[] };

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

/** The histories of items, by start and then by id: in this order units count for tiers and packages. */
export function historiesOf(usage: Usage[], before: bigint): History[] {
	const sorted = usage.some((one, at) => at > 0 && one.occurredAt < (usage[at - 1] as Usage).occurredAt) ? usage.toSorted((a, b) => ascending(a.occurredAt, b.occurredAt)) : usage;
	const byItem = new Map<bigint, History>();
	for (const one of sorted) {
		const history = byItem.get(one.billingItemId);
		if (one.occurredAt >= before || !history !== (one.eventAction === "start") || history?.steps.at(-1)?.eventAction === "stop") continue;
		if (history) history.steps.push(one);
		else byItem.set(one.billingItemId, { opened: one, steps: [one] });
	}
	return [...byItem.values()].sort((a, b) => ascending(a.opened.occurredAt, b.opened.occurredAt) || ascending(a.opened.billingItemId, b.opened.billingItemId));
}

/** The ids of the first and the last event that determine an item's units on a day, and the highest units. */
export function during({ steps }: History, from: bigint, to: bigint): { first: bigint; last: bigint; quantity: bigint } {
	let [first, last, quantity] = [0n, 0n, 0n];
	for (const { occurredAt, billingEventId, currentCount } of steps) {
		if (occurredAt >= to) break;
		if (first === 0n || occurredAt <= from) [first, quantity] = [billingEventId, currentCount];
		last = billingEventId;
		if (currentCount > quantity) quantity = currentCount;
	}
	return { first, last, quantity };
}

/** The pieces of every item that has priced units between two instants. */
export function uses(rate: Rate, histories: History[], from: bigint, to: bigint): Use[] {
	const all = histories.map((history) => ({ history, pieces: [] as Piece[] }));
	if (rate.model.alone) {
		for (const { history, pieces } of all) {
			history.steps.forEach(({ occurredAt, currentCount, totalBillableCount }, at) => {
				const end = history.steps[at + 1]?.occurredAt ?? to;
				add(pieces, { from: occurredAt > from ? occurredAt : from, to: end, units: rate.model.due(rate, 0n, currentCount, totalBillableCount), count: totalBillableCount });
			});
		}
	} else {
		together(rate, all, from, to);
	}
	return all.filter(({ pieces }) => pieces.length > 0);
}

/** Divides the time at every change of any item, and prices each item after the units of those before it. */
function together(rate: Rate, all: Use[], from: bigint, to: bigint): void {
	const within = all.flatMap(({ history }) => history.steps.map((step) => step.occurredAt)).filter((at) => at > from && at < to);
	const cuts = [...new Set([from, to, ...within])].sort(ascending);
	cuts.slice(0, -1).forEach((cut, at) => {
		const units = all.map(({ history }) => unitsAt(history, cut));
		const count = units.reduce((sum, one) => sum + one, 0n);
		let ordinal = 0n;
		all.forEach(({ pieces }, item) => {
			const own = units[item] as bigint;
			add(pieces, { from: cut, to: cuts[at + 1] as bigint, units: rate.model.due(rate, ordinal, own, count), count });
			ordinal += own;
		});
	});
}

function unitsAt({ steps }: History, at: bigint): bigint {
	let units = 0n;
	for (const step of steps) {
		if (step.occurredAt > at) break;
		units = step.currentCount;
	}
	return units;
}

/** Appends a piece that is not empty, or extends the last one if the units are the same. */
export function add(pieces: Piece[], piece: Piece): void {
	if (piece.units <= 0n || piece.from >= piece.to) return;
	const last = pieces.at(-1);
	if (last?.to === piece.from && last.units === piece.units && last.count === piece.count) last.to = piece.to;
	else pieces.push(piece);
}
