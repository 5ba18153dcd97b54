// The journey (../run) with the types of openapi-typescript and the client openapi-fetch.
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const client = createClient<paths>({ baseUrl: process.env.NETSIM_URL!, headers: { Authorization: `Bearer ${process.env.NETSIM_TOKEN}` } });

/** The result of a call, or its error, which has one type in every operation. */
async function ok<Data>(call: Promise<{ data?: Data; error?: components["schemas"]["Error"]; response: Response }>): Promise<Data> {
	const { data, error } = await call;
	if (error) throw new Error(`${error.error.code}: ${error.error.message}`);
	return data!;
}

async function until(done: () => Promise<boolean>) {
	while (!(await done())) await setTimeout(100);
}

const workspace = await ok(client.POST("/api/v1/workspaces", { body: { name: "by openapi-fetch" } }));
const { templates } = await ok(client.GET("/api/v1/templates", { params: { query: { category: "getting-started" } } }));
const body = { name: "rack", workspaceId: workspace.id };
const configuration = await ok(client.POST("/api/v1/templates/{template_id}/clone", { params: { path: { template_id: templates[0]!.id } }, body }));
const report = await ok(client.POST("/api/v1/configurations/{config_id}/validate", { params: { path: { config_id: configuration.id } } }));
assert.equal(report.valid, true);

for (const name of ["first", "second"]) {
	const { id } = await ok(client.POST("/api/v1/simulations", { body: { configurationId: configuration.id, name, duration: "1s" } }));
	const path = { sim_id: id };
	await until(async () => (await ok(client.GET("/api/v1/simulations/{sim_id}", { params: { path } }))).status === "completed");
	const results = await ok(client.GET("/api/v1/simulations/{sim_id}/results", { params: { path } }));
	assert.ok(results.files.some((file) => file.name === "summary.json"));
}

const names: string[] = [];
let next: string | undefined;
do {
	const page = await ok(client.GET("/api/v1/simulations", { params: { query: { workspaceId: workspace.id, limit: 1, next } } }));
	names.push(...page.simulations.map((simulation) => simulation.name));
	next = page.pagination.nextCursor;
} while (next);
assert.deepEqual(names, ["second", "first"]);

// Without the members that have a default.
const simple = { workload: { ranks: 8, phases: [{ operationType: "allReduce", dataSize: 1 << 20 }] } };
const axes = [{ field: "workload.phases[0].dataSize", values: [1 << 20, 1 << 21] }];
const study = await ok(client.POST("/api/v1/studies", { body: { name: "sizes", base: { simple }, axes } }));
const path = { study_id: study.id };
await until(async () => (await ok(client.GET("/api/v1/studies/{study_id}", { params: { path } }))).status === "completed");
const { results } = await ok(client.GET("/api/v1/studies/{study_id}/results", { params: { path } }));
assert.ok(results[0]!.figures!.simulatedTimePs < results[1]!.figures!.simulatedTimePs);
const table: string = await ok(client.GET("/api/v1/studies/{study_id}/results.csv", { params: { path }, parseAs: "text" }));
assert.equal(table.split("\n")[0]!.split(",")[0], "point");

const missing = await client.GET("/api/v1/workspaces/{workspace_id}", { params: { path: { workspace_id: "workspace_0000000000e008000000000009" } } });
assert.equal(missing.response.status, 404);
assert.equal(missing.error?.error.code, "NOT_FOUND");
