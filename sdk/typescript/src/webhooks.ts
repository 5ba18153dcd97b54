import { type CloudEvent, isCloudEvent } from "./cloudevent.js";
import { WebhookVerificationError } from "./errors.js";
import { parse } from "./json.js";

/** Headers as `fetch` has them, or as Node's `http` has them. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Verifies a webhook by Standard Webhooks 1.0.0 and returns its event. `body` is what was
 * received, before anything parsed it; `secret` is the subscription's, with `whsec_`.
 * `tolerance` is by how many seconds the clocks may differ: 300 when absent. Throws a
 * WebhookVerificationError.
 */
export async function unwrap(body: string | Uint8Array, headers: WebhookHeaders, secret: string, { tolerance = 300, now = Date.now() } = {}): Promise<CloudEvent> {
	const header = reader(headers);
	const id = header("webhook-id");
	const timestamp = header("webhook-timestamp");
	if (!/^\d+$/.test(timestamp)) throw new WebhookVerificationError(`webhook-timestamp must be seconds since 1970, got '${timestamp}'`);
	const age = Math.round(now / 1000 - Number(timestamp));
	if (Math.abs(age) > tolerance) throw new WebhookVerificationError(`webhook-timestamp is ${Math.abs(age)} s ${age > 0 ? "ago" : "ahead"}, more than ${tolerance}`);
	const content = typeof body === "string" ? new TextEncoder().encode(body) : body;
	const signed = await new Blob([`${id}.${timestamp}.`, new Uint8Array(content)]).arrayBuffer();
	const key = await crypto.subtle.importKey("raw", decode(secret.replace(/^whsec_/, "")), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
	// While a secret is rotated there is a signature of each. verify takes the same time for any.
	const signatures = header("webhook-signature")
		.split(" ")
		.flatMap((one) => (one.startsWith("v1,") ? [decode(one.slice(3))] : []));
	const verified = await Promise.all(signatures.map((signature) => crypto.subtle.verify("HMAC", key, signature, signed)));
	if (!verified.includes(true)) throw new WebhookVerificationError(`none of ${signatures.length} v1 signatures in webhook-signature is of this secret`);
	const event = parse(new TextDecoder().decode(content));
	if (!isCloudEvent(event)) throw new WebhookVerificationError("the webhook is signed, but its body is no CloudEvent");
	return event;
}

function reader(headers: WebhookHeaders): (name: string) => string {
	const all = headers instanceof Headers ? headers : new Headers();
	if (all !== headers) for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, String(value));
	return (name) => {
		const value = all.get(name);
		if (!value) throw new WebhookVerificationError(`the header ${name} is missing`);
		return value;
	};
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
	try {
		return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
	} catch {
		throw new WebhookVerificationError("the secret or a signature is not base64");
	}
}
