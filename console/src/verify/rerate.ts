import type { Account, Books, Cost, Item } from "./books";
import { order } from "./bytes";
import type { DailyCost, Rated, Segment, Usage } from "./data";
import { dateOf, dayOf, firstOfMonth, startOf } from "./days";
import { equal, Sum } from "./decimal";
import { isAlone, type Price, windowOf } from "./price";
import { rate } from "./rating";

/** What rating every day again found, besides what is wrong. */
export type Rerated = {
	days: number; // rows that are booked with the same result
	pending: number; // rows that the accrual, or the booking of a late event, will still change
	unrated: number; // rows of settled days that are not booked
	first: string; // the first of them
};

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Rates every day of every account again, up to an instant, and compares the rows with the
 * booked costs. A row that only events since a settled day explain is pending. The callback is
 * told how much is done, from 0 to 1.
 */
export function rerate(books: Books, now: bigint, settled: number, progress: (done: number) => void): Rerated {
	const out: Rerated = { days: 0, pending: 0, unrated: 0, first: "" };
	for (const id of [...books.accounts.keys()].sort(order)) {
		const account = books.accounts.get(id) as Account;
		for (const name of [...account.names.keys()].sort(order)) {
			new Rerating(books, account, name, dayOf(now), settled, out).run(account.names.get(name) as Item[], progress);
		}
		for (const item of [...account.items.values()].sort((a, b) => ascending(a.id, b.id))) {
			for (const cost of item.costs) {
				if (cost.judged || equal(net(cost), "0")) continue;
				if (touched([item], cost, startOf(settled))) out.pending++;
				else books.found.push({ line: cost.line, what: `${nameOf(cost)} costs ${net(cost)}, by its events it costs nothing` });
			}
		}
	}
	return out;
}

class Rerating {
	constructor(
		private readonly books: Books,
		private readonly account: Account,
		private readonly name: string,
		private readonly last: number,
		private readonly settled: number,
		private readonly out: Rerated,
	) {}

	/** Rates each day from the first start on, with the items that can affect it. */
	run(named: Item[], progress: (done: number) => void): void {
		const items = named.toSorted((a, b) => ascending(opened(a), opened(b)));
		const first = dayOf(opened(items[0] as Item));
		let active: Item[] = [];
		let started = 0;
		for (let day = first; day <= this.last; day++) {
			const end = startOf(day + 1);
			for (let next = items[started]; next && opened(next) < end; next = items[++started]) active.push(next);
			const price = this.books.price(this.account.id, this.name, day);
			progress((day - first) / (this.last - first + 1));
			if (typeof price === "string") {
				this.books.found.push({ line: 0, what: `the rates of ${this.name} on ${dateOf(day)}: ${price}` });
				continue;
			}
			this.day(day, price, active);
			if (started === items.length && active.length === 0) return;
			// An item that has ended still counts in its month.
			const month = startOf(firstOfMonth(day + 1));
			active = active.filter(({ ended }) => ended === undefined || ended >= month);
		}
	}

	private day(day: number, price: Price, active: Item[]): void {
		if (price.length === 0) return;
		const window = startOf(windowOf(price, day));
		const items = active.filter(({ ended }) => ended === undefined || ended >= window);
		if (isAlone(price)) for (const item of items) this.compare(day, price, [item]);
		else if (items.length > 0) this.compare(day, price, items);
	}

	/** Rates a day of items that are rated together, and compares the rows with the booked ones. */
	private compare(day: number, price: Price, items: Item[]): void {
		const usage = items.length === 1 ? (items[0] as Item).usage : items.flatMap((item) => item.usage);
		for (const row of rate(day, price, usage, this.rules(day))) {
			const item = this.account.items.get(row.billingItemId) as Item;
			const cost = item.costs[item.rows.get(`${row.date} ${row.rateId}`) ?? -1];
			if (!cost) {
				if (day >= this.settled) continue; // its accrual is still due
				this.out.unrated++;
				this.out.first ||= nameOf(row);
				continue;
			}
			cost.judged = true;
			const difference = differs(cost, row);
			if (!difference || (difference[0] !== "cost" && this.explained(day, price, items, cost))) this.out.days++;
			else if (this.pending(day, price, items, cost)) this.out.pending++;
			else this.books.found.push({ line: cost.line, what: `${nameOf(cost)}: ${difference[0]} is ${difference[2]}, by its events ${difference[1]}` });
		}
	}

	/** The rule by which each item is rated on a day: that of its booked rows, or else the newest. */
	private rules(day: number): (item: bigint) => string {
		const date = dateOf(day);
		return (id) => {
			const item = this.account.items.get(id);
			return item?.costs[item.byDate.get(date) ?? -1]?.engineVersion ?? "";
		};
	}

	private pending(day: number, price: Price, items: Item[], cost: Cost): boolean {
		if (!isAlone(price) && day >= this.settled) return true;
		return touched(items, cost, startOf(this.settled)) && this.explained(day, price, items, cost);
	}

	/** Whether a row is what rating gives for the events before its booking. */
	private explained(day: number, price: Price, items: Item[], cost: Cost): boolean {
		const before: Usage[] = items.flatMap((item) => item.used.filter(({ sequence }) => sequence < booked(cost)).map(({ usage }) => usage));
		const row = rate(day, price, before, this.rules(day)).find((one) => one.billingItemId === cost.billingItemId && one.rateId === cost.rateId);
		return row !== undefined && !differs(cost, row);
	}
}

const opened = (item: Item): bigint => (item.usage[0] as Usage).occurredAt;

/** The sequence of the event that booked a row, or corrected it last. */
const booked = (cost: Cost): number => cost.fixes.at(-1)?.at ?? cost.at;

/** Whether the items have events after the booking of a row, all of them recorded since an instant. */
function touched(items: Item[], cost: Cost, since: bigint): boolean {
	const after = items.flatMap((item) => item.used.filter(({ sequence }) => sequence >= booked(cost)));
	return after.length > 0 && after.every(({ recorded }) => recorded >= since);
}

/** The sum of a row and its corrections. */
function net(cost: Cost): string {
	if (cost.fixes.length === 0) return cost.cost;
	const sum = new Sum();
	for (const part of [cost, ...cost.fixes]) {
		const wrong = sum.add(part.cost);
		if (wrong) return wrong;
	}
	return sum.text;
}

const compared = ["rateName", "rateAmount", "currency", "itemName", "workspaceId", "sandboxId", "userId", "dayPrice", "unitDays", "period", "engineVersion"] as const;

/** The first member in which a row differs from the rated one, the rated value and the booked one. */
function differs(cost: Cost, want: Rated): [string, string, string] | undefined {
	const total = net(cost);
	if (total !== want.cost && !equal(total, want.cost)) return ["cost", want.cost, total];
	if (cost.fixes.length > 0) return undefined; // only the sum is compared
	for (const name of compared) {
		if (want[name] !== cost[name]) return [name, want[name], cost[name]];
	}
	const tier = (row: Rated) => `${row.quantity} in ${row.tierStart} to ${row.tierEnd}`;
	if (tier(want) !== tier(cost)) return ["quantity and tier", tier(want), tier(cost)];
	const same = (a: Segment, b: Segment | undefined) => b && a.from === b.from && a.to === b.to && a.units === b.units && a.fraction === b.fraction && a.count === b.count;
	if (want.segments.length === cost.segments.length && want.segments.every((one, at) => same(one, cost.segments[at]))) return undefined;
	// Segments may be divided otherwise where a later event changed nothing, but must add up.
	const sum = new Sum();
	const added = cost.segments.every(({ fraction, units }) => sum.add(fraction, units) === "");
	return added && equal(sum.text, cost.unitDays) ? undefined : ["sum of the segments", cost.unitDays, added ? sum.text : ""];
}

function nameOf(row: Rated | DailyCost): string {
	const name = `item ${row.billingItemId} on ${row.date} at rate ${row.rateId}`;
	return "dailyCostId" in row && row.dailyCostId !== 0n ? `daily cost ${row.dailyCostId} of ${name}` : name;
}
