import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exact, write } from "../api/json";
import type { Document } from "./document";
import { applied, conflict, declarationKey, type Edits, effective, keptOf, keyOf, readings, referenceKey, removing, undone, update, wrongChange } from "./edits";
import type { Declared } from "./references";
import { absent, bounds, holder, type Ref, topology, wrongName } from "./references";

const text = `{"name":"one","globalParameters":{},
"components":[{"name":"leaf","type":"switch","model":"clos-switch-v1","version":"1.0.0","typedParameters":{"Delay":{"value":0.100000000000000000000000000001,"type":"double"}}},
{"name":"spine","type":"switch","model":"clos-switch-v1","version":"1.0.0"},
{"name":"server","type":"server","model":"gpu-server-v1","version":"1.0.0","allowedComponents":["nic","gpu","application"],"components":[{"name":"app","type":"application","count":1,"parentApplicationName":"app"}]}],
"containers":[{"name":"rack","type":"rack","model":"leaf-rack-v1","version":"1.0.0","components":[{"name":"leaf","type":"switch","count":1,"model":"clos-switch-v1","version":"1.0.0"},{"name":"server","type":"server","count":16,"group":"a"}]}],
"applications":[{"name":"app","type":"application","trafficType":"non-coordinated","model":"traffic-generator-v1","version":"1.0.0"}],"links":[],
"topology":{"type":"clos","topologyTiers":1,"components":[{"name":"rack","type":"rack","count":2}],
"appDistribution":{"randomApplicationDistribution":[{"name":"all","parentApplication":"app","applicationType":"client","distributionPercent":{"distributionId":"all","value":1}}]}}}`;
const document = (change: (text: string) => string = (same) => same) => exact(change(text)) as Document & { name: string };
const servers: Ref = { name: "server", type: "server", count: "16", group: "a", application: "" };
const key = referenceKey("rack", "server");

test("a count is sent as it was written, in the section of its holder and no other", () => {
	const made = update(document(), { [key]: { reference: { ...servers, count: " 1048576 " } } });
	expect(Object.keys(made)).toEqual(["containers"]);
	expect(write(made.containers?.[0]?.components)).toBe(
		'[{"name":"leaf","type":"switch","count":1,"model":"clos-switch-v1","version":"1.0.0"},{"name":"server","type":"server","count":1048576,"group":"a"}]',
	);
});

test("references keep their order when they name another, and those that are added stand behind them", () => {
	const edits: Edits = {
		[referenceKey("rack", "leaf")]: { reference: { name: "spine", type: "switch", count: "2", group: "", application: "" } },
		[referenceKey("rack", "other")]: { reference: { ...servers, name: "other", group: "" } },
		[referenceKey(topology, "rack")]: { reference: null },
	};
	const made = applied(document(), edits);
	expect(made.containers[0]?.components?.map(({ name, count, model }) => [name, String(count), model])).toEqual([
		["spine", "2", undefined],
		["server", "16", undefined],
		["other", "16", undefined],
	]);
	expect(made.topology.components).toEqual([]);
	expect(Object.keys(update(document(), edits))).toEqual(["containers", "topology"]);
});

test("what is declared is sent without parameters, and an application brings its entries of the distribution", () => {
	const made = update(document(), {
		[declarationKey("web")]: { declaration: { type: "application", trafficType: "non-coordinated", model: "traffic-generator-v1", version: "1.0.0" } },
		[declarationKey("pod")]: { declaration: { type: "pod", model: "pod-v1", version: "1.0.0" } },
		[referenceKey("pod", "rack")]: { reference: { name: "rack", type: "rack", count: "3", group: "", application: "" } },
	});
	expect(made.containers?.[1]).toMatchObject({ name: "pod", type: "pod", components: [{ name: "rack" }] });
	expect(made.applications?.[1]).toEqual({ name: "web", type: "application", trafficType: "non-coordinated", model: "traffic-generator-v1", version: "1.0.0" });
	const entries = made.topology?.appDistribution?.randomApplicationDistribution ?? [];
	expect(entries.map(({ name, distributionPercent: { value } }) => [name, value])).toEqual([
		["all", 1],
		["web-client", 0],
		["web-server", 1],
	]);
});

test("what is declared is sent with the parameters that were changed, in the types of its model", () => {
	const made = update(document(), {
		[declarationKey("nic")]: { declaration: { type: "nic", model: "roce-nic-v1", version: "1.0.0" } },
		[keyOf("nic", ["NetworkInterface", "Up", "DataRate"])]: { value: " 0.10 ", unit: "Gbps", type: "datarate" },
		[keyOf("nic", ["NetworkInterface", "Up", "Lossless"])]: { value: "true", type: "bool" },
		[keyOf("gone", ["Ports"])]: { value: "1", type: "uint" }, // of nothing that is declared
	});
	expect(Object.keys(made)).toEqual(["components"]);
	expect(write(made.components?.at(-1)?.typedParameters)).toBe('{"NetworkInterface":{"Up":{"DataRate":{"value":0.10,"type":"datarate","unit":"Gbps"},"Lossless":{"value":true,"type":"bool"}}}}');
	// What has been stored keeps its type, and gets no parameter that it does not have.
	expect(write(update(document(), { [keyOf("leaf", ["Delay"])]: { value: "2", type: "uint" }, [keyOf("leaf", ["Up", "Other"])]: { value: "2" } }).components?.[0]?.typedParameters)).toBe(
		'{"Delay":{"value":2,"type":"double"}}',
	);
	const ports = keyOf("nic", ["Ports"]);
	for (const bad of ["-1", "1.5", "x"]) expect(wrongChange(document(), ports, { value: bad, type: "uint" }), bad).toBeDefined();
	expect(wrongChange(document(), ports, { value: "8", type: "uint" })).toBeUndefined();
});

test("removing an entity removes what refers to it and what was changed of it; nothing else", () => {
	const edits = removing(document(), { [keyOf("leaf", ["Delay"])]: { value: "1" }, [key]: { reference: { ...servers, count: "8" } } }, "leaf");
	expect(readings(document(), edits).map(({ label, kind }) => [label, kind])).toEqual([
		["rack: holds server", "changed"],
		["rack: holds leaf", "removed"],
		["Declaration of leaf", "removed"],
	]);
	const app = applied(document(), removing(document(), {}, "app"));
	expect([app.applications, holder(app, "server")?.references, app.topology.appDistribution?.randomApplicationDistribution]).toEqual([[], [], []]);
	const part = document((same) => same.replace('{"name":"app","type":"application","count"', '{"name":"part","type":"application","count"'));
	expect(holder(applied(part, removing(part, {}, "app")), "server")?.references).toEqual([]);
});

test("taking back a declaration takes back what refers to it", () => {
	const added: Edits = {
		[declarationKey("other")]: { declaration: { type: "server", model: "gpu-server-v1", version: "1.0.0" } },
		[referenceKey("rack", "other")]: { reference: { ...servers, name: "other" } },
		[key]: { reference: null },
	};
	expect(Object.keys(undone(added, declarationKey("other")))).toEqual([key]);
	expect(Object.keys(removing(document(), added, "other"))).toEqual([key]);
	expect(effective(document(), { ...added, [key]: { reference: servers } })).not.toHaveProperty([key]);
});

test("tiers and shares are numbers within the bounds of the contract", () => {
	const share = keyOf(topology, ["Share", "app", "all"]);
	const made = update(document(), { [keyOf(topology, ["topologyTiers"])]: { value: "3" }, [share]: { value: "0.25" } });
	expect(write(made.topology)).toContain('"topologyTiers":3');
	expect(write(made.topology)).toContain('{"distributionId":"all","value":0.25}');
	for (const bad of ["1.5", "-0.1", "x"]) expect(wrongChange(document(), share, { value: bad }), bad).toBeDefined();
	for (const bad of ["", "0", "-1", "1.5", "1048577", "1e3", "01", "10000000"]) expect(wrongChange(document(), key, { reference: { ...servers, count: bad } }), bad).toBeDefined();
	for (const good of ["1", " 7 ", "1048576"]) expect(wrongChange(document(), key, { reference: { ...servers, count: good } }), good).toBeUndefined();
});

test("names are those of the contract, and free", () => {
	for (const bad of ["", "-a", "a b", "<b>", "a".repeat(65), "leaf", "app", "rack"]) expect(wrongName(document(), bad), bad).toBeDefined();
	for (const good of ["leaf2", "A.b_c-d", "0", "a".repeat(64)]) expect(wrongName(document(), good), good).toBeUndefined();
});

test("a conflict of references and declarations has what is not there on either side", () => {
	const theirs = document((same) =>
		same
			.replace('"count":16,"group":"a"', '"count":32')
			.replace(/\{"name":"spine"[^}]*\},\n/, "")
			.replace(',"count":2}', ',"count":2},{"name":"leaf","type":"switch","count":1}'),
	);
	const edits: Edits = {
		[key]: { reference: { ...servers, count: "8" } },
		[declarationKey("pod")]: { declaration: { type: "pod", model: "pod-v1", version: "1.0.0" } },
		...removing(document(), {}, "spine"),
	};
	expect(conflict(document(), theirs, edits).map(({ label, who, before, theirs: them, yours }) => [label, who, before, them, yours])).toEqual([
		["rack: holds server", "both", "16 × server (server), group a", "32 × server (server)", "8 × server (server), group a"],
		["Declaration of pod", "you", absent, absent, "a pod, pod-v1 1.0.0"],
		["Topology: holds leaf", "they", absent, "1 × leaf (switch)", undefined],
	]);
});

test("in a conflict, the parameters of what only the edits declare go with its declaration", () => {
	const [nic, rate, delay] = [declarationKey("nic"), keyOf("nic", ["DataRate"]), keyOf("leaf", ["Delay"])];
	const edits: Edits = {
		[nic]: { declaration: { type: "nic", model: "roce-nic-v1", version: "1.0.0" } },
		[rate]: { value: "200", unit: "Gbps", type: "datarate" },
		[delay]: { value: "3" },
	};
	const theirs = document((same) => same.replace('"count":16', '"count":32'));
	const rows = conflict(document(), theirs, edits);
	expect(rows.map(({ label }) => label)).toEqual(["leaf: Delay", "Declaration of nic", "rack: holds server"]);
	expect(Object.keys(keptOf(edits, rows, () => true))).toEqual([nic, rate, delay]);
	expect(Object.keys(keptOf(edits, rows, ({ key }) => key === delay))).toEqual([delay]);
	expect(keptOf(edits, rows, () => false)).toEqual({});
	// If they declared the same name, its parameters are members of their own.
	const both = document((same) =>
		same.replace(
			'"components":[{"name":"leaf"',
			'"components":[{"name":"nic","type":"nic","model":"roce-nic-v1","version":"1.0.0","typedParameters":{"DataRate":{"value":100,"type":"datarate","unit":"Gbps"}}},{"name":"leaf"',
		),
	);
	expect(conflict(document(), both, edits).map(({ label, theirs: them, yours }) => [label, them, yours])).toContainEqual(["nic: DataRate", "100 Gbps", "200 Gbps"]);
});

test("parameters that went with their entity are no members of a conflict", () => {
	const theirs = document((same) => same.replace('"name":"leaf","type":"switch","model"', '"name":"gone","type":"switch","model"'));
	expect(conflict(document(), theirs, {}).map(({ label }) => label)).toEqual(["Declaration of leaf", "Declaration of gone"]);
});

test("the bounds and what a holder may hold are those of the contract", () => {
	const contract = readFileSync(new URL("../../../api/openapi.yaml", import.meta.url), "utf8");
	const schema = (name: string) => contract.match(new RegExp(`^    ${name}:\\n((?:      .*\\n)*)`, "m"))?.[1] ?? "";
	const types = (name: string) =>
		schema(name)
			.match(/type: \{type: string, enum: \[(.*)\]\}/)?.[1]
			?.split(", ");
	expect(schema("Reference")).toContain(`count: {type: integer, minimum: 1, maximum: ${bounds.count},`);
	expect(schema("Reference")).toContain(`group: {type: string, maxLength: ${bounds.group}}`);
	expect(schema("Topology")).toContain("topologyTiers: {type: integer, minimum: 1, maximum: 3,");
	expect(schema("EntityName")).toContain("maxLength: 64");
	const fresh = (type: string) => ({ ...document(), components: [{ name: "x", type }], containers: [{ name: "y", type }] }) as unknown as Document & { components: Declared[] };
	expect(holder(fresh("server"), "x")?.allowed).toEqual(types("ServerReferenceAdd"));
	expect(holder({ ...document(), topology: { ...document().topology } }, topology)?.allowed).toEqual(types("TopologyReferenceAdd"));
	const containers = ["rack", "pod"].flatMap((type) => holder(fresh(type), "y")?.allowed ?? []);
	expect([...new Set(containers)].sort()).toEqual(types("ContainerReferenceAdd")?.sort());
});
