import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { dataOf, type RateSet, type Usage } from "./data";
import { parseDate } from "./days";
import { halfEven } from "./decimal";
import { priceOn } from "./price";
import { rate } from "./rating";

type Row = { billingItemId: number; rateId: number; cost: string; quantity: number; dayPrice: string; unitDays: string };
type Vector = { name: string; rule: string; day: string; account: string; rateName: string; rates: object[]; usage: object[]; rows: Row[] };

const vectors = JSON.parse(readFileSync(new URL("../../../rating/testdata/vectors.json", import.meta.url), "utf8")) as Vector[];
const read = <T>(type: string, of: object): T => dataOf<T>(`netsim.billing.${type}.v1`, new TextEncoder().encode(JSON.stringify(of))).data;

test.each(vectors)("$name", ({ rule, day, account, rateName, rates, usage, rows }) => {
	const on = parseDate(day) as number;
	const price = priceOn(
		on,
		account,
		rateName,
		rates.map((row) => read<RateSet>("rate_set", row)),
	);
	if (typeof price === "string") throw new Error(price);
	const got = rate(
		on,
		price,
		usage.map((one) => read<Usage>("usage_recorded", one)),
		() => rule,
	);
	expect(
		got.map(({ billingItemId, rateId, cost, quantity, dayPrice, unitDays }) => ({
			billingItemId: Number(billingItemId),
			rateId: Number(rateId),
			cost,
			quantity: Number(quantity),
			dayPrice,
			unitDays,
		})),
	).toEqual(rows);
});

test("ties are rounded to even", () => {
	expect([1n, 3n, 5n, 7n].map((n) => halfEven(n, 2n))).toEqual([0n, 2n, 2n, 4n]);
	expect([halfEven(5n, 3n), halfEven(4n, 3n)]).toEqual([2n, 1n]);
});
