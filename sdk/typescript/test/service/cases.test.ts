// The table of cases (sdk/cases), through the proxy at SDK_PROXY. NETSIM_TOKEN is a service token.
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ApiError, Client, type ClientOptions, ConflictError, etag, type Traceset, type UploadState } from "../../src/index.js";

type Passed = { method: string; path: string; requests?: number; atLeast?: number; distinct?: Record<string, number> };
type Case = { name: string; run: string; faults: object[]; atLeastSeconds?: number; status?: number; passed: Passed[] };

const { cases }: { cases: Case[] } = JSON.parse(readFileSync(new URL("../../../../cases/cases.json", import.meta.url), "utf8"));
const proxy = process.env.SDK_PROXY ?? assert.fail("SDK_PROXY is not set");
const token = process.env.NETSIM_TOKEN ?? assert.fail("NETSIM_TOKEN is not set");
const workload = { ranks: 8, phases: [{ operationType: "allReduce", dataSize: 1048576 }] };
const files = [16 * 1024 * 1024 + 1000, 4096].map((size, n) => ({ name: `a.${n}.et`, bytes: Buffer.alloc(size, n + 1) }));

function client(options: ClientOptions = {}): Client {
	return new Client({ url: proxy, token, ...options });
}

async function control(method: string, path: string, body?: object): Promise<Response> {
	const response = await fetch(proxy + path, { method, ...(body && { body: JSON.stringify(body) }) });
	assert.ok(response.ok, `${method} ${path}: ${response.status}`);
	return response;
}

/** Has the faults happen, does what is to be done under them, and checks what the proxy saw. */
async function under(one: Case, act: () => Promise<void>): Promise<void> {
	for (const path of ["/__case", "/__log"]) await control("DELETE", path);
	for (const fault of one.faults) await control("POST", "/__case", fault);
	const began = performance.now();
	await act();
	const seconds = (performance.now() - began) / 1000;
	assert.ok(seconds >= (one.atLeastSeconds ?? 0), `it took ${seconds} s`);
	const log: Record<string, string>[] = JSON.parse(await (await control("GET", "/__log")).text());
	await control("DELETE", "/__case");
	for (const { method, path, requests, atLeast = 0, distinct = {} } of one.passed) {
		const matched = log.filter((passed) => passed.method === method && new RegExp(path).test(passed.path ?? ""));
		const what = `${method} ${path}: ${JSON.stringify(matched)}`;
		if (requests !== undefined) assert.equal(matched.length, requests, what);
		assert.ok(matched.length >= atLeast, what);
		for (const [member, count] of Object.entries(distinct)) assert.equal(new Set(matched.map((passed) => passed[member])).size, count, `${member} of ${what}`);
	}
}

function uploaded(traceset: Traceset): void {
	assert.deepEqual(
		traceset.files.map(({ name, size, hash }) => [name, size, hash]),
		files.map(({ name, bytes }) => [name, bytes.length, `sha256:${createHash("sha256").update(bytes).digest("hex")}`]),
	);
}

const traceset = () => ({ name: `cases-${randomUUID()}`, files: files.map(({ name, bytes }) => ({ name, data: new Blob([new Uint8Array(bytes)]) })) });

const runs: Record<string, (one: Case) => Promise<void>> = {
	async "create-workspace"(one) {
		const name = `cases-${randomUUID()}`;
		let given = 0;
		const netsim = client({
			token: () => {
				given++;
				return token;
			},
		});
		await under(one, async () => assert.equal((await netsim.api.createWorkspace({ body: { name } })).name, name));
		const found = [];
		for await (const workspace of netsim.api.listWorkspaces.items({ query: { search: name } })) found.push(workspace);
		assert.equal(found.length, 1);
		assert.equal(given, one.name.startsWith("token expired") ? 2 : 1);
	},
	async "create-workspace-refused"(one) {
		const netsim = client({ token: () => token });
		await under(one, () =>
			assert.rejects(netsim.api.createWorkspace({ body: { name: `cases-${randomUUID()}` } }), (error) => error instanceof ApiError && error.status === one.status && error.code !== undefined),
		);
	},
	async "update-with-an-old-version"(one) {
		const netsim = client();
		const { data, headers } = await netsim.api.createWorkspace({ body: { name: `cases-${randomUUID()}` } }, { envelope: true });
		const path = { workspace_id: data.id };
		const old = await netsim.api.getWorkspace({ path }, { envelope: true });
		const update = (name: string) => netsim.api.updateWorkspace({ path, headers: { "If-Match": old.headers.etag }, body: { name } });
		const first = `cases-${randomUUID()}`;
		await under(one, async () => {
			await update(first);
			await assert.rejects(
				update(`cases-${randomUUID()}`),
				(error) => error instanceof ConflictError && error.status === 412 && error.currentVersion !== undefined && etag(error.currentVersion) !== old.headers.etag,
			);
		});
		assert.equal((await netsim.api.getWorkspace({ path })).name, first);
		assert.ok(headers.consistencyToken);
	},
	async "submit-and-wait"(one) {
		await under(one, async () => assert.equal((await client().submitAndWait({ workload }, { timeout: 60_000 })).status, "completed"));
	},
	async "follow-ten-workspaces"(one) {
		const netsim = client();
		const type = "netsim.workspace.created.v1";
		const since = (await netsim.api.createWorkspace({ body: { name: `cases-${randomUUID()}` } })).createdAt;
		const made = await Promise.all(
			Array.from({ length: 10 }, () => netsim.api.createWorkspace({ body: { name: `cases-${randomUUID()}`, description: Array.from({ length: 10 }, () => randomUUID()).join() } })),
		);
		const missing = new Map(made.map(({ id }) => [id, 0]));
		await under(one, async () => {
			for await (const event of netsim.events.follow({ since, type, heartbeat: 1_000, signal: AbortSignal.timeout(60_000) })) {
				const seen = missing.get(event.subject ?? "");
				if (seen !== undefined) missing.set(event.subject ?? "", seen + 1);
				if ([...missing.values()].every((count) => count > 0)) break;
			}
		});
		assert.deepEqual([...missing.values()], Array(10).fill(1));
	},
	async "upload-two-files"(one) {
		await under(one, async () => uploaded(await client().uploadTraceset(traceset())));
	},
	async "upload-two-files-in-two-processes"(one) {
		let kept: UploadState | undefined;
		const store = { load: () => structuredClone(kept), save: (state: UploadState) => void (kept = structuredClone(state)) };
		const wanted = traceset();
		await under(one, async () => {
			await assert.rejects(client().uploadTraceset(wanted, { store }), (error) => error instanceof ApiError && error.status === 500);
			uploaded(await client().uploadTraceset(wanted, { store }));
		});
	},
};

for (const one of cases) test(one.name, () => (runs[one.run] ?? assert.fail(`${one.run} is not known`))(one));
