import { expect, test } from "vitest";
import { write } from "../api/json";
import { combinations, readAxes, readStudy, rowsOf, study, valuesOf, writeAxes } from "./study";

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
	expect(plain).not.toHaveProperty("method");
	expect(study(readStudy({ replicates: "3", stop: "true" }))).toMatchObject({ replicates: 3, stopDominated: true });
});

test("numbers keep their digits, and null is none", () => {
	expect(write(valuesOf({ field: "components[nic].x.value", values: "0.10, 9007199254740993, 1e3, 1.2.3, null, true" }))).toBe('[0.10,9007199254740993,1e3,"1.2.3",null,true]');
});

test("a configuration is the base with its version and duration", () => {
	const search = { configuration: "config_a", axes: "duration=1s", ranks: "8" };
	expect(readStudy(search)).toMatchObject({ base: "configuration" });
	expect(study(readStudy(search)).base).toEqual({ configuration: { configurationId: "config_a", duration: "1h" } });
	expect(study(readStudy({ ...search, version: "3", duration: "2s" })).base).toEqual({ configuration: { configurationId: "config_a", configurationVersion: 3, duration: "2s" } });
	expect(readStudy({ base: "else" })).not.toHaveProperty("base");
});

test("a sample has its size and seed, other methods have neither", () => {
	const search = { axes: "workload.ranks=8,16,32;topologyConstraints.subscriptionRatio=1:1,2:1", samples: "4", seed: "7" };
	expect(study(readStudy({ ...search, method: "sample" }))).toMatchObject({ method: "sample", samples: 4, seed: 7 });
	for (const method of ["list", "grid"]) {
		const asked = study(readStudy({ ...search, method }));
		expect(asked).not.toHaveProperty("samples");
		expect(asked).not.toHaveProperty("seed");
		expect(asked.method).toBe(method === "list" ? "list" : undefined);
	}
	expect(combinations(readAxes(search.axes))).toBe(6);
});

test("a list has as many points as its longest axis has values, and other methods have no rows", () => {
	const axes = readAxes("workload.ranks=8,16,32;topologyConstraints.subscriptionRatio=1:1");
	expect(rowsOf({ method: "list" }, axes)).toBe(3);
	expect(rowsOf({ method: "sample" }, axes)).toBeUndefined();
	expect(rowsOf({}, axes)).toBeUndefined();
});
