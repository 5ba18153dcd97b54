// With a service at NETSIM_URL and a token of it in NETSIM_TOKEN.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { openAsBlob } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, ConflictError, etag, NotFoundError, type UploadState, ValidationError } from "../../src/index.js";

const netsim = new Client();
const workload = { ranks: 8, phases: [{ operationType: "allReduce", dataSize: 1048576 }] };

test("a simulation from its submission to the rows of its results", async () => {
	const told: string[] = [];
	const name = `journey-${randomUUID()}`;
	const run = await netsim.submitAndWait({ name, workload }, { timeout: 60_000, onEvent: ({ status }) => told.push(status), throwOnFailure: true });
	assert.equal(run.status, "completed");
	assert.ok(told.length > 0, "its events came");
	assert.equal((await netsim.wait(run)).id, run.id, "one that has ended");

	const results = await netsim.api.getResults({ path: { sim_id: run.id } });
	assert.match(results.duration, /^[\d.]+us$/);
	const perf = results.files.find((file) => file.name.includes("-perf-"));
	assert.ok(perf, "there is a table of transfers");
	let rows = 0;
	for await (const row of netsim.fileRows(run.id, perf.name)) {
		assert.ok(Object.keys(row).length > 3);
		rows++;
	}
	assert.ok(rows >= 8, `${rows} transfers`);

	const found = [];
	for await (const one of netsim.api.listSimulations.items({ query: { search: name, limit: 1 } })) found.push(one.id);
	assert.deepEqual(found, [run.id]);
	for await (const event of netsim.events.follow({ since: run.createdAt, stream: run.id })) {
		assert.equal(event.subject, run.id);
		if (event.type === "netsim.simulation.completed.v1") break;
	}
});

test("a study as rows", async () => {
	const study = await netsim.api.startStudy({
		body: { name: "which", base: { simple: { workload } }, axes: [{ field: "workload.phases[0].algorithm", values: ["ring", "recursiveHalvingDoubling"] }] },
	});
	const rows = [];
	for await (const row of netsim.studyRows(study.id)) rows.push([row.point, row["workload.phases[0].algorithm"], typeof row.price]);
	assert.deepEqual(rows, [
		[0, "ring", "string"],
		[1, "recursiveHalvingDoubling", "string"],
	]);
});

test("a configuration is changed by its version, and what is refused says why", async () => {
	const [template] = (await netsim.api.listTemplates({ query: { search: "Single rack" } })).templates;
	assert.ok(template);
	const copy = await netsim.api.cloneTemplate({ path: { template_id: template.id }, body: { name: "mine" } });
	const { data, headers } = await netsim.api.updateConfiguration({ path: { config_id: copy.id }, headers: { "If-Match": etag(copy.version) }, body: { name: "ours" } }, { envelope: true });
	assert.equal(headers.etag, etag(data.version));
	assert.equal((await netsim.api.getConfiguration({ path: { config_id: copy.id } })).name, "ours");
	await assert.rejects(
		netsim.api.updateConfiguration({ path: { config_id: copy.id }, headers: { "If-Match": etag(copy.version) }, body: { name: "late" } }),
		(error) => error instanceof ConflictError && error.currentVersion === String(data.version),
	);
	await assert.rejects(
		netsim.api.submitSimple({ body: { workload: { ...workload, ranks: 0 } } }),
		(error) => error instanceof ValidationError && error.field === "workload.ranks" && error.requestId !== undefined,
	);
	await assert.rejects(netsim.wait("sim_01kahcfv4ge3brkm7dy5s5h2k3"), NotFoundError);
});

test("a traceset is uploaded in two runs of the program", async () => {
	const ring = fileURLToPath(new URL("../../../../../simulator/chakra/testdata/ring", import.meta.url));
	const files = await Promise.all((await readdir(ring)).map(async (name) => ({ name, data: await openAsBlob(join(ring, name)) })));
	let kept: UploadState | undefined;
	const store = { load: () => structuredClone(kept), save: (state: UploadState) => void (kept = structuredClone(state)) };
	const stop = new AbortController();
	const name = `ring-${randomUUID()}`;
	await assert.rejects(netsim.uploadTraceset({ name, files }, { store, signal: stop.signal, onProgress: () => stop.abort(new Error("switched off")) }), /switched off/);
	const sent: number[] = [];
	const traceset = await netsim.uploadTraceset({ name, files }, { store, onProgress: (bytes) => sent.push(bytes) });
	assert.equal(traceset.files.length, 8);
	assert.equal(
		sent.at(-1),
		files.reduce((sum, { data }) => sum + data.size, 0),
	);
	assert.equal((await netsim.uploadTraceset({ name, files }, { store })).id, traceset.id);
});
