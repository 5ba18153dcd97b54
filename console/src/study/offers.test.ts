import { expect, test } from "vitest";
import type { Document } from "../configuration/document";
import { readAxes } from "../lib/study";
import { configurationOffers, firstAxes, nextAxis, simpleOffers } from "./offers";

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

test("a configuration offers its parameters, by paths that the service reads", () => {
	const offers = configurationOffers(document);
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
	const offers = configurationOffers(document);
	const axes = readAxes(firstAxes(offers));
	expect(axes).toEqual([{ field: "components[leaf].typedParameters.Up.DataRate.value", values: "400, 800" }]);
	expect(nextAxis(offers, axes).field).toBe("components[leaf].typedParameters.LoadBalancingMethod.value");
	expect(firstAxes(configurationOffers({ ...document, components: [], applications: [] }))).toBe("globalParameters.SimulationParameters.RandomSeed.value=1, 2");
	expect(nextAxis(simpleOffers(1), readAxes(undefined))).toEqual({ field: "topologyConstraints.switchRadix", values: "64x800G, 128x400G, 256x200G" });
	expect(nextAxis([], axes)).toEqual({ field: "", values: "" });
});
