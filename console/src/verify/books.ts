import { order } from "./bytes";
import { type DailyCost, dataOf, type RateSet, type Usage } from "./data";
import { equal, Sum } from "./decimal";
import type { Fact } from "./frame";
import type { CostLine, TotalLine } from "./lines";

import { type Price, priceOn } from "./price";

/** A billing event and where it is. */
export type Used = { usage: Usage; sequence: number; recorded: bigint; line: number };

/** A billing item, its events and its current costs in the order of the log. */
export type Item = { id: bigint; used: Used[]; usage: Usage[]; ended?: bigint; costs: Cost[]; rows: Map<string, number>; byDate: Map<string, number> };

/** A daily cost, or a correction of one. */
export type Cost = DailyCost & { line: number; at: number; fixes: Cost[]; judged: boolean };

export type Account = { id: string; items: Map<bigint, Item>; names: Map<string, Item[]>; units: Map<string, bigint>; fixes: Cost[]; holds: Set<string> };

/** Where a finding is, 0 for no line, and what it is. */
export type Found = { line: number; what: string };

const costType = "netsim.billing.daily_cost_rated.v1";

/** The folded facts of billing: all billing events, all current costs and the price list. */
export class Books {
	readonly accounts = new Map<string, Account>();
	readonly rates = new Map<bigint, RateSet>();
	readonly rateLines = new Map<bigint, number>();
	readonly found: Found[] = [];
	private readonly prices = new Map<string, Price>();

	/** Folds one fact, which has a value, of a line. */
	fold(fact: Fact, line: number): void {
		const find = (what: string) => this.found.push({ line, what });
		if (fact.partitionKey !== fact.stream) find(`the event is in the partition of ${fact.partitionKey}: netsim writes each billing stream to the stream's own partition`);
		const { data, error } = dataOf<unknown>(fact.type, fact.value as Uint8Array);
		if (error) {
			find(`the event cannot be read: ${error}`);
			return;
		}
		switch (fact.type) {
			case costType:
				this.charge(this.account(fact.stream), { ...(data as DailyCost), line, at: fact.sequence, fixes: [], judged: false });
				break;
			case "netsim.billing.usage_recorded.v1":
				this.use(this.account(fact.stream), { usage: data as Usage, sequence: fact.sequence, recorded: fact.time, line });
				break;
			case "netsim.billing.credit_granted.v1": {
				this.account(fact.stream);
				const { amount } = data as { amount: string };
				const wrong = new Sum().add(amount);
				if (wrong) find(`the amount of a grant: ${wrong}`);
				break;
			}
			case "netsim.billing.credit_held.v1":
				this.account(fact.stream).holds.add((data as { simulationId: string }).simulationId);
				break;
			case "netsim.billing.credit_hold_changed.v1":
				this.held(fact, data, "the hold changed for %s was never made", find);
				break;
			case "netsim.billing.credit_released.v1":
				this.held(fact, data, "the credit released for %s was never held", find);
				break;
			case "netsim.billing.rate_set.v1":
				this.rates.set((data as RateSet).rateId, data as RateSet);
				this.rateLines.set((data as RateSet).rateId, line);
		}
	}

	private held({ stream }: Fact, data: unknown, otherwise: string, find: (what: string) => void): void {
		const { simulationId } = data as { simulationId: string };
		if (!this.account(stream).holds.has(simulationId)) find(otherwise.replace("%s", () => simulationId));
	}

	account(id: string): Account {
		let account = this.accounts.get(id);
		if (!account) {
			account = { id, items: new Map(), names: new Map(), units: new Map(), fixes: [], holds: new Set() };
			this.accounts.set(id, account);
		}
		return account;
	}

	private item(account: Account, id: bigint): Item {
		let item = account.items.get(id);
		if (!item) {
			item = { id, used: [], usage: [], costs: [], rows: new Map(), byDate: new Map() };
			account.items.set(id, item);
		}
		return item;
	}

	private use(account: Account, used: Used): void {
		const { usage } = used;
		const want = BigInt.asIntN(64, (account.units.get(usage.rateName) ?? 0n) + usage.currentCount - usage.previousCount);
		if (usage.totalBillableCount !== want) {
			const what = `billing event ${usage.billingEventId} says that ${usage.totalBillableCount} units of ${usage.rateName} are active; by the events before it, ${want} are`;
			this.found.push({ line: used.line, what });
		}
		account.units.set(usage.rateName, usage.totalBillableCount);
		const item = this.item(account, usage.billingItemId);
		if (item.used.length === 0) {
			const named = account.names.get(usage.rateName);
			if (named) named.push(item);
			else account.names.set(usage.rateName, [item]);
		}
		if (usage.eventAction === "stop") item.ended ??= usage.occurredAt;
		item.used.push(used);
		item.usage.push(usage);
	}

	/** Records the first version of a row, the next version, or a correction. */
	private charge(account: Account, cost: Cost): void {
		const find = (what: string) => this.found.push({ line: cost.line, what });
		if (cost.correctionOf !== 0n) {
			const corrected = this.costOf(account, cost.correctionOf);
			if (!corrected) {
				find(`daily cost ${cost.dailyCostId} corrects ${cost.correctionOf}, which is not there`);
				return;
			}
			corrected.fixes.push(cost);
			account.fixes.push(cost);
			return;
		}
		const item = this.item(account, cost.billingItemId);
		const row = `${cost.date} ${cost.rateId}`;
		const at = item.rows.get(row);
		if (at === undefined) {
			if (cost.version > 1n) find(`daily cost ${cost.dailyCostId} is version ${cost.version} of a row that is not there`);
			item.rows.set(row, item.costs.length);
			if (!item.byDate.has(cost.date)) item.byDate.set(cost.date, item.costs.length);
			item.costs.push(cost);
		} else {
			const before = item.costs[at] as Cost;
			if (cost.version !== BigInt.asIntN(64, before.version + 1n) || cost.supersedes !== before.dailyCostId) {
				find(`daily cost ${cost.dailyCostId} is version ${cost.version} and supersedes ${cost.supersedes}; the one before it is ${before.dailyCostId}, version ${before.version}`);
			}
			if (cost.previousCost !== "" && !equal(cost.previousCost, before.cost)) find(`daily cost ${cost.dailyCostId} supersedes a cost of ${before.cost}, but names ${cost.previousCost}`);
			item.costs[at] = cost;
		}
		this.byId.get(account)?.set(cost.dailyCostId, cost);
	}

	private readonly byId = new Map<Account, Map<bigint, Cost>>();

	/** The row with an id, which a later version does not change. */
	private costOf(account: Account, id: bigint): Cost | undefined {
		let known = this.byId.get(account);
		if (!known) {
			known = new Map([...account.items.values()].flatMap(({ costs }) => costs).map((cost) => [cost.dailyCostId, cost]));
			this.byId.set(account, known);
		}
		return known.get(id);
	}

	/** The price on a day, or why there is none. A price list that is wrong is reported once a day. */
	price(account: string, rateName: string, day: number): Price | string {
		const list = [...this.rates.values()];
		const own = list.some((row) => row.accountId === account && row.rateName === rateName) ? account : "";
		const key = `${day} ${own} ${rateName}`;
		const known = this.prices.get(key);
		if (known) return known;
		const price = priceOn(day, own, rateName, list);
		this.prices.set(key, typeof price === "string" ? [] : price);
		return price;
	}

	/** The costs and corrections of a period in the order of a bundle, and their totals. */
	costsOf(id: string, from: string, to: string): { costs: CostLine[]; totals: TotalLine[] } {
		const account = this.account(id);
		const all = [...account.fixes, ...[...account.items.values()].flatMap((item) => item.costs)].filter((cost) => cost.date >= from && cost.date <= to);
		const costs = all.map((cost) => ({
			dailyCostId: cost.dailyCostId,
			billingItemId: cost.billingItemId,
			itemName: cost.itemName,
			date: cost.date,
			rateId: cost.rateId,
			rateName: cost.rateName,
			cost: cost.cost,
			currency: cost.currency,
			correctionOf: cost.correctionOf,
			sequence: BigInt(cost.at),
		}));
		const number = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
		costs.sort((a, b) => order(a.date, b.date) || number(a.billingItemId, b.billingItemId) || number(a.rateId, b.rateId) || number(a.sequence, b.sequence));
		const sums = new Map<string, { of: CostLine; sum: Sum }>();
		for (const cost of costs) {
			const key = `${cost.rateName}\n${cost.currency}`;
			const known = sums.get(key) ?? { of: cost, sum: new Sum() };
			known.sum.add(cost.cost); // an amount that is none is reported when the day is rated again
			sums.set(key, known);
		}
		const totals = [...sums.values()].map(({ of: { rateName, currency }, sum }) => ({ rateName, currency, total: sum.text }));
		return { costs, totals: totals.sort((a, b) => order(a.rateName, b.rateName) || order(a.currency, b.currency)) };
	}
}
