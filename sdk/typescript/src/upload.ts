import { md5 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Api } from "./client.js";
import { ConnectionError, NetsimError, UnavailableError, UploadError } from "./errors.js";
import type { Store } from "./events.js";
import type { Traceset, TracesetUpload, TracesetUploadSession, UploadFile } from "./generated/client.schemas.js";
import { backoff, sleep } from "./transport.js";

/** A traceset and the bytes of its files. In Node, `fs.openAsBlob` makes a Blob of a file without reading it. */
export type NewTraceset = Omit<TracesetUpload, "files"> & { files: (Omit<UploadFile, "size"> & { data: Blob })[] };

/** What is known of an upload that has begun: its session, and of each file the parts that the store has. No secret, and no link. */
export interface UploadState {
	/** `Idempotency-Key` of the session: the same request with it gives the same session, with new links. */
	key: string;
	uploadId?: string;
	/** By name: the ETags of the parts, from the first on, and the SHA-256 of their bytes in hex. */
	files: Record<string, { etags: string[]; sha256: string }>;
}

export interface UploadOptions {
	/** Keeps how far the upload is, so that the same call goes on there. A store is of one upload. */
	store?: Store<UploadState>;
	/** Called with the bytes that are in the store, after each part. */
	onProgress?: (sent: number, total: number) => void;
	signal?: AbortSignal;
	/** In place of the global one, for the object store. */
	fetch?: typeof fetch;
}

/** Bytes of a part; the last one has what is left (OpenTracesetUpload). */
const partSize = 16 * 1024 * 1024;

/** Puts the files in the object store, part by part, and completes the upload. */
export async function upload(api: Api, { files, ...about }: NewTraceset, { store, onProgress, signal, fetch = globalThis.fetch }: UploadOptions): Promise<Traceset> {
	const state = (await store?.load()) ?? { key: crypto.randomUUID(), files: {} };
	const init = signal ? { signal } : {};
	const sizes = files.map(({ data, ...file }) => ({ ...file, size: data.size }));
	await store?.save(state);
	let session: TracesetUploadSession | undefined;
	const open = async () => {
		session = await api.openTracesetUpload({ headers: { "Idempotency-Key": state.key }, body: { ...about, files: sizes } }, init);
		state.uploadId = session.uploadId;
		return session;
	};
	const total = sizes.reduce((sum, { size }) => sum + size, 0);
	let sent = 0;
	for (const { name, data } of files) {
		const known = state.files[name] ?? { etags: [], sha256: "" };
		const digest = sha256.create();
		const etags = [...known.etags];
		let so = "";
		for (let part = 0; part * partSize < data.size; part++) {
			const bytes = new Uint8Array(await data.slice(part * partSize, (part + 1) * partSize).arrayBuffer());
			digest.update(bytes);
			so = bytesToHex(digest.clone().digest());
			if (part === known.etags.length - 1 && so !== known.sha256) break;
			if (part >= known.etags.length) {
				etags.push(await put(bytes, { link: async (renew) => link(renew || !session ? await open() : session, name, part + 1), signal, fetch }));
				state.files[name] = { etags: [...etags], sha256: so };
				await store?.save(state);
			}
			sent += bytes.length;
			onProgress?.(sent, total);
		}
		if (so !== state.files[name]?.sha256) throw new UploadError(`${name} is another file than when the upload began`);
	}
	const traceset = await complete(api, state, init);
	for (const { name, hash } of traceset.files) {
		const here = state.files[name]?.sha256;
		if (hash && here && hash !== `sha256:${here}`) throw new UploadError(`${name} has another SHA-256 in the store, ${hash}: delete ${traceset.id} and upload it again`);
	}
	return traceset;
}

function link(session: TracesetUploadSession, name: string, number: number): string {
	const found = session.files.find((file) => file.name === name)?.parts.find((part) => part.partNumber === number);
	if (!found) throw new UploadError(`the session has no link for part ${number} of ${name}`);
	return found.url;
}

type Put = { link: (renew: boolean) => Promise<string>; signal: AbortSignal | undefined; fetch: typeof fetch };

/** Puts a part until the store has it whole, which it knows by the MD5, and returns its ETag. */
async function put(bytes: Uint8Array<ArrayBuffer>, { link, signal, fetch }: Put): Promise<string> {
	const headers = { "Content-MD5": btoa(String.fromCharCode(...md5(bytes))) };
	for (let failures = 1, expired = false; ; failures++) {
		let failure: NetsimError;
		const url = await link(expired);
		try {
			const response = await fetch(url, { method: "PUT", headers, body: bytes, signal: signal ?? null });
			const text = await response.text();
			const etag = response.headers.get("ETag");
			if (response.ok && etag) return etag;
			failure = new UploadError(response.ok ? "the object store shows no ETag: its CORS rules lack the header" : `the object store answers ${response.status}: ${text.slice(0, 300)}`);
			if (response.ok || (response.status < 500 && ![400, 403, 408, 429].includes(response.status))) throw failure;
			expired = response.status === 403; // The link is too old.
		} catch (cause) {
			signal?.throwIfAborted();
			if (cause instanceof NetsimError) throw cause;
			failure = new ConnectionError("the connection to the object store broke", { cause });
		}
		if (failures === 6) throw failure;
		await sleep(backoff(failures), signal);
	}
}

/** What takes longer than a request goes on, and the same request gets its outcome. */
async function complete(api: Api, { key, uploadId = "", files }: UploadState, init: { signal?: AbortSignal }): Promise<Traceset> {
	const body = { uploadId, files: Object.entries(files).map(([name, { etags }]) => ({ name, parts: etags.map((etag, index) => ({ partNumber: index + 1, etag })) })) };
	for (;;) {
		try {
			return await api.completeTracesetUpload({ headers: { "Idempotency-Key": key }, body }, init);
		} catch (error) {
			if (!(error instanceof UnavailableError && error.retryAfter)) throw error;
		}
	}
}
