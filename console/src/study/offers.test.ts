import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Document } from "../configuration/document";
import { readAxes, valuesOf } from "../lib/study";
import { configurationOffers, defaults, firstAxes, nextAxis, simpleOffers } from "./offers";

const rate = { value: 400, type: "datarate", unit: "Gbps" };
const component = (name: string, typedParameters: object) => ({ name, type: "switch", model: "m", version: "1", typedParameters });
const document = {
	components: [component("leaf", { LoadBalancingMethod: { value: "none", type: "string" }, Up: { DataRate: rate } }), component("a;[b]", { Down: { DataRate: rate } })],
	links: [],
	applications: [component("app", { ChakraConfiguration: { NumOfChakraFiles: { value: 8, type: "uint" }, Scaling: { value: false, type: "bool" }, Names: { value: "a,b;c", type: "string" } } })],
	containers: [],
	topology: {},
	globalParameters: { SimulationParameters: { RandomSeed: { value: 1, type: "uint" }, Version: { value: 1, type: "uint", readonly: true } } },
} as unknown as Document;

const whole = { duration: "1h", traceset: "ts_a", mappingFile: undefined };

test("a configuration offers its parameters, by paths that the service reads", () => {
	const offers = configurationOffers(document, whole);
	expect(offers.map(({ field, values }) => `${field} = ${values}`)).toEqual([
		"components[leaf].typedParameters.LoadBalancingMethod.value = none",
		"components[leaf].typedParameters.Up.DataRate.value = 400, 800",
		"components[1].typedParameters.Down.DataRate.value = 400, 800",
		"applications[app].typedParameters.ChakraConfiguration.Scaling.value = false, true",
		"applications[app].typedParameters.ChakraConfiguration.Names.value = abc",
		"globalParameters.SimulationParameters.RandomSeed.value = 1, 2",
		"duration = 1ms, 1s",
		"tracesetId = ",
		"mappingFileId = ",
		"templateId = ",
	]);
	expect(offers[1]).toMatchObject({ label: "leaf: Up › DataRate", group: "leaf" });
	expect(offers[5]).toMatchObject({ group: "Global" });
});

test("a study of a configuration begins with a rate, and goes on with what has no axis yet", () => {
	const offers = configurationOffers(document, whole);
	const axes = readAxes(firstAxes(offers));
	expect(axes).toEqual([{ field: "components[leaf].typedParameters.Up.DataRate.value", values: "400, 800" }]);
	expect(nextAxis(offers, axes).field).toBe("components[leaf].typedParameters.LoadBalancingMethod.value");
	expect(firstAxes(configurationOffers({ ...document, components: [], applications: [] }, whole))).toBe("globalParameters.SimulationParameters.RandomSeed.value=1, 2");
	expect(nextAxis(simpleOffers({}), readAxes(undefined))).toEqual({ field: "topologyConstraints.subscriptionRatio", values: "1:1, 2:1, 4:1" });
	expect(nextAxis([], axes)).toEqual({ field: "", values: "" });
});

test("in a list, a further axis has what the base has in each row", () => {
	const offers = simpleOffers({ ranks: "128", phases: "allReduce::1048577,allReduce:ring:4096", subscription: "2:1" });
	const all = (rows: number) => offers.map((_offer, at) => nextAxis(offers.slice(at), [], rows)).map(({ field, values }) => `${field} = ${values}`);
	expect(all(2)).toEqual([
		"topologyConstraints.switchRadix = 128x400G, 128x400G",
		"topologyConstraints.subscriptionRatio = 2:1, 2:1",
		"workload.ranks = 128, 128",
		"workload.phases[0].dataSize = 1048577 B, 1048577 B",
		"workload.phases[1].dataSize = 4 KiB, 4 KiB",
		"workload.phases[0].algorithm = ring, ring", // that of the operation is not known here
		"workload.phases[1].algorithm = ring, ring",
	]);
	for (const [at, { field, values }] of offers.map((_offer, at) => [at, nextAxis(offers.slice(at), [], 3)] as const)) expect(valuesOf({ field, values }), String(at)).toHaveLength(3);
	const parts = configurationOffers(document, whole);
	const first = (field: string) => nextAxis(parts.slice(parts.findIndex((one) => one.field === field)), [], 3).values;
	expect(first("components[leaf].typedParameters.Up.DataRate.value")).toBe("400, 400, 400");
	expect(first("applications[app].typedParameters.ChakraConfiguration.Scaling.value")).toBe("false, false, false");
	expect([first("duration"), first("tracesetId"), first("mappingFileId"), first("templateId")]).toEqual(["1h, 1h, 1h", "ts_a, ts_a, ts_a", "null, null, null", ""]);
});

test("what a submission has where it says nothing is what the contract says", () => {
	const contract = readFileSync(new URL("../../../api/openapi.yaml", import.meta.url), "utf8");
	const constraints = contract.match(/^ {4}TopologyConstraints:\n((?: {6}.*\n)*)/m)?.[1] ?? "";
	for (const [field, value] of Object.entries(defaults))
		expect(
			constraints
				.replaceAll("'", "")
				.split(`${field.split(".")[1]}:`)[1]
				?.match(/`(\S+)` when absent/)?.[1],
			field,
		).toBe(value);
});
