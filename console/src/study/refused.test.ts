import { expect, test } from "vitest";
import { Refusal } from "../api/client";
import { refusedField } from "./refused";

const axes = [
	{ field: "workload.phases[0].algorithm", values: "ring, nonsense" },
	{ field: "components[nic].typedParameters.NetworkInterface.UplinkNetworkInterface.DataRate.value", values: "0" },
	{ field: "workload.phasesx", values: "1" },
];
const field = (message: string) => refusedField(new Refusal(400, message), axes)?.field;

test("a refusal is at the field that it names", () => {
	expect(field("name must be 1 to 200 letters, got 'a b'")).toBe("name");
	expect(field("samples must be between 1 and 2, the combinations of the axes up to 10000; got 3")).toBe("samples");
	expect(field("seed must be between 0 and 9007199254740991, got -1")).toBe("seed");
	expect(field("axes[1].values[1] must differ from values[0], got 8")).toBe("axes[1].values");
	expect(field("axes[0].field must begin with one of [applications], got 'workload'")).toBe("axes[0].field");
	expect(field("axes[0].values[0]: tracesetId ts_x is unknown")).toBe("axes[0].values");
	expect(field("base.simple.workload.phases[0].dataSize must be between 1 and 1099511627776, got 0")).toBe("base.simple.workload.phases[0].dataSize");
	expect(field("base.configuration.duration must be a duration such as 10m, got '1y'")).toBe("base.configuration.duration");
	expect(field("configuration config_01m8cg4v0gfsjsva125y3gbk0a has no version 9")).toBe("base.configuration.configurationVersion");
	expect(field("configuration config_01m8cg4v0gfsjsva125y3gbabc does not exist")).toBe("base.configuration.configurationId");
});

test("a point that cannot run is at the axis that its reason names", () => {
	expect(field(`point 1 (workload.phases[0].algorithm="nonsense"): algorithm 'nonsense' is not compatible with operation 'allReduce'`)).toBe("axes[0].values");
	expect(field(`point 0 (a=0, duration="1s"): parameter NetworkInterface.UplinkNetworkInterface.DataRate is 0Gbps; set it to between 1Mbps and 10Tbps`)).toBe("axes[1].values");
	expect(field(`point 0 (workload.phasesx="ring"): workload.phasesx is unknown; known members: phases, ranks`)).toBe("axes[2].field");
	expect(field(`point 0 (workload.phasesx=1): workload.phasesx: the base has no such field`)).toBe("axes[2].field");
	expect(field(`point 0 (workload.phasesx=1): workload.phasesx must be an integer, got 'x'`)).toBe("axes[2].values");
	expect(field("point 0 (x=1): workload.ranks must be at least 2, got 1")).toBe("base.simple.workload.ranks");
});

test("a message counts axes and values as the form does", () => {
	const said = (message: string) => refusedField(new Refusal(400, message), axes)?.message;
	expect(said("axes[1].values must have 2 values like axes[0].values, got 1")).toBe("the values of axis 2 must have 2 values like the values of axis 1, got 1");
	expect(said("axes[0].values[1]: tracesetId ts_x is unknown")).toBe("value 2 of axis 1: tracesetId ts_x is unknown");
	expect(said("samples must be between 1 and 2, got 3")).toBe("samples must be between 1 and 2, got 3");
});

test("what names no field is at none", () => {
	expect(field("the points have more than 1000 different documents")).toBeUndefined();
	expect(field("names are not here")).toBeUndefined();
	expect(field("point 3 (x=1): the network has no path between two of its servers")).toBeUndefined();
	expect(refusedField(new Error("samples"), axes)).toBeUndefined();
});
