import { expect, test } from "vitest";
import type { StudyAxis, StudyResult } from "../api/contract";
import { type Heat, heat } from "./heat";

const axes = [
	{ field: "workload.ranks", values: [8, 16] },
	{ field: "topologyConstraints.subscriptionRatio", values: ["1:1", "2:1", "4:1"] },
	{ field: "workload.phases[0].dataSize", values: [1024, 4096] },
] as const;

const [ranks, ratio, size] = axes.map((axis) => ({ ...axis, values: [...axis.values] })) as [StudyAxis, StudyAxis, StudyAxis];

function point(number: number, ...values: unknown[]): StudyResult {
	return {
		point: number,
		status: "completed",
		shared: false,
		inputs: Object.fromEntries(axes.map((axis, at) => [axis.field, values[at]])),
		fabric: { price: "12.5", powerWatts: "1", switches: 1, nics: 1, links: 1 },
	};
}

function timed(one: StudyResult, simulatedTimePs: number): StudyResult {
	return { ...one, figures: { simulatedTimePs } as StudyResult["figures"] } as StudyResult;
}

/** The numbers and shades of the cells. */
const seen = (map: Heat) => map.cells.map((row) => row.map((cell) => cell && [cell.point.point, cell.shade]));

test("a map has the points of the fixed values only, shaded by the logarithm", () => {
	const points = [timed(point(0, 8, "1:1", 1024), 100), timed(point(1, 8, "1:1", 4096), 7), timed(point(2, 16, "2:1", 1024), 1000), timed(point(3, 16, "4:1", 1024), 10_000), point(4, 8, "4:1", 1024)];
	const map = heat(points, ratio, ranks, [{ field: size.field, value: "1024" }], "time");
	expect(map.across).toEqual(["1:1", "2:1", "4:1"]);
	expect(map.down).toEqual(["8", "16"]);
	expect(seen(map)).toEqual([
		[[0, 0], undefined, undefined],
		[undefined, [2, 4], [3, 7]],
	]);
});

test("a price needs no result, and equal values have one shade", () => {
	const map = heat([point(0, 8, "1:1", 1024), point(1, 16, "1:1", 1024)], ratio, ranks, [{ field: size.field, value: "1024" }], "price");
	expect(seen(map)).toEqual([
		[[0, 0], undefined, undefined],
		[[1, 0], undefined, undefined],
	]);
});

test("of replicates the median counts", () => {
	const one = timed(point(0, 8, "1:1", 1024), 5);
	const repeated = { ...point(1, 16, "1:1", 1024), replicates: { completed: 3, medianTimePs: 50, runs: [] } };
	expect(seen(heat([one, repeated], ratio, ranks, [], "time")).map((row) => row[0])).toEqual([
		[0, 0],
		[1, 7],
	]);
});

test("the values of a list may repeat, and the map has each once", () => {
	const map = heat([timed(point(0, 8, "1:1"), 10), timed(point(1, 8, "2:1"), 20)], { ...ranks, values: [8, 8] }, { ...ratio, values: ["1:1", "2:1"] }, [], "time");
	expect(map.across).toEqual(["8"]);
	expect(seen(map)).toEqual([[[0, 0]], [[1, 7]]]);
});
