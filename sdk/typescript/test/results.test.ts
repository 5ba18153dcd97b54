import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { Client } from "../src/index.js";
import { records, studyRow } from "../src/results.js";
import { json, serve } from "./server.js";

test("CSV is read wherever it is cut", async () => {
	const text = 'a,b,c\r\n,"x, ""y""\r\nz",\n1,,3\n"",2,"q"';
	const want = [
		["a", "b", "c"],
		["", 'x, "y"\r\nz', ""],
		["1", "", "3"],
		["", "2", "q"],
	];
	for (let at = 1; at < text.length; at++) {
		const got = [];
		for await (const record of records(
			(async function* () {
				yield text.slice(0, at);
				yield text.slice(at);
			})(),
		))
			got.push(record);
		assert.deepEqual(got, want, `cut at ${at}`);
	}
});

test("a result file is rows, and one that is damaged is noticed", async (t) => {
	const text = "rank,time\n0,1.5\n1,2.5\n";
	let checksum = createHash("sha256").update(text).digest("hex");
	const { url, seen } = await serve(t, ({ path }, response) => {
		if (path.startsWith("/store")) return void response.writeHead(200, { "Content-Type": "text/csv" }).end(text);
		json(response, 200, { downloadUrl: `${url}/store/perf-0.csv?X-Amz-Signature=1`, checksum: `sha256:${checksum}` });
	});
	const client = new Client({ url, token: "t" });
	const read = async () => {
		const rows = [];
		for await (const row of client.fileRows("sim_1", "perf 0.csv")) rows.push(row);
		return rows;
	};
	assert.deepEqual(await read(), [
		{ rank: "0", time: "1.5" },
		{ rank: "1", time: "2.5" },
	]);
	assert.equal(seen[0]?.path, "/api/v1/simulations/sim_1/results/download-url?fileName=perf+0.csv");
	assert.equal(seen[1]?.headers.authorization, undefined, "the object store gets no token");
	checksum = "0";
	await assert.rejects(read(), /another SHA-256/);
});

test("a point of a study is a row", () => {
	const row = studyRow({
		point: 3,
		inputs: { "workload.phases[0].algorithm": "ring" },
		status: "completed",
		shared: false,
		figures: { ranks: 8, simulatedTimePs: 1, goodputBps: 2, busiestTier: "rsw ul", linkUtilization: 0.5, bottleneck: "links", bottleneckShare: 0.9, exposedShare: 1 },
		fabric: { price: "378720.5", powerWatts: "1", switches: 1, nics: 8, links: 8 },
		replicates: { completed: 2, leastTimePs: 1, mostTimePs: 2, runs: [] },
	});
	assert.deepEqual(row, {
		point: 3,
		status: "completed",
		shared: false,
		"workload.phases[0].algorithm": "ring",
		ranks: 8,
		simulatedTimePs: 1,
		goodputBps: 2,
		busiestTier: "rsw ul",
		linkUtilization: 0.5,
		bottleneck: "links",
		bottleneckShare: 0.9,
		exposedShare: 1,
		price: "378720.5",
		powerWatts: "1",
		switches: 1,
		nics: 8,
		links: 8,
		replicates: 2,
		leastTimePs: 1,
		mostTimePs: 2,
	});
});
