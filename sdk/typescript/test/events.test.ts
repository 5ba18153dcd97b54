import assert from "node:assert/strict";
import { test } from "node:test";
import { messages } from "../src/events.js";
import { Client, ConnectionError, SimulationFailedError, ValidationError, WaitTimeoutError } from "../src/index.js";
import { parse } from "../src/json.js";
import { cut, json, refuse, serve, stream } from "./server.js";

const event = (n: number) => JSON.stringify({ specversion: "1.0", id: `e${n}`, source: "/netsim", type: "netsim.workspace.updated.v1", data: { n } });
const message = (n: number) => `id: p${n}\nevent: netsim.workspace.updated.v1\ndata: ${event(n)}\n\n`;

test("server-sent events are read wherever the bytes are cut, with any line break", async () => {
	const text = ": alive\r\n\r\nid: 1\r\nevent: status\r\ndata: a: ü\r\ndata:b\r\n\r\nid: 2\r\r: x\ndata: c\n\nid: 3\ndata: cut off";
	const bytes = new TextEncoder().encode(text);
	const want = [
		{ id: "1", event: "status", data: "a: ü\nb" },
		{ id: "2", event: "message", data: "" },
		{ id: "", event: "message", data: "c" },
	];
	for (let at = 1; at < bytes.length; at++) {
		const body = new ReadableStream<Uint8Array>({
			start(controller) {
				controller.enqueue(bytes.slice(0, at));
				controller.enqueue(bytes.slice(at));
				controller.close();
			},
		});
		const got = [];
		for await (const one of messages(body)) got.push(one);
		assert.deepEqual(got, want, `cut at ${at}`);
	}
});

test("a feed goes on where it was cut, and its position is saved after each event", async (t) => {
	const { url, seen } = await serve(t, (_seen, response, number) => {
		if (number === 0) {
			stream(response, `id: p0\n\n${message(1)}${message(2).slice(0, -20)}`);
			return void setImmediate(cut, response);
		}
		if (number === 1) return refuse(response, 503, "SERVICE_UNAVAILABLE", "later", { "Retry-After": "0" });
		if (number === 2) return void stream(response, `${message(2)}id: p2\nevent: end\ndata: {"reason":"lifetime"}\n\n`).end();
		stream(response, `${message(3)}${message(4)}`);
	});
	const saved: string[] = [];
	const store = { load: () => saved.at(-1), save: (position: string) => void saved.push(position) };
	const client = new Client({ url, token: "t" });
	const got: unknown[] = [];
	for await (const { id } of client.events.follow({ since: new Date(0), type: ["a", "b"], store })) {
		got.push([id, saved.at(-1)]);
		if (id === "e3") break;
	}
	assert.deepEqual(got, [
		["e1", "p0"],
		["e2", "p1"],
		["e3", "p2"],
	]);
	assert.equal(saved.at(-1), "p2", "the handling of e3 was cut short, so e3 comes again");
	assert.deepEqual(
		seen.map(({ headers }) => headers["last-event-id"]),
		[undefined, "p1", "p1", "p2"],
	);
	assert.equal(seen[0]?.path, "/api/v1/events?type=a&type=b&since=1970-01-01T00%3A00%3A00.000Z");
	for await (const { id } of client.events.follow({ store })) {
		assert.equal(id, "e3");
		break;
	}
	assert.equal(seen.at(-1)?.headers["last-event-id"], "p2");
});

test("a feed without a sign of life is opened again, and one with heartbeats is not", async (t) => {
	const { url, seen } = await serve(t, (_seen, response, number) => {
		stream(response, message(number));
		if (number === 0) return;
		const beat = setInterval(() => response.write(": heartbeat\n\n"), 20);
		setTimeout(() => {
			clearInterval(beat);
			response.write(message(number + 1));
		}, 500);
	});
	const got: string[] = [];
	for await (const { id } of new Client({ url, token: "t" }).events.follow({ heartbeat: 150 })) if (got.push(id) === 3) break;
	assert.deepEqual(got, ["e0", "e1", "e2"]);
	assert.equal(seen.length, 2);
});

test("a feed that ends with its token goes on with another, and a refusal ends it", async (t) => {
	const { url, seen } = await serve(t, ({ headers }, response, number) => {
		if (number === 0) return void stream(response, `${message(1)}id: p1\nevent: end\ndata: {"reason":"unauthorized"}\n\n`).end();
		if (headers.authorization === "Bearer t2") return refuse(response, 401, "UNAUTHORIZED", "expired");
		if (number === 2) return void stream(response, message(2)).end();
		refuse(response, 400, "VALIDATION_ERROR", "the position is of other parameters");
	});
	let given = 0;
	const feed = new Client({ url, token: () => `t${++given}` }).events.follow();
	assert.equal((await feed.next()).value?.id, "e1");
	assert.equal((await feed.next()).value?.id, "e2");
	await assert.rejects(feed.next(), ValidationError);
	assert.deepEqual(
		seen.map(({ headers }) => headers.authorization),
		["Bearer t1", "Bearer t2", "Bearer t3", "Bearer t3"],
	);
});

test("a feed ends with the reason of its signal", async (t) => {
	const { url } = await serve(t, (_seen, response) => void stream(response, message(1)));
	const stop = new AbortController();
	const feed = new Client({ url, token: "t" }).events.follow({ signal: stop.signal });
	await feed.next();
	setImmediate(() => stop.abort(new Error("enough")));
	await assert.rejects(feed.next(), /enough/);
});

test("integers of events keep their digits", () => {
	const text = '{"a":18446744073709551615,"b":[-9007199254740993,9007199254740991],"c":"12345678901234567890 \\"9007199254740993\\"","d":-1.2345678901234567e20,"e":0.12345678901234567}';
	assert.deepEqual(parse(text), {
		a: 18446744073709551615n,
		b: [-9007199254740993n, 9007199254740991],
		c: '12345678901234567890 "9007199254740993"',
		d: -1.2345678901234567e20,
		e: 0.12345678901234567,
	});
});

/** A simulation that is completed after so many reads, and whose events are what `events` answers. */
const running = (status: string) => ({ id: "sim_1", status, ...(status === "failed" && { failureReason: "no memory" }) });
const status = (n: number, status: string) => `id: ${n}\nevent: status\ndata: ${JSON.stringify({ simulationId: "sim_1", at: "2026-11-21T08:30:00.125Z", status })}\n\n`;

test("a wait ends with the event that says so, over cut connections", async (t) => {
	let state = "running";
	let streams = 0;
	const { url, seen } = await serve(t, ({ path }, response) => {
		if (!path.endsWith("/events")) return json(response, 200, running(state));
		if (streams++ === 0) {
			stream(response, status(1, "running"));
			return void setImmediate(cut, response);
		}
		state = "completed";
		stream(response, status(2, "completed")).end();
	});
	const told: string[] = [];
	const done = await new Client({ url, token: "t" }).wait("sim_1", { poll: 3_600_000, onEvent: (event) => told.push(event.status) });
	assert.equal(done.status, "completed");
	assert.deepEqual(told, ["running", "completed"]);
	assert.equal(seen.find(({ headers }) => headers["last-event-id"] === "1")?.path, "/api/v1/simulations/sim_1/events");
});

test("a wait does without events, and throws for a failed run only if asked", async (t) => {
	let reads = 0;
	const { url } = await serve(t, ({ method, path }, response) => {
		if (method === "POST") return json(response, 202, { simulationId: "sim_1", status: "accepted", mode: "sequential" });
		if (path.endsWith("/events")) return refuse(response, 403, "FORBIDDEN", "no streams here");
		json(response, 200, running(++reads % 3 === 0 ? "failed" : "running"));
	});
	const client = new Client({ url, token: "t" });
	const submission = { workload: { ranks: 8, phases: [{ operationType: "allReduce", dataSize: 1 }] } };
	assert.equal((await client.submitAndWait(submission, { poll: 10 })).status, "failed");
	await assert.rejects(
		client.submitAndWait(submission, { poll: 10, throwOnFailure: true }),
		(error) => error instanceof SimulationFailedError && error.message === "simulation sim_1 is failed: no memory",
	);
});

test("a wait has a limit, and what goes wrong in it is thrown", async (t) => {
	const { url } = await serve(t, ({ path }, response) => {
		if (path.endsWith("/events")) return void stream(response, status(1, "running"));
		if (path.endsWith("none")) return cut(response);
		json(response, 200, running("running"));
	});
	const client = new Client({ url, token: "t", retry: { attempts: 2 } });
	await assert.rejects(client.wait({ id: "sim_1" }, { timeout: 100 }), (error) => error instanceof WaitTimeoutError && error.message.includes("100 ms"));
	await assert.rejects(client.wait("none"), ConnectionError);
	await assert.rejects(client.wait("sim_1", { onEvent: () => assert.fail("mine") }), /mine/);
	await assert.rejects(client.wait("sim_1", { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
});
