import { expect, test } from "vitest";
import { differing, readCompare, runsOf } from "./compare";
import { query, readFilters, toggled } from "./filters";
import { parseSearch, stringifySearch } from "./search";
import { formOf, readPhases, readSubmission, submission, writePhases } from "./submission";

test("filters come back from their address", () => {
	const filters = { status: "running,failed", search: "a b&c=ü,<x>", sort: "name:asc", createdAfter: "2026-11-01" };
	expect(stringifySearch(filters)).toContain("status=running,failed");
	expect(readFilters(parseSearch(stringifySearch(filters)))).toEqual(filters);
});

test("what is unknown or the default is left out", () => {
	expect(readFilters(parseSearch("?status=failed,nonsense,failed&sort=size:asc&createdAfter=yesterday&x=1"))).toEqual({ status: "failed" });
	expect(readFilters({ sort: "created:desc", search: "" })).toEqual({});
});

test("the API gets instants", () => {
	expect(query({ createdAfter: "2026-11-01", selected: "x" })).toMatchObject({ createdAfter: "2026-11-01T00:00:00.000Z" });
	expect(query({ selected: "x" })).not.toHaveProperty("selected");
});

test("an item is switched on and off", () => {
	expect(toggled(undefined, "a")).toBe("a");
	expect(toggled("a,b", "a")).toBe("b");
	expect(toggled("a", "a")).toBeUndefined();
});

test("a form comes back from its address, and is the request", () => {
	const form = {
		name: "n",
		ranks: "128",
		phases: writePhases([
			{ operation: "allReduce", algorithm: "ring", bytes: 1024 },
			{ operation: "allToAll", bytes: 5 },
		]),
		subscription: "4:1",
	};
	expect(readSubmission(parseSearch(stringifySearch(form)))).toEqual(form);
	expect(submission(form)).toEqual({
		name: "n",
		workload: {
			ranks: 128,
			phases: [
				{ operationType: "allReduce", algorithm: "ring", dataSize: 1024 },
				{ operationType: "allToAll", dataSize: 5 },
			],
		},
		topologyConstraints: { subscriptionRatio: "4:1" },
	});
	expect(submission({})).toEqual({ workload: { ranks: 64, phases: [{ operationType: "allReduce", dataSize: 1048576 }] } });
	expect(readPhases("allReduce:ring:9e9")).toEqual([{ operation: "allReduce", algorithm: "ring", bytes: 0 }]);
});

const id = (n: number) => `sim_${String(n).padStart(26, "0")}`;

test("at most eight runs are compared, and the baseline is one of them", () => {
	expect(runsOf([1, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(id).join(","))).toHaveLength(8);
	expect(readCompare({ runs: `${id(1)},${id(2)},nonsense`, baseline: id(2) })).toEqual({ runs: `${id(1)},${id(2)}`, baseline: id(2) });
	expect(readCompare({ runs: id(1), baseline: id(2) })).toEqual({ runs: id(1) });
});

test("only what differs is shown", () => {
	const rows = [{ values: [1, 1] }, { values: [1, 2] }, { values: [undefined, 0] }, { values: [undefined, undefined] }];
	expect(differing(rows)).toEqual([rows[1], rows[2]]);
});

test("a run is a prepared submission again, unless it has several groups", () => {
	const group = '{"count":1,"groupSize":256,"phases":[{"algorithm":"ring","dataSize":4194304,"operationType":"allReduce"}]}';
	const form = formOf(`{"groups":[${group}],"topologyConstraints":{"subscriptionRatio":"4:1","switchRadix":"128x400G"}}`, "again");
	expect(submission(form ?? {})).toEqual({
		name: "again",
		workload: { ranks: 256, phases: [{ operationType: "allReduce", algorithm: "ring", dataSize: 4194304 }] },
		topologyConstraints: { switchRadix: "128x400G", subscriptionRatio: "4:1" },
	});
	expect(formOf(`{"groups":[${group},${group}],"topologyConstraints":{}}`, "two")).toBeUndefined();
});
