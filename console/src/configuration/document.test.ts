import { expect, test } from "vitest";
import { exact, write } from "../api/json";
import { type Document, tree } from "./document";
import { conflict, effective, keyOf, ownName, update } from "./edits";
import { at, boundsText, rounded, wrong } from "./parameters";

const text = `{"name":"one","globalParameters":{"SimulationParameters":{"RandomSeed":{"value":9007199254740993,"type":"uint"}}},
"components":[{"name":"leaf","type":"switch","model":"m-v1","version":"1.0.0","typedParameters":{"Delay":{"value":0.100000000000000000000000000001,"type":"timeval","unit":"ns"},"Ports":{"value":8,"type":"uint"}}},
{"name":"spare","type":"switch","model":"m-v1","version":"1.0.0"}],
"containers":[{"name":"rack","type":"rack","model":"r-v1","version":"1.0.0","components":[{"name":"leaf","type":"switch","count":4},{"name":"rack","type":"rack"}]}],
"applications":[{"name":"app","type":"application"}],"links":[],"topology":{"components":[{"name":"rack","type":"rack"}],"topologyTiers":1}}`;
const document = (change: (text: string) => string = (same) => same) => exact(change(text)) as Document & { name: string };
const ports = keyOf("leaf", ["Ports"]);
const delay = keyOf("leaf", ["Delay"]);
const seed = keyOf("", ["SimulationParameters", "RandomSeed"]);

test("an update has the sections of its edits, and every other number as it came", () => {
	const made = update(document(), { [ports]: { value: "18446744073709551616" } });
	expect(Object.keys(made)).toEqual(["components"]);
	expect(write(made)).toContain('"value":0.100000000000000000000000000001');
	expect(write(made)).toContain('"Ports":{"value":18446744073709551616,"type":"uint"}');
	expect(Object.keys(update(document(), { [seed]: { value: "1" }, [ownName]: { value: " two " } }))).toEqual(["name", "globalParameters"]);
});

test("an edit back to what there was is none", () => {
	expect(effective(document(), { [ports]: { value: "8" }, [delay]: { value: "1", unit: "us" } })).toEqual({ [delay]: { value: "1", unit: "us" } });
});

test("a conflict has what both changed first, and nothing that is equal", () => {
	const theirs = document((same) => same.replace('"value":8,', '"value":16,').replace("9007199254740993", "9007199254740995").replace('"one"', '"<b>two</b>"'));
	const rows = conflict(document(), theirs, { [ports]: { value: "32" }, [delay]: { value: "1", unit: "us" }, [ownName]: { value: "<b>two</b>" } });
	expect(rows.map(({ who, before, theirs: them, yours }) => [who, before, them, yours])).toEqual([
		["both", "8", "16", "32"],
		["you", "0.100000000000000000000000000001 ns", "0.100000000000000000000000000001 ns", "1 us"],
		["they", "9007199254740993", "9007199254740995", undefined],
	]);
});

test("what the others removed has no side of theirs", () => {
	const theirs = document((same) => same.replace('"name":"leaf","type":"switch","model"', '"name":"gone","type":"switch","model"'));
	expect(conflict(document(), theirs, { [ports]: { value: "32" } }).find((row) => row.key === ports)).toMatchObject({ theirs: undefined, yours: "32", who: "both" });
});

test("a document that contains itself has an end, and what nothing uses is named", () => {
	const { used, applications, unused } = tree(document());
	expect(used[0]?.uses.map((use) => [use.name, use.count, use.uses.length])).toEqual([
		["leaf", 4, 0],
		["rack", 1, 0],
	]);
	expect([applications[0]?.name, unused.map((use) => use.name)]).toEqual(["app", ["spare"]]);
});

test("only numbers of JSON are numbers", () => {
	for (const good of ["0", "1.5", "1e-6", "9".repeat(30)]) expect(wrong({ type: "double" }, good), good).toBeUndefined();
	for (const bad of ["", "1.", ".5", "01", "+1", "0x1", "NaN", "1,5", "<b>"]) expect(wrong({ type: "double" }, bad), bad).toBeDefined();
	expect(["0.100000000000000000000000000001", "0.10", "1e-6", "0.000001", "123456789012345678", "x"].map((text) => rounded("double", text))).toEqual([
		"0.1",
		undefined,
		undefined,
		undefined,
		"123456789012345680",
		undefined,
	]);
	expect(wrong({ type: "uint" }, "-1")).toBeDefined();
	expect(wrong({ type: "string" }, "<b>")).toBeUndefined();
});

test("bounds have their units, and names of prototypes are no parameters", () => {
	expect(boundsText({ value: 1, type: "timeval", min: { value: 0, unit: "s" }, max: { value: 9007199254740993n, unit: "s" } })).toBe("0 s to 9007199254740993 s");
	expect(at({}, ["constructor"])).toBeUndefined();
});
