import { clock } from "../lib/clock";
import { exact, parse, random, write } from "./json";
import { type Ops, operations } from "./operations.gen";
import { Refusal, stored } from "./refusal";

export { Refusal };

/** Path of the console, "/console/" or below a prefix. Go writes it into the index. */
export const base = new URL(document.documentElement.dataset.base ?? "./", document.baseURI).pathname;

/** Where the API of the contract is, in front of which the service changes the cookie into a token. */
export const apiBase = `${base}api/v1/`;

/** Called when the service says that the session has ended. */
let ended = () => {};
export function onSessionEnd(call: () => void): void {
	ended = call;
}

/** The operations of the contract, by their ids. */
export type Operation = keyof Ops;

type Loose<T> = { [K in keyof T]?: T[K] | undefined };
type PathOf<Args> = Args extends { path: infer Path } ? { path: Path } : unknown;
type BodyOf<Args> = Args extends { body: infer Body } ? { body: Body } : "body" extends keyof Args ? { body?: NonNullable<Args["body"]> } : unknown;
type QueryOf<Args> = Args extends { query: infer Query } ? { query: Loose<Query> } : Args extends { query?: infer Query } ? { query?: Loose<NonNullable<Query>> } : unknown;

/** What an operation takes. Parameters that are undefined or empty are left out of the address. */
export type Args<Name extends Operation> = PathOf<Ops[Name]["args"]> & QueryOf<Ops[Name]["args"]> & BodyOf<Ops[Name]["args"]>;

type Parts = { path?: Record<string, string | number>; query?: Record<string, unknown>; body?: unknown };

/** The method of an operation, its path below /api/v1/ with the parameters, and its body. */
export function request<Name extends Operation>(name: Name, args: Args<Name>): { method: string; path: string; body?: unknown } {
	const { path: values = {}, query = {}, body } = args as Parts;
	const [method = "", template = ""] = operations[name].split(" ");
	const parameters = new URLSearchParams();
	for (const [key, value] of Object.entries(query)) {
		if (value !== undefined && value !== "") parameters.append(key, String(value));
	}
	const path = template.replace(/\{(\w+)\}/g, (_all, key) => encodeURIComponent(String(values[key])));
	return { method, path: parameters.size ? `${path}?${parameters}` : path, ...(body !== undefined && { body }) };
}

type Options = { method?: string; body?: unknown; signal?: AbortSignal; headers?: Record<string, string> };

/** Calls an operation of the API and returns its reply. A refusal is thrown as a Refusal. */
export async function call<Name extends Operation>(name: Name, args: Args<Name>, signal?: AbortSignal): Promise<Ops[Name]["result"]> {
	const { path, ...rest } = request(name, args);
	const response = await send(apiBase + path, { ...rest, ...(signal && { signal }) });
	const text = await response.text();
	if (!response.ok) throw refusal(response, text);
	return (text ? parse(text) : undefined) as Ops[Name]["result"];
}

/** What an operation replied, and the tag of its version, which If-Match names. */
export type Tagged<T> = { data: T; etag: string };

/** Calls an operation as call does, with headers. The numbers of its reply can be sent back as they came (Digits). */
export async function callTagged<Name extends Operation>(name: Name, args: Args<Name>, { signal, headers }: Pick<Options, "signal" | "headers"> = {}): Promise<Tagged<Ops[Name]["result"]>> {
	const { path, ...rest } = request(name, args);
	const response = await send(apiBase + path, { ...rest, ...(signal && { signal }), ...(headers && { headers }) });
	const text = await response.text();
	if (!response.ok) throw refusal(response, text);
	return { data: (text ? exact(text) : undefined) as Ops[Name]["result"], etag: response.headers.get("ETag") ?? "" };
}

/** Sends a request and takes the server's time from the reply. */
export async function send(url: string, { method = "GET", body, signal, headers = {} }: Options = {}): Promise<Response> {
	const all: Record<string, string> = { Accept: "application/json", ...headers };
	if (body !== undefined) all["Content-Type"] = "application/json";
	// A repeated request with the same key has its effect once.
	if (method !== "GET") all["Idempotency-Key"] ??= random();
	let response: Response;
	try {
		response = await fetch(url, {
			method,
			headers: all,
			signal: signal ?? null,
			body: body === undefined ? null : write(body),
			credentials: "same-origin",
		});
	} catch (error) {
		if (error instanceof DOMException && error.name === "AbortError") throw error;
		throw new Refusal(0, "the service cannot be reached");
	}
	clock.observe(response.headers.get("Date"));
	if (response.status === 401 && url.startsWith(base)) ended();
	return response;
}

/** Reads a refusal in the form of the contract, or makes one of what there is. */
export function refusal(response: Response, text: string): Refusal {
	let message = response.statusText || `status ${response.status}`;
	let code = "";
	let requestId = response.headers.get("X-Request-Id") ?? "";
	try {
		const body = JSON.parse(text);
		message = body.error?.message ?? body.detail ?? message;
		code = body.error?.code ?? body.code ?? "";
		requestId = body.requestId ?? requestId;
	} catch {
		// A proxy replied, with a page of its own.
	}
	return new Refusal(response.status, message, code, requestId, Number(response.headers.get("Retry-After") ?? 0));
}

/** Reads a file of the object store by its presigned link. */
export async function download(link: string, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
	return new Uint8Array(await (await stored(link, signal)).arrayBuffer());
}
