import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATIONS, type OperationDescriptor } from "../src/generated/client.js";
import { ApiError, AuthenticationError, Client, ConflictError, ConnectionError, etag, NotFoundError, QuotaError, UnavailableError, ValidationError } from "../src/index.js";
import { cut, json, refuse, serve, workspace } from "./server.js";

test("a write whose answer is lost is sent again with its key, and is one write", async (t) => {
	const made = new Map<string, string>();
	const { url, seen } = await serve(t, ({ headers }, response, number) => {
		const key = String(headers["idempotency-key"]);
		if (!made.has(key)) made.set(key, `workspace_${made.size}`);
		if (number === 0) return cut(response);
		if (number === 1) {
			response.writeHead(201, { "Content-Type": "application/json", "Content-Length": 1000 }).write('{"id": "work');
			return void setImmediate(cut, response);
		}
		json(response, 201, { ...workspace, id: made.get(key) });
	});
	const client = new Client({ url, token: "t" });
	assert.equal((await client.api.createWorkspace({ body: { name: "hall" } })).id, "workspace_0");
	assert.equal(seen.length, 3);
	assert.equal(made.size, 1);
	await client.api.createWorkspace({ body: { name: "hall" } });
	assert.equal(made.size, 2, "another write has another key");
	await client.api.createWorkspace({ headers: { "Idempotency-Key": "mine" }, body: { name: "hall" } });
	assert.ok(made.has("mine"));
});

test("429 and 503 are repeated after Retry-After, also as a date of another clock", async (t) => {
	const times: number[] = [];
	const date = (ago: number) => new Date(Date.UTC(2001, 1, 1) + ago).toUTCString();
	const { url } = await serve(t, (_seen, response, number) => {
		times.push(performance.now());
		if (number === 0) return refuse(response, 429, "RATE_LIMITED", "too many", { "Retry-After": "1" });
		if (number === 1) return refuse(response, 503, "SERVICE_UNAVAILABLE", "later", { Date: date(0), "Retry-After": date(1000) });
		json(response, 200, workspace);
	});
	await new Client({ url, token: "t" }).api.getWorkspace({ path: { workspace_id: "workspace_1" } });
	const [first = 0, second = 0, third = 0] = times;
	assert.ok(second - first >= 1000 && third - second >= 1000, `paused for ${second - first} and ${third - second} ms`);
});

test("what is repeated is bounded in number and in time", async (t) => {
	const { url, seen } = await serve(t, ({ path }, response) => refuse(response, 503, "SERVICE_UNAVAILABLE", "later", { "Retry-After": path.endsWith("late") ? "3600" : "0", "X-Request-Id": "r1" }));
	const client = new Client({ url, token: "t", retry: { attempts: 3 } });
	await assert.rejects(client.api.getWorkspace({ path: { workspace_id: "soon" } }), (error) => error instanceof UnavailableError && error.retryAfter === 0 && error.requestId === "r1");
	assert.equal(seen.length, 3);
	await assert.rejects(client.api.getWorkspace({ path: { workspace_id: "late" } }), (error) => error instanceof UnavailableError && error.retryAfter === 3600);
	assert.equal(seen.length, 4);
});

test("every operation of the contract can be repeated: it reads, or it takes a key", () => {
	const others = Object.values<OperationDescriptor>(OPERATIONS).filter(({ method, params }) => method !== "GET" && !params?.some(({ name }) => name === "Idempotency-Key"));
	assert.deepEqual(others.map(({ id }) => id).sort(), ["previewSimple", "previewStudy", "testWebhook", "validateTopology", "validateTraceset"], "POST that changes nothing");
});

test("409 with Retry-After is repeated, without it is a conflict", async (t) => {
	const { url, seen } = await serve(t, (_seen, response, number) => refuse(response, 409, "CONFLICT", "busy", number === 0 ? { "Retry-After": "0" } : {}));
	await assert.rejects(new Client({ url, token: "t" }).api.createWorkspace({ body: { name: "hall" } }), (error) => error instanceof ConflictError && error.currentVersion === undefined);
	assert.equal(seen.length, 2);
});

test("refusals are typed, and have what the answer says", async (t) => {
	const { url, seen } = await serve(t, ({ path }, response) => {
		const status = Number(/\d+$/.exec(path)?.[0]);
		if (status === 412) refuse(response, 412, "PRECONDITION_FAILED", 'if-match does not name the current version "4"');
		else if (status === 422) json(response, 422, { type: "about:blank", title: "t", status, detail: "query parameter 'x' is unknown", code: "VALIDATION_ERROR", requestId: "r2" });
		else if (status === 502) response.writeHead(502).end("<html>");
		else refuse(response, status, "CODE", "workload.ranks must be at least 1, got 0");
	});
	const client = new Client({ url, token: "t", retry: { attempts: 1 } });
	const caught = async (status: number): Promise<ApiError> => {
		const error: unknown = await client.api.getWorkspace({ path: { workspace_id: String(status) } }).catch((error: unknown) => error);
		assert.ok(error instanceof ApiError);
		assert.equal(error.status, status);
		return error;
	};
	const wrong = await caught(400);
	assert.ok(wrong instanceof ValidationError);
	assert.deepEqual([wrong.name, wrong.code, wrong.field, wrong.message], ["ValidationError", "CODE", "workload.ranks", "workload.ranks must be at least 1, got 0"]);
	assert.equal(wrong.body, JSON.stringify({ error: { code: "CODE", message: wrong.message } }), "the raw answer is there");
	const problem = await caught(422);
	assert.deepEqual([problem.field, problem.requestId, problem.code], ["x", "r2", "VALIDATION_ERROR"]);
	const conflict = await caught(412);
	assert.ok(conflict instanceof ConflictError && conflict.currentVersion === "4");
	assert.ok((await caught(404)) instanceof NotFoundError);
	assert.ok((await caught(429)) instanceof QuotaError);
	const proxy = await caught(502);
	assert.deepEqual([proxy.code, proxy.message], [undefined, "502 Bad Gateway"]);
	assert.equal(seen.length, 6, "none was repeated");
});

test("a token that has expired is renewed once, for all requests that need it", async (t) => {
	let good = "token-1";
	const { url, seen } = await serve(t, ({ headers }, response) => {
		if (headers.authorization !== `Bearer ${good}`) return refuse(response, 401, "UNAUTHORIZED", "the token has expired");
		json(response, 200, workspace);
	});
	let given = 0;
	const client = new Client({ url, token: async () => `token-${++given}` });
	const read = () => client.api.getWorkspace({ path: { workspace_id: "workspace_1" } });
	await Promise.all([read(), read()]);
	assert.equal(given, 1);
	good = "token-2";
	await Promise.all([read(), read(), read()]);
	assert.equal(given, 2);
	good = "none";
	const before = seen.length;
	await assert.rejects(read(), AuthenticationError);
	assert.equal(seen.length - before, 2);
	await assert.rejects(new Client({ url, token: "old" }).api.getWorkspace({ path: { workspace_id: "w" } }), AuthenticationError);
	assert.equal(seen.length - before, 3);
});

test("reads show what the client wrote and saw", async (t) => {
	const { url, seen } = await serve(t, ({ method, headers }, response, number) => {
		const token = method === "GET" ? headers["consistency-token"] && { "Consistency-Token": `read${number}` } : { "Consistency-Token": `write${number}` };
		json(response, method === "GET" ? 200 : 201, workspace, { ...(token || {}) });
	});
	const client = new Client({ url, token: "t" });
	const read = async () => {
		await client.api.getWorkspace({ path: { workspace_id: "workspace_1" } });
		return seen.at(-1)?.headers["consistency-token"];
	};
	const write = () => client.api.createWorkspace({ body: { name: "hall" } });
	assert.equal(await read(), undefined);
	await write(); // 1
	await write(); // 2
	assert.equal(seen.at(-1)?.headers["consistency-token"], undefined);
	assert.equal(await read(), "write1,write2"); // 3
	await write(); // 4
	assert.equal(await read(), "read3,write4"); // 5
	for (let writes = 0; writes < 20; writes++) await write(); // 6 to 25
	const sent = (await read())?.toString().split(",");
	assert.deepEqual([sent?.length, sent?.at(0), sent?.at(-1)], [6, "write21", "read26"], "one read stands for the first 16");
	assert.equal(seen[26]?.headers["consistency-token"]?.toString().split(",").length, 16);
});

test("positions of a log that was replaced are dropped", async (t) => {
	const { url, seen } = await serve(t, ({ method, headers }, response) => {
		if (headers["consistency-token"]) return refuse(response, 400, "VALIDATION_ERROR", "Consistency-Token is a token of another event log; repeat the request without it");
		json(response, 200, workspace, method === "GET" ? {} : { "Consistency-Token": "old" });
	});
	const client = new Client({ url, token: "t" });
	await client.api.createWorkspace({ body: { name: "hall" } });
	await assert.rejects(client.api.getWorkspace({ path: { workspace_id: "workspace_1" } }), ValidationError);
	await client.api.getWorkspace({ path: { workspace_id: "workspace_1" } });
	assert.equal(seen.length, 3);
});

test("a header has at most 16 positions, also if no read stands for them", async (t) => {
	const { url, seen } = await serve(t, ({ method }, response, number) => json(response, 200, workspace, method === "GET" ? {} : { "Consistency-Token": `write${number}` }));
	const client = new Client({ url, token: "t" });
	for (let writes = 0; writes < 18; writes++) await client.api.createWorkspace({ body: { name: "hall" } });
	await client.api.getWorkspace({ path: { workspace_id: "workspace_1" } });
	const sent = seen.at(-1)?.headers["consistency-token"]?.toString().split(",");
	assert.deepEqual([sent?.length, sent?.at(-1), seen.length], [16, "write17", 20]);
});

test("an attempt that takes too long is lost, and a caller that aborts gets its reason", async (t) => {
	const { url, seen } = await serve(t, (_seen, response, number) => {
		if (number > 0) json(response, 200, workspace);
	});
	const client = new Client({ url, token: "t", timeout: 50 });
	await client.api.getWorkspace({ path: { workspace_id: "workspace_1" } });
	assert.equal(seen.length, 2);
	const reason = new Error("enough");
	await assert.rejects(client.api.getWorkspace({ path: { workspace_id: "w" } }, { signal: AbortSignal.abort(reason) }), reason);
});

test("a service that is not there is a ConnectionError", async () => {
	const client = new Client({ url: "http://127.0.0.1:1", token: "t", retry: { attempts: 2 } });
	await assert.rejects(client.api.getHealth(), ConnectionError);
});

test("a list is read item by item, and no page too many", async (t) => {
	const { url, seen } = await serve(t, ({ path }, response) => {
		const at = Number(new URL(path, "http://x").searchParams.get("next") ?? 0);
		const workspaces = [0, 1].map((n) => ({ ...workspace, id: `workspace_${at * 2 + n}` }));
		json(response, 200, { workspaces, pagination: { count: 2, hasMore: at < 2, ...(at < 2 && { nextCursor: String(at + 1) }) } });
	});
	const client = new Client({ url, token: "t" });
	const ids: string[] = [];
	for await (const { id } of client.api.listWorkspaces.items({ query: { search: "a b" } })) ids.push(id);
	assert.deepEqual(
		ids,
		[0, 1, 2, 3, 4, 5].map((n) => `workspace_${n}`),
	);
	assert.ok(seen.every(({ path }) => path.includes("search=a+b")));
	for await (const _ of client.api.listWorkspaces.items()) break;
	assert.equal(seen.length, 4);
});

test("what is unknown is tolerated, and the raw answer and a version are at hand", async (t) => {
	const { url, seen } = await serve(t, (_seen, response) => json(response, 200, { id: "config_1", status: "hibernating", version: 3, later: 1 }, { ETag: '"3"' }));
	const client = new Client({ url, token: "t" });
	const { data, headers, response } = await client.api.getConfiguration({ path: { config_id: "config_1" } }, { envelope: true });
	assert.deepEqual(data, { id: "config_1", status: "hibernating", version: 3, later: 1 });
	assert.deepEqual([headers.etag, response.status], ['"3"', 200]);
	await client.api.updateConfiguration({ path: { config_id: "config_1" }, headers: { "If-Match": etag(data.version) }, body: { name: "ours" } });
	assert.deepEqual([seen[1]?.headers["if-match"], seen[1]?.headers["content-type"], seen[1]?.body.toString()], ['"3"', "application/json", '{"name":"ours"}']);
});

test("the address and the token come from the environment", async (t) => {
	const { url, seen } = await serve(t, (_seen, response) => json(response, 200, workspace));
	assert.throws(() => new Client({ token: "t" }), /NETSIM_URL/);
	Object.assign(process.env, { NETSIM_URL: `${url}/`, NETSIM_TOKEN: "from there" });
	t.after(() => {
		delete process.env.NETSIM_URL;
		delete process.env.NETSIM_TOKEN;
	});
	await new Client().api.getWorkspace({ path: { workspace_id: "a/b" } });
	assert.deepEqual([seen[0]?.headers.authorization, seen[0]?.path], ["Bearer from there", "/api/v1/workspaces/a%2Fb"]);
});
