import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { Client, UploadError, type UploadState } from "../src/index.js";
import { cut, json, refuse, type Seen, serve } from "./server.js";

const partSize = 16 * 1024 * 1024;
const bytes = Buffer.alloc(2 * partSize + 5, 0);
for (let at = 0; at < bytes.length; at += 4096) bytes.writeUInt32LE(at, at);
const file = (name: string, data: Buffer) => ({ name, data: new Blob([new Uint8Array(data)]) });

/** A service and its object store. `put` may answer a part by itself, by returning true. */
async function store(t: TestContext, put: (seen: Seen, response: Parameters<typeof cut>[0], puts: number) => boolean = () => false) {
	const parts = new Map<string, Buffer>();
	const [opened, completed, puts]: [Seen[], Seen[], string[]] = [[], [], []];
	const server = await serve(t, (seen, response) => {
		if (seen.path.startsWith("/store/")) {
			const place = seen.path.replace(/\?.*/, "");
			puts.push(seen.path);
			if (put(seen, response, puts.length - 1)) return;
			const sum = createHash("md5").update(seen.body);
			if (seen.headers["content-md5"] !== sum.copy().digest("base64")) return void response.writeHead(400).end("<Code>BadDigest</Code>");
			parts.set(place, seen.body);
			return void response.writeHead(200, { ETag: `"${sum.digest("hex")}"` }).end();
		}
		if (seen.path.endsWith("/complete")) {
			completed.push(seen);
			if (completed.length === 1) return refuse(response, 503, "SERVICE_UNAVAILABLE", "it goes on", { "Retry-After": "0" });
			const { files } = JSON.parse(seen.body.toString());
			const whole = (name: string) =>
				createHash("sha256").update(
					Buffer.concat(
						[...parts]
							.filter(([place]) => place.startsWith(`/store/${name}/`))
							.sort()
							.map(([, part]) => part),
					),
				);
			return json(response, 201, { id: "ts_1", status: "processing", files: files.map(({ name }: { name: string }) => ({ name, hash: `sha256:${whole(name).digest("hex")}` })) });
		}
		opened.push(seen);
		const { files } = JSON.parse(seen.body.toString());
		const links = (name: string, size: number) =>
			Array.from({ length: Math.ceil(size / partSize) }, (_, at) => ({ partNumber: at + 1, url: `${server.url}/store/${name}/${at}?link=${opened.length}` }));
		json(response, 200, {
			uploadId: "upload_1",
			checksumAlgorithm: "SHA256",
			expiresAt: "2026-11-22T08:30:00.125Z",
			files: files.map(({ name, size }: { name: string; size: number }) => ({ name, parts: links(name, size) })),
		});
	});
	return { ...server, parts, opened, completed, puts };
}

function memory(): { load: () => UploadState | undefined; save: (state: UploadState) => void } {
	let kept = "";
	return { load: () => (kept ? JSON.parse(kept) : undefined), save: (state) => void (kept = JSON.stringify(state)) };
}

test("parts arrive whole over cut connections, damage and links that have expired", async (t) => {
	const place = await store(t, (seen, response, puts) => {
		if (puts === 0) cut(response);
		else if (puts === 1) response.writeHead(503).end();
		else if (puts === 2) seen.body[7] = 1;
		else if (puts === 4) response.writeHead(403).end("<Code>AccessDenied</Code>");
		return [0, 1, 4].includes(puts);
	});
	const progress: number[] = [];
	const made = await new Client({ url: place.url, token: "t" }).uploadTraceset(
		{ name: "ring", tags: ["a"], files: [file("a.et", bytes), file("b.et", Buffer.from("b"))] },
		{ onProgress: (sent, total) => progress.push(sent, total) },
	);
	assert.equal(made.id, "ts_1");
	assert.ok(Buffer.concat(["0", "1", "2"].map((part) => place.parts.get(`/store/a.et/${part}`) ?? Buffer.alloc(0))).equals(bytes));
	assert.deepEqual(progress.slice(-2), [bytes.length + 1, bytes.length + 1]);
	assert.equal(place.opened.length, 2);
	assert.equal(place.opened[0]?.headers["idempotency-key"], place.opened[1]?.headers["idempotency-key"]);
	assert.deepEqual(JSON.parse(place.opened[0]?.body.toString() ?? ""), {
		name: "ring",
		tags: ["a"],
		files: [
			{ name: "a.et", size: bytes.length },
			{ name: "b.et", size: 1 },
		],
	});
	assert.equal(place.puts.at(-1), "/store/b.et/0?link=2");
	assert.equal(place.completed.length, 2);
	assert.deepEqual(JSON.parse(place.completed[1]?.body.toString() ?? "").files[1], { name: "b.et", parts: [{ partNumber: 1, etag: `"${createHash("md5").update("b").digest("hex")}"` }] });
});

test("an upload goes on where it was, with the same file only", async (t) => {
	const stop = new AbortController();
	const place = await store(t, (_seen, _response, puts) => {
		if (puts === 1) stop.abort(new Error("the machine is switched off"));
		return puts === 1;
	});
	const client = new Client({ url: place.url, token: "t" });
	const kept = memory();
	await assert.rejects(client.uploadTraceset({ name: "ring", files: [file("a.et", bytes)] }, { store: kept, signal: stop.signal }), /switched off/);
	const changed = Buffer.from(bytes);
	changed[9] = 9;
	await assert.rejects(client.uploadTraceset({ name: "ring", files: [file("a.et", changed)] }, { store: kept }), UploadError);
	await client.uploadTraceset({ name: "ring", files: [file("a.et", bytes)] }, { store: kept });
	assert.deepEqual(
		place.puts.map((path) => path.replace(/\?.*/, "")),
		["/store/a.et/0", "/store/a.et/1", "/store/a.et/1", "/store/a.et/2"],
	);
	assert.equal(new Set(place.opened.map(({ headers }) => headers["idempotency-key"])).size, 1);
});

test("what arrived otherwise is an error, and so is what the store refuses", async (t) => {
	const place = await store(t);
	const client = new Client({ url: place.url, token: "t" });
	const begun = client.uploadTraceset({ name: "ring", files: [file("a.et", Buffer.from("a"))] }, { onProgress: () => place.parts.set("/store/a.et/0", Buffer.from("z")) });
	await assert.rejects(begun, /another SHA-256/);
	const full = await store(t, (_seen, response) => {
		response.writeHead(413).end("<Code>EntityTooLarge</Code>");
		return true;
	});
	await assert.rejects(new Client({ url: full.url, token: "t" }).uploadTraceset({ name: "ring", files: [file("a.et", Buffer.from("a"))] }), /413.*EntityTooLarge/);
	assert.equal(full.puts.length, 1);
});
