import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { attemptWords, changed, created, emptyForm, families, filterWords, formOf, offeredTypes, replayFrom, turned } from "./webhooks";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

test("the types and families that are offered are those of the service", () => {
	const types = new Set(
		read("events/testdata/fields.txt")
			.split("\n")
			.map((line) => line.split(" ")[0]),
	);
	for (const type of offeredTypes) expect(types, type).toContain(type);
	const [, listed = ""] = /\n {4}EventFamily:\n\s+type: string\n\s+enum: \[([^\]]+)\]/.exec(read("api/openapi.yaml")) ?? [];
	expect([...families].sort()).toEqual(listed.split(", ").sort());
});

test("a form asks for what it says, and for no more", () => {
	expect(created({ ...emptyForm, url: " https://ci.example/hooks " })).toEqual({ url: "https://ci.example/hooks" });
	const whole = { url: "https://ci.example/hooks", description: "nightly", types: "a.v1, b.v1", family: "simulations", stream: "sim_a", workspace: "workspace_a" };
	expect(created({ ...whole, types: " a.v1,, b.v1 ,a.v1" })).toEqual({
		url: whole.url,
		description: "nightly",
		filter: { type: ["a.v1", "b.v1"], family: "simulations", stream: "sim_a", workspace: "workspace_a" },
	});
	expect(formOf(changed(whole))).toEqual(whole);
	// A change replaces the whole filter, and an empty description removes it.
	expect(changed({ ...emptyForm, url: "https://ci.example" })).toEqual({ url: "https://ci.example", description: "", filter: {} });
});

test("a type is put in and taken out", () => {
	expect(turned("", "a.v1")).toBe("a.v1");
	expect(turned("a.v1,b.v1", "c.v1")).toBe("a.v1, b.v1, c.v1");
	expect(turned("a.v1, b.v1", "a.v1")).toBe("b.v1");
});

test("a filter in words", () => {
	expect(filterWords({})).toBe("every event that its maker may see");
	expect(filterWords({ type: ["a.v1", "b.v1"], family: "billing", stream: "acct_a", workspace: "workspace_a" }, () => "default")).toBe(
		"a.v1 or b.v1, of the family billing, of the stream acct_a, of the workspace default",
	);
});

test("a replay begins at a time in UTC, or after a position", () => {
	expect(replayFrom("since", "2026-11-21T08:00")).toEqual({ since: "2026-11-21T08:00:00.000Z" });
	expect(replayFrom("since", "2026-11-21T08:00:05")).toEqual({ since: "2026-11-21T08:00:05.000Z" });
	expect(replayFrom("since", "")).toBeUndefined();
	expect(replayFrom("position", " eyJ9 ")).toEqual({ lastEventId: "eyJ9" });
	expect(replayFrom("position", " ")).toBeUndefined();
});

test("what came of an attempt", () => {
	expect(attemptWords({ status: 200, durationMs: 38 })).toBe("answered 200 after 38\u00a0ms");
	expect(attemptWords({ status: 500, durationMs: 38, error: "the receiver answered 500" })).toBe("answered 500 after 38\u00a0ms");
	expect(attemptWords({ status: 200, durationMs: 0 })).toBe("answered 200 after less than 1\u00a0ms");
	expect(attemptWords({ durationMs: 15_000, error: "no address is public" })).toBe("no answer after 15\u00a0s: no address is public");
});
