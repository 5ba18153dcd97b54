import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { WebhookVerificationError, webhooks } from "../src/index.js";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const body = JSON.stringify({ specversion: "1.0", id: "e1", source: "/netsim", type: "netsim.simulation.completed.v1", data: { text: "ü", number: 1 } });
const now = new Date("2026-11-21T08:30:00Z");

function sent(text = body, by = secret, at = now): Record<string, string> {
	return { "webhook-id": "msg_1", "webhook-timestamp": String(at.getTime() / 1000), "webhook-signature": new Webhook(by).sign("msg_1", at, text) };
}

function refused(why: RegExp, text: string | Uint8Array, headers: Headers | Record<string, string | string[] | undefined>, by = secret): Promise<void> {
	return assert.rejects(webhooks.unwrap(text, headers, by, { now: now.getTime() }), (error) => error instanceof WebhookVerificationError && why.test(error.message));
}

test("what the library of Standard Webhooks signs is its event", async () => {
	for (const headers of [sent(), new Headers(sent()), Object.fromEntries(Object.entries(sent()).map(([name, value]) => [name.toUpperCase(), [value]]))]) {
		for (const content of [body, new TextEncoder().encode(body)]) {
			const event = await webhooks.unwrap(content, headers, secret, { now: now.getTime() });
			assert.deepEqual([event.id, event.type, event.data], ["e1", "netsim.simulation.completed.v1", { text: "ü", number: 1 }]);
		}
	}
	await webhooks.unwrap(body, sent(body, secret, new Date(Math.floor(Date.now() / 1000) * 1000)), secret);
});

test("a signature among several is enough, of version 1", async () => {
	const [old, current] = [sent(body, other)["webhook-signature"], sent()["webhook-signature"]];
	await webhooks.unwrap(body, { ...sent(), "webhook-signature": `v1a,AAAA ${old} ${current}` }, secret, { now: now.getTime() });
	await refused(/none of 1 v1/, body, { ...sent(), "webhook-signature": `v2,${current?.slice(3)} ${old}` });
});

test("what was changed, is old or is of another sender is refused", async () => {
	await refused(/none of 1/, `${body} `, sent());
	await refused(/none of 1/, body, sent(), other);
	await refused(/none of 1/, body, { ...sent(), "webhook-id": "msg_2" });
	await refused(/301 s ago/, body, sent(body, secret, new Date(now.getTime() - 301_000)));
	await refused(/301 s ahead/, body, sent(body, secret, new Date(now.getTime() + 301_000)));
	await webhooks.unwrap(body, sent(body, secret, new Date(now.getTime() - 300_000)), secret, { now: now.getTime() });
	await refused(/webhook-timestamp must be/, body, { ...sent(), "webhook-timestamp": "1e9" });
	await refused(/webhook-id is missing/, body, { ...sent(), "webhook-id": undefined });
	await refused(/not base64/, body, { ...sent(), "webhook-signature": "v1,%" });
	await refused(/no CloudEvent/, "{}", sent("{}"));
});

test("the example of the specification", async () => {
	// https://github.com/standard-webhooks/standard-webhooks: the vector of its libraries' tests.
	const headers = { "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330", "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" };
	await assert.rejects(webhooks.unwrap('{"test": 2432232314}', headers, secret, { now: 1614265330_000 }), /signed, but its body is no CloudEvent/);
});
