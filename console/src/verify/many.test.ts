import { expect, test } from "vitest";
import { hex, sha, sha256, utf8 } from "./bytes";
import type { Usage } from "./data";
import { dateOf, startOf } from "./days";
import { factOf } from "./frame";
import { anything } from "./golden";
import { Digests } from "./lines";
import { priceOn } from "./price";
import { rate } from "./rating";
import { verify } from "./read";

const account = "acct_00000000000000000000000001";
const platform = "platform_netsim";
const firstDay = 20_759; // 2026-11-02
const text = (value: unknown) => JSON.stringify(value, (_name, one) => (typeof one === "bigint" ? Number(one) : one));
const time = (at: bigint) => new Date(Number(at / 1_000_000n)).toISOString();

/** Writes a bundle of an account of whose items each runs a few hours of a day of one month, and signs it with a new key. */
async function written(items: number): Promise<Blob> {
	const lines: Uint8Array<ArrayBuffer>[] = [];
	const digests = new Digests();
	const add = (kind: string, members: object) => {
		const body = `{"line":${lines.length + 1},"kind":"${kind}",${text(members).slice(1, -1)}`;
		const bytes = utf8(`${body},"sum":"${sha(body).slice(0, 16)}"}\n`) as Uint8Array<ArrayBuffer>;
		digests.add(kind, bytes);
		lines.push(bytes);
	};
	const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
	const raw = Uint8Array.from([1, ...new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey))]);
	const id = sha256(Uint8Array.from([...utf8("test\n"), ...raw])).slice(0, 4);
	const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
	const verifier = `test+${hex(id)}+${base64(raw)}`;
	const sign = async (note: string) => {
		const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, utf8(note) as Uint8Array<ArrayBuffer>));
		return `${note}\n— test ${base64(Uint8Array.from([...id, ...signature]))}\n`;
	};
	const covered = time(startOf(firstDay + 30) + 60_000_000_000n);
	add("header", {
		format: "netsim.bundle.v1",
		account,
		platform,
		from: dateOf(firstDay),
		to: dateOf(firstDay + 29),
		coveredUntil: covered,
		cluster: "cluster-1",
		verifier,
	});
	const heads = new Map<string, { sequence: number; hash: string }>();
	const event = (stream: string, type: string, at: bigint, data: object) => {
		const head = heads.get(stream) ?? { sequence: 0, hash: "" };
		const number = String(head.sequence + 1);
		const frame = ["1", sha(stream + number).slice(0, 36), `netsim.billing.${type}.v1`, stream, stream, number, head.hash, "", "", time(at), "system", "", "", "1"];
		const line = { partition: 2, frame, value: text(data) };
		const fact = factOf({ ...line, valueBase64: "", valueSha256: "", hash: "" });
		if (typeof fact === "string") throw new Error(fact);
		heads.set(stream, { sequence: fact.sequence, hash: fact.hash });
		add("event", { ...line, hash: fact.hash });
		return fact.sequence;
	};
	const row = {
		rateId: 1,
		platform: "netsim",
		rateName: "cluster",
		rateType: "unit",
		rateTypeRaw: "unit",
		amount: "10.37",
		currency: "CREDIT",
		period: "month",
		tierStart: 0,
		startDate: "2026-01-01",
	};
	event(platform, "rate_set", startOf(firstDay - 1), row);
	const costs: { dailyCostId: number; [name: string]: unknown }[] = [];
	for (let item = 1; item <= items; item++) {
		const day = firstDay + Math.floor(((item - 1) * 30) / items);
		const usage: Usage[] = [0, 1].map((stop) => ({
			billingEventId: BigInt(3 * item + stop),
			billingItemId: BigInt(item),
			eventAction: stop ? "stop" : "start",
			rateName: "cluster",
			itemName: `run ${item}`,
			previousCount: stop ? 8n : 0n,
			currentCount: stop ? 0n : 8n,
			totalBillableCount: stop ? 0n : 8n,
			workspaceId: "workspace_00000000000000000000000009",
			sandboxId: "",
			userId: "user_00000000000000000000000007",
			occurredAt: startOf(day) + BigInt(item % 20) * 3_600_000_000_000n + BigInt(stop) * 7_201_000_000_000n,
		}));
		for (const { occurredAt, sandboxId: _, ...one } of usage)
			event(account, "usage_recorded", occurredAt, { ...one, resourceType: "simulation", causeType: "netsim.simulation.started.v1", occurredAt: time(occurredAt) });
		const price = priceOn(day, account, "cluster", [{ ...row, accountId: "", minimumPeriod: "", tierStart: 0n, tierEnd: 0n, rateId: 1n, packageSize: 0n, endDate: "" }]);
		for (const cost of rate(day, price as Exclude<typeof price, string>, usage, () => "")) {
			const dailyCostId = 3 * item + 2;
			const segments = cost.segments.map(({ from, to, ...rest }) => ({ ...rest, from: time(from), to: time(to) }));
			const sequence = event(account, "daily_cost_rated", startOf(day + 1), { ...cost, segments, dailyCostId, version: 1 });
			const { billingItemId, itemName, date, rateId, rateName, cost: amount, currency } = cost;
			costs.push({ dailyCostId, billingItemId, itemName, date, rateId, rateName, cost: amount, currency, sequence });
		}
	}
	for (const cost of costs) add("cost", cost);
	// Amounts as units of their last decimal.
	const sum = costs.reduce((total, { cost }) => {
		const [whole = "", part = ""] = String(cost).split(".");
		return total + BigInt(whole + part.padEnd(18, "0"));
	}, 0n);
	const digits = sum.toString().padStart(19, "0");
	add("total", { rateName: "cluster", currency: "CREDIT", total: `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, "") });
	// A tree of two chains.
	const leaf = (stream: string) => sha256(Uint8Array.from([0, ...utf8(`${stream} 2 ${heads.get(stream)?.sequence} ${heads.get(stream)?.hash}`)]));
	const leaves = [leaf(account), leaf(platform)];
	const root = sha256(Uint8Array.from([1, ...leaves.flatMap((one) => [...one])]));
	const proofs = [account, platform].map((stream, index) => ({ stream, partition: 2, ...heads.get(stream), index, path: [hex(leaves[1 - index] as Uint8Array)] }));
	add("checkpoint", { note: await sign(`netsim checkpoint v1\nname end\ntime ${covered}\ncluster cluster-1\nprevious none\nchains 2 ${hex(root)}\n`), proofs });
	add("seal", { seal: await sign(digests.text()(account)) });
	return new Blob(lines);
}

test("10,000 events", async () => {
	const bundle = await written(3333);
	const began = performance.now();
	const { report } = await verify(bundle, anything);
	console.log(`${report.events} events in ${report.lines} lines, ${(bundle.size / 1e6).toFixed(1)} MB: ${Math.round(performance.now() - began)} ms`);
	expect(report.problems).toEqual([]);
	expect(report.events).toBe(10_000);
	expect(report.rated).toEqual({ days: 3333, pending: 0, unrated: 0, first: "" });
	if (process.env.NETSIM_BUNDLE) (await import("node:fs")).writeFileSync(process.env.NETSIM_BUNDLE, new Uint8Array(await bundle.arrayBuffer()));
}, 600_000);
