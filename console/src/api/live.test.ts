import { expect, test } from "vitest";
import { follow, type Message, messages } from "./live";

function body(...chunks: string[]): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	return new ReadableStream({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
			controller.close();
		},
	});
}

async function all(stream: ReadableStream<Uint8Array>): Promise<Message[]> {
	const list: Message[] = [];
	for await (const message of messages(stream)) list.push(message);
	return list;
}

test("events are read across chunks, with comments and all line breaks", async () => {
	expect(await all(body(": alive\n\nid: 1\neve", "nt: status\r", "\ndata: a\ndata: b\n\n", "id: 2\n\ndata: cut"))).toEqual([
		{ id: "1", event: "status", data: "a\nb" },
		{ id: "2", event: "message", data: "" },
	]);
});

/** A service that replies to one connection after the other. */
async function served(replies: (Response | Error)[], abortAfter = replies.length) {
	const abort = new AbortController();
	const asked: (string | undefined)[] = [];
	const waits: number[] = [];
	const states: string[] = [];
	const got: string[] = [];
	await follow("/x", {
		signal: abort.signal,
		onMessage: (message) => got.push(message.data),
		onState: (state) => states.push(state),
		open: async (_url, headers) => {
			asked.push(headers["Last-Event-ID"]);
			const reply = replies[asked.length - 1];
			if (reply instanceof Response) return reply;
			throw reply ?? new Error("one connection too many");
		},
		wait: async (milliseconds) => {
			waits.push(milliseconds);
			if (asked.length >= abortAfter) abort.abort();
		},
	});
	return { asked, waits, states, got };
}

const refused = (status: number, headers = {}) => new Response('{"error":{"message":"no"}}', { status, headers });

test("a broken connection goes on after the last event, and 204 ends it", async () => {
	const { asked, got, states, waits } = await served([new Response(body("id: 7\ndata: a\n\n")), new Response(body("id: 8\ndata: b\n\n")), new Response(null, { status: 204 })]);
	expect(asked).toEqual([undefined, "7", "8"]);
	expect(got).toEqual(["a", "b"]);
	expect(waits).toEqual([500, 500]);
	expect(states.at(-1)).toBe("ended");
});

test("waits grow, up to 30 s, and Retry-After counts", async () => {
	const failing = Array.from({ length: 8 }, () => new TypeError("network"));
	expect((await served(failing)).waits).toEqual([1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
	expect((await served([refused(503, { "Retry-After": "45" })])).waits).toEqual([45_000]);
	expect((await served([refused(429, { "Retry-After": "2" })])).waits).toEqual([2000]);
});

test("an answer that will not change ends the following", async () => {
	const { asked, states } = await served([refused(404), refused(404)]);
	expect(asked).toHaveLength(1);
	expect(states.at(-1)).toBe("refused");
});
