import { type CloudEvent, isCloudEvent } from "./cloudevent.js";
import { AuthenticationError, ConnectionError, NetsimError } from "./errors.js";
import { isRecord, parse } from "./json.js";
import { backoff, isTransient, sleep, type Transport } from "./transport.js";

/** Keeps something beyond the end of the process. */
export interface Store<T> {
	/** What was saved last, or undefined. */
	load(): T | undefined | Promise<T | undefined>;
	save(value: T): void | Promise<void>;
}

export interface FeedOptions {
	/** Begin with the first event recorded then or later. Now when absent. It does not count if the store has a position. */
	since?: Date | string;
	/** Keeps the position, so that the feed goes on where it was. */
	store?: Store<string>;
	/** Only these types, such as `netsim.simulation.completed.v1`. */
	type?: string | string[];
	/** Only events of this family, such as `simulations`. */
	family?: string;
	/** Only events of this stream, such as the id of a simulation. */
	stream?: string;
	/** Only events of this workspace and of what it owns. */
	workspace?: string;
	account?: string;
	signal?: AbortSignal;
	/** Milliseconds without any sign of life after which the connection is opened again: 45,000, three heartbeats, when absent. */
	heartbeat?: number;
}

/** The feed of events (docs/feed.md). */
export class Events {
	readonly #transport: Transport;

	constructor(transport: Transport) {
		this.#transport = transport;
	}

	/**
	 * Every event that the token may see, as it is recorded, until the signal aborts or the
	 * service refuses. The position after an event is saved when the next one is asked for, so an
	 * event whose handling was cut short comes again: each comes at least once.
	 */
	async *follow({ since, store, type = [], signal, heartbeat, ...filters }: FeedOptions = {}): AsyncGenerator<CloudEvent, void, undefined> {
		const query = new URLSearchParams(Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
		for (const one of [type].flat()) query.append("type", one);
		if (since !== undefined) query.set("since", typeof since === "string" ? since : since.toISOString());
		const last = await store?.load();
		for await (const message of follow(this.#transport, `/api/v1/events?${query}`, { last, signal, heartbeat })) {
			const event = message.data ? parse(message.data) : undefined;
			if (message.event === "end") {
				if (isRecord(event) && event.reason === "unauthorized") void this.#transport.renew();
			} else if (event !== undefined) {
				if (!isCloudEvent(event)) throw new NetsimError("the feed has sent something else than a CloudEvent");
				yield event;
			}
			if (message.id) await store?.save(message.id);
		}
	}
}

/** A server-sent event. One with an id and without data is a position alone. */
export type Message = { id: string; event: string; data: string };

interface Following {
	/** Goes on after this event. */
	last?: string | undefined;
	signal?: AbortSignal | undefined;
	heartbeat?: number | undefined;
}

/**
 * The messages of a stream of the service. A connection that ends, breaks or falls silent is
 * opened again after the last message, later and later; 204 says that nothing will follow.
 * A refusal that another try does not change is thrown.
 */
export async function* follow(transport: Transport, path: string, { last, signal, heartbeat = 45_000 }: Following): AsyncGenerator<Message, void, undefined> {
	for (let failures = 0, refused = 0; ; ) {
		const connection = new AbortController();
		const silence = () => connection.abort(new ConnectionError(`no sign of life for ${heartbeat} ms`));
		let timer = setTimeout(silence, heartbeat);
		let reason: unknown;
		const opened = performance.now();
		try {
			const headers = { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) };
			const response = await transport.attempt(transport.url + path, { headers, signal: AbortSignal.any([connection.signal, ...(signal ? [signal] : [])]) });
			if (response.status === 204 || !response.body) return;
			refused = 0;
			for await (const message of messages(response.body, () => {
				clearTimeout(timer);
				timer = setTimeout(silence, heartbeat);
			})) {
				clearTimeout(timer); // The one who handles the message may take its time.
				if (message.data && message.event !== "end") failures = 0;
				yield message;
				if (message.id) last = message.id;
				timer = setTimeout(silence, heartbeat);
			}
		} catch (error) {
			signal?.throwIfAborted();
			const expired = error instanceof AuthenticationError && refused++ === 0; // The next attempt gets another token.
			if (!expired && !isTransient(error)) throw error;
			reason = error;
		} finally {
			clearTimeout(timer);
			connection.abort();
		}
		if (performance.now() - opened > heartbeat) failures = 0;
		await sleep(backoff(failures++, reason), signal);
	}
}

/** Reads server-sent events; `alive` is called for everything that arrives. An event that was cut off is dropped. */
export async function* messages(body: ReadableStream<Uint8Array>, alive: () => void = () => {}): AsyncGenerator<Message, void, undefined> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let rest = "";
	let [id, event, data]: [string, string, string[]] = ["", "message", []];
	try {
		for (;;) {
			const { done, value } = await reader.read().catch((cause: unknown) => {
				throw cause instanceof NetsimError ? cause : new ConnectionError("the stream broke", { cause });
			});
			if (done) return;
			alive();
			rest += decoder.decode(value, { stream: true });
			const lines = rest.split(/\r\n|\n|\r(?!$)/); // A carriage return at the end may be half of a line break.
			rest = lines.pop() ?? "";
			for (const line of lines) {
				const [, name, text = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
				if (name === "data") data.push(text);
				else if (name === "event") event = text;
				else if (name === "id") id = text;
				if (line !== "") continue;
				if (data.length > 0 || id) yield { id, event, data: data.join("\n") };
				[id, event, data] = ["", "message", []];
			}
		}
	} finally {
		reader.cancel().catch(() => {}); // It may have broken.
	}
}
