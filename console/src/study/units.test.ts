import { expect, test } from "vitest";
import type { Document } from "../configuration/document";
import { inputWords } from "./heat";
import { unitAt, unitOf } from "./units";

const rate = (unit: string) => ({ DataRate: { value: 400, type: "datarate", unit }, Ports: { value: 8, type: "uint" } });
const document = (unit: string) =>
	({
		components: [{ name: "spine" }, { name: "leaf.a", typedParameters: { Up: rate(unit) } }],
		globalParameters: { SimulationParameters: { Beacon: { value: 1, type: "timeval", unit: "us" } } },
	}) as unknown as Document;
const field = "components[leaf.a].typedParameters.Up.DataRate.value";

test("a value has the unit that the document declares beside it, by the name or the number of its entity", () => {
	expect(unitAt(document("Gbps"), field)).toBe("Gbps");
	expect(unitAt(document("Mbps"), "components[1].typedParameters.Up.DataRate.value")).toBe("Mbps");
	expect(unitAt(document("Gbps"), "globalParameters.SimulationParameters.Beacon.value")).toBe("us");
	for (const none of [
		"components[leaf.a].typedParameters.Up.Ports.value",
		"components[leaf.a].typedParameters.Up.DataRate.unit",
		"components[spine].typedParameters.Up.DataRate.value",
		"components[x].y.value",
		"tracesetId",
		"duration",
	])
		expect(unitAt(document("Gbps"), none), none).toBeUndefined();
});

test("documents of different units, and an axis over the unit, say none", () => {
	expect(unitOf([document("Gbps"), document("Gbps")], [field], field)).toBe("Gbps");
	expect(unitOf([document("Gbps"), document("Mbps")], [field], field)).toBeUndefined();
	expect(unitOf([document("Gbps")], [field, field.replace("value", "unit")], field)).toBeUndefined();
	expect(unitOf([], [field], field)).toBeUndefined();
});

test("inputs are said with their units, in the units of the console", () => {
	expect(inputWords(field, 400, "Gbps")).toBe("400\u00a0Gbit/s");
	expect(inputWords(field, "0.5", "us")).toBe("0.5\u00a0µs");
	expect(inputWords("x.value", 4096, "B")).toBe("4096\u00a0B");
	expect(inputWords("workload.phases[0].dataSize", 1048576)).toBe("1\u00a0MiB");
	expect(inputWords("mappingFileId", null)).toBe("none");
	expect(inputWords("mode", "ring")).toBe("ring");
});
