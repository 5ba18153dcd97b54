import { expect, test } from "vitest";
import { promotion, ready, wider } from "./promotion";

const own = { scope: "workspace", status: "ready", description: "a ring" } as const;

test("one step at a time, of what is ready", () => {
	expect([wider(own), wider({ ...own, scope: "tenant" }), wider({ ...own, scope: "public" })]).toEqual(["tenant", "public", undefined]);
	for (const status of ["uploading", "processing", "invalid"] as const) expect(wider({ ...own, status } as Parameters<typeof wider>[0]), status).toBeUndefined();
});

test("the workload is asked for when nothing is said of it, and only then", () => {
	const said = { description: " a ring ", family: "", model: "" };
	expect([ready(own, said), ready({ ...own, workloadMetadata: {} }, said), ready({ ...own, workloadMetadata: { workloadFamily: "ring" } }, said)]).toEqual([false, false, true]);
	expect(promotion({ ...own, workloadMetadata: { workloadFamily: "ring" } }, "public", { ...said, family: "other" })).toEqual({ target: "public" });
	expect(promotion(own, "tenant", { description: "two rings", family: " ring ", model: "m" })).toEqual({
		target: "tenant",
		description: "two rings",
		workloadMetadata: { workloadFamily: "ring", modelName: "m" },
	});
});
