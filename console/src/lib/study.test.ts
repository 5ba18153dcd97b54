import { expect, test } from "vitest";
import { readAxes, readStudy, study, valuesOf, writeAxes } from "./study";

test("axes stand in the address and come back", () => {
	const axes = [
		{ field: "topologyConstraints.subscriptionRatio", values: "1:1, 2:1" },
		{ field: "workload.ranks", values: "64,128" },
	];
	expect(readAxes(writeAxes(axes))).toEqual(axes);
	expect(readAxes("workload.ranks")).toEqual([{ field: "workload.ranks", values: "" }]);
});

test("values are numbers where they are written as such, and sizes are bytes", () => {
	expect(valuesOf({ field: "workload.ranks", values: "64, 0128, 1:1, true," })).toEqual([64, "0128", "1:1", true]);
	expect(valuesOf({ field: "workload.phases[0].dataSize", values: "1 MiB, 4096, many" })).toEqual([1048576, 4096, "many"]);
});

test("what is the default is absent from the request", () => {
	const plain = study(readStudy({ study: "s", axes: "workload.ranks=8", replicates: "1" }));
	expect(plain).toMatchObject({ name: "s", axes: [{ field: "workload.ranks", values: [8] }], base: { simple: { workload: { ranks: 64 } } } });
	expect(plain).not.toHaveProperty("replicates");
	expect(plain).not.toHaveProperty("stopDominated");
	expect(study(readStudy({ replicates: "3", stop: "true" }))).toMatchObject({ replicates: 3, stopDominated: true });
});
