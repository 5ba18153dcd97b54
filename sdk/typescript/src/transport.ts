import { ApiError, AuthenticationError, ConnectionError, NetsimError, refusal } from "./errors.js";

export interface ClientOptions {
	/** Where the service is, such as `https://netsim.example`. `NETSIM_URL` of the environment when absent. */
	url?: string;
	/**
	 * A token, or a function that gets one: called before the first request, and again when the
	 * service no longer takes the token. `NETSIM_TOKEN` of the environment when absent.
	 */
	token?: string | (() => string | Promise<string>);
	/** Milliseconds until an attempt counts as lost: 30,000 when absent. */
	timeout?: number;
	/** How often a request is sent at most, and for how many milliseconds it is repeated: 8 times and 60,000 when absent. */
	retry?: { attempts?: number; within?: number };
	/** In place of the global one. */
	fetch?: typeof fetch;
}

/** Sends requests: with a token, keys and positions, and again where that is safe. */
export class Transport {
	readonly url: string;
	readonly #options: ClientOptions;
	#token: Promise<string> | undefined;
	/** The positions in the log that reads have to show: of the last read, and of the writes since (docs/replicas.md). */
	#positions: string[] = [];

	constructor(options: ClientOptions) {
		const url = options.url ?? environment("NETSIM_URL");
		if (!url) throw new NetsimError("no url: give one, or set NETSIM_URL");
		this.url = url.replace(/\/+$/, "");
		this.#options = { token: environment("NETSIM_TOKEN") ?? "", ...options };
	}

	/**
	 * As the global `fetch`, but what is not 2xx is thrown. The service takes a key for every
	 * write, so every request can be sent again: what is no write changes nothing.
	 */
	readonly fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
		const { attempts = 8, within = 60_000 } = this.#options.retry ?? {};
		const began = performance.now();
		const request = { ...init, headers: await this.#headers(init) };
		for (let attempt = 1, renewed = false; ; attempt++) {
			try {
				return await this.attempt(input, request);
			} catch (error) {
				const expired: boolean = error instanceof AuthenticationError && typeof this.#options.token === "function" && !renewed;
				const pause = expired ? 0 : isTransient(error) ? backoff(attempt, error) : undefined;
				if (pause === undefined || attempt >= attempts || performance.now() - began + pause > within) throw error;
				renewed ||= expired;
				await sleep(pause, init.signal);
			}
		}
	};

	/** Sends a request once. An answer in JSON has arrived whole; another one is still to be read. */
	async attempt(input: RequestInfo | URL, init: RequestInit): Promise<Response> {
		const headers = new Headers(init.headers);
		const token = this.#token ?? this.renew();
		const bearer = await token;
		if (bearer) headers.set("Authorization", `Bearer ${bearer}`);
		const { timeout = 30_000, fetch = globalThis.fetch } = this.#options;
		const limit = new AbortController();
		const timer = setTimeout(() => limit.abort(new ConnectionError(`no answer within ${timeout} ms`)), timeout);
		let response: Response;
		let text: string;
		try {
			response = await fetch(input, { ...init, headers, signal: AbortSignal.any([limit.signal, ...(init.signal ? [init.signal] : [])]) });
			if (response.ok && response.body && !/json/.test(response.headers.get("Content-Type") ?? "")) return response;
			text = await response.text();
		} catch (cause) {
			init.signal?.throwIfAborted();
			throw cause instanceof ConnectionError ? cause : new ConnectionError(`no whole answer from ${this.url}`, { cause });
		} finally {
			clearTimeout(timer);
		}
		this.#observe(headers.get("Consistency-Token"), response.headers.get("Consistency-Token"));
		if (response.ok) return new Response(text || null, response);
		if (response.status === 400 && /consistency-token/i.test(text)) this.#positions = []; // They are of a log that was replaced.
		if (response.status === 401 && this.#token === token) this.#token = undefined;
		throw refusal(response, text);
	}

	/** Gets a token, also if the last one has not been refused. */
	renew(): Promise<string> {
		const { token = "" } = this.#options;
		const renewed = Promise.resolve(typeof token === "function" ? token() : token);
		renewed.catch(() => (this.#token = undefined)); // The next attempt asks again.
		this.#token = renewed;
		return renewed;
	}

	/** One key for each logical write, and what reads have to show. */
	async #headers(init: RequestInit): Promise<Headers> {
		const headers = new Headers(init.headers);
		const reads = (init.method ?? "GET") === "GET";
		if (!reads && !headers.has("Idempotency-Key")) headers.set("Idempotency-Key", crypto.randomUUID());
		if (reads && !headers.has("Consistency-Token") && this.#positions.length > 0) {
			// A header takes 16. The answer to one with 16 has a token that stands for all of them.
			for (let before = Infinity; this.#positions.length > 16 && this.#positions.length < before; ) {
				before = this.#positions.length;
				await this.fetch(`${this.url}/api/v1/workspaces?limit=1`, { ...init, headers: { "Consistency-Token": this.#positions.slice(0, 16).join() } });
			}
			headers.set("Consistency-Token", this.#positions.slice(-16).join());
		}
		return headers;
	}

	#observe(asked: string | null, shown: string | null): void {
		if (!shown) return;
		const covered = asked?.split(",") ?? [];
		this.#positions = [...this.#positions.filter((position) => position !== shown && !covered.includes(position)), shown];
	}
}

/** Whether the same request may be answered otherwise a little later. */
export function isTransient(error: unknown): boolean {
	if (error instanceof ConnectionError) return true;
	if (!(error instanceof ApiError)) return false;
	if (error.retryAfter !== undefined) return [409, 429, 503].includes(error.status);
	// Something in front of the service lost the answer.
	return error.code === undefined && [502, 503, 504].includes(error.status);
}

/** Milliseconds to wait after so many failures: Retry-After, and a random time (full jitter) below a bound that doubles. */
export function backoff(failures: number, error?: unknown): number {
	const least = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
	return least + Math.random() * Math.min(200 * 2 ** failures, 20_000);
}

/** Waits for so many milliseconds, or throws the reason of the signal. */
export function sleep(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
	return new Promise((resolve, reject) => {
		const abort = () => {
			clearTimeout(timer);
			reject(signal?.reason);
		};
		const timer = setTimeout(() => {
			signal?.removeEventListener("abort", abort);
			resolve();
		}, milliseconds);
		if (signal?.aborted) abort();
		else signal?.addEventListener("abort", abort, { once: true });
	});
}

declare const process: { env: Record<string, string | undefined> } | undefined;

function environment(name: string): string | undefined {
	return typeof process === "undefined" ? undefined : process.env[name];
}
