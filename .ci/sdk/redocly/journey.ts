// The journey (../run) with the client of Redocly's generator, whose lists are iterated
// as api/redocly-overlay.yaml says.
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import * as api from "./client.js";

api.configure({ serverUrl: process.env.NETSIM_URL!, auth: { bearer: process.env.NETSIM_TOKEN! } });

async function until(done: () => Promise<boolean>) {
	while (!(await done())) await setTimeout(100);
}

const workspace = await api.CreateWorkspace({ body: { name: "by Redocly's generator" } });
const { templates } = await api.ListTemplates({ query: { category: "getting-started" } });
const body = { name: "rack", workspaceId: workspace.id };
const configuration = await api.CloneTemplate({ path: { template_id: templates[0]!.id }, body });
assert.equal((await api.ValidateConfiguration({ path: { config_id: configuration.id } })).valid, true);

for (const name of ["first", "second"]) {
	const { id } = await api.StartSimulation({ body: { configurationId: configuration.id, name, duration: "1s" } });
	const path = { sim_id: id };
	await until(async () => (await api.GetSimulation({ path })).status === "completed");
	const results = await api.GetResults({ path });
	assert.ok(results.files.some((file) => file.name === "summary.json"));
}

const names: string[] = [];
for await (const simulation of api.ListSimulations.items({ query: { workspaceId: workspace.id, limit: 1 } })) names.push(simulation.name);
assert.deepEqual(names, ["second", "first"]);

// Without the members that have a default.
const simple = { workload: { ranks: 8, phases: [{ operationType: "allReduce", dataSize: 1 << 20 }] } };
const axes = [{ field: "workload.phases[0].dataSize", values: [1 << 20, 1 << 21] }];
const study = await api.StartStudy({ body: { name: "sizes", base: { simple }, axes } });
const path = { study_id: study.id };
await until(async () => (await api.GetStudy({ path })).status === "completed");
const { results } = await api.GetStudyResults({ path });
assert.ok(results[0]!.figures!.simulatedTimePs < results[1]!.figures!.simulatedTimePs);
const table: string = await api.GetStudyResultsCsv({ path });
assert.equal(table.split("\n")[0]!.split(",")[0], "point");

await assert.rejects(api.GetWorkspace({ path: { workspace_id: "workspace_0000000000e008000000000009" } }), (error) => {
	assert.ok(error instanceof api.ApiError);
	assert.equal(error.status, 404);
	assert.equal((error.body as api.Error_2).error.code, "NOT_FOUND");
	return true;
});
