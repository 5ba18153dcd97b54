import { Refusal, refusal, send } from "./client";

/** A server-sent event. */
export type Message = { id: string; event: string; data: string };

/** Reads the events of a stream of bytes. Comments are left out, as the standard says. */
export async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let rest = "";
	let message: Message = { id: "", event: "message", data: "" };
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			rest += decoder.decode(value, { stream: true });
			// A carriage return at the end may be half of a line break.
			const lines = rest.split(/\r\n|\n|\r(?!$)/);
			rest = lines.pop() ?? "";
			for (const line of lines) {
				if (line === "") {
					if (message.data !== "" || message.id !== "") yield { ...message, data: message.data.replace(/\n$/, "") };
					message = { id: "", event: "message", data: "" };
					continue;
				}
				const [, name, text = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
				if (name === "data") message.data += `${text}\n`;
				else if (name === "event") message.event = text;
				else if (name === "id") message.id = text;
			}
		}
	} finally {
		reader.cancel().catch(() => {});
	}
}

export type Live = "connecting" | "live" | "waiting" | "ended" | "refused";

export type Following = {
	onMessage: (message: Message) => void;
	onState: (state: Live, refused?: Refusal) => void;
	signal: AbortSignal;
	/** The last event that is known. */
	last?: string;
	open?: (url: string, headers: Record<string, string>, signal: AbortSignal) => Promise<Response>;
	wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/**
 * Follows a stream of the API until it ends or the signal aborts. A connection that breaks is
 * opened again after the last event, at first after half a second, later after at most 30 s.
 * 204 says that nothing will follow. EventSource could do this but for refusals: on 429 and 503
 * it stops for ever, and it has no way to listen to events of any name.
 */
export async function follow(url: string, { onMessage, onState, signal, last = "", open = opened, wait = waited }: Following): Promise<void> {
	let failures = 0;
	while (!signal.aborted) {
		let pause = 500;
		try {
			onState("connecting");
			const response = await open(url, { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) }, signal);
			if (response.status === 204) return onState("ended");
			if (!response.ok || !response.body) throw refusal(response, await response.text());
			onState("live");
			for await (const message of messages(response.body)) {
				if (signal.aborted) return;
				failures = 0;
				if (message.id) last = message.id;
				if (message.data) onMessage(message);
			}
		} catch (error) {
			if (signal.aborted) return;
			const refused = error instanceof Refusal ? error : undefined;
			// Another try gets the same answer.
			if (refused && refused.status >= 400 && refused.status < 500 && refused.status !== 429) {
				return onState("refused", refused);
			}
			failures++;
			pause = Math.max(Math.min(500 * 2 ** failures, 30_000), (refused?.retryAfter ?? 0) * 1000);
		}
		if (signal.aborted) return;
		onState("waiting");
		await wait(pause, signal);
	}
}

function opened(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
	return send(url, { headers, signal });
}

/** Ends early when the signal aborts, or when the browser is online again. */
function waited(milliseconds: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", done);
			removeEventListener("online", done);
			resolve();
		};
		const timer = setTimeout(done, milliseconds);
		signal.addEventListener("abort", done);
		addEventListener("online", done);
	});
}
