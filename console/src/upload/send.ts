import { md5 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { call, callTagged, Refusal } from "../api/client";
import type { MappingFile, PartLink, Traceset } from "../api/contract";
import type { Kept, KeptFile } from "./kept";

/** Bytes of a part; the last one has what is left (api/openapi.yaml, OpenTracesetUpload). */
export const partSize = 16 * 1024 * 1024;
const step = 1024 * 1024;
const tries = 5;

export function partCount(size: number): number {
	return Math.max(1, Math.ceil(size / partSize));
}

/** A file that was chosen again and is another one. */
export class OtherFile extends Error {
	constructor(readonly file: string) {
		super(`${file} is not the file that was chosen first: its beginning differs from what was uploaded`);
	}
}

type Session = { uploadId: string; expiresAt: string; files: { name: string; parts: PartLink[] }[] };

/** Opens the session of an upload, or gives the same session again with new links. */
export async function open(kept: Omit<Kept, "uploadId" | "expiresAt">, signal?: AbortSignal): Promise<Session> {
	const options = { headers: { "Idempotency-Key": kept.key }, ...(signal && { signal }) };
	const workspace = kept.workspaceId ? { workspaceId: kept.workspaceId } : {};
	if (kept.kind === "mapping-file") {
		const [file] = kept.files as [KeptFile];
		const { data } = await callTagged("OpenMappingFileUpload", { body: { workspaceId: kept.workspaceId ?? "", name: file.name, sizeBytes: file.size } }, options);
		return { ...data, files: [{ name: file.name, parts: data.parts }] };
	}
	const files = kept.files.map(({ name, size, role }) => ({ name, size, ...(role && { role }) }));
	return (await callTagged("OpenTracesetUpload", { body: { name: kept.title, ...workspace, files } }, options)).data;
}

export type Progress = { file: string; sent: number; total: number; note: string };

type Watch = {
	/** What the store has so far, to be kept. */
	keep: (kept: Kept) => void;
	progress: (progress: Progress) => void;
	signal: AbortSignal;
};

/** Sends what the store does not have yet, completes the upload, and returns what it became. */
export async function send(begun: Kept, chosen: readonly File[], { keep, progress, signal }: Watch): Promise<Traceset | MappingFile> {
	const session = await open(begun, signal);
	let kept = begun;
	const total = kept.files.reduce((sum, file) => sum + file.size, 0);
	let before = 0;
	const digests = new Map<string, string>();
	for (const [index, entry] of kept.files.entries()) {
		const file = chosen[index] as File;
		const links = session.files.find((one) => one.name === entry.name)?.parts ?? [];
		const hash = sha256.create();
		const etags = [...entry.etags];
		const report = (sent: number, note = "") => progress({ file: entry.local, sent: before + sent, total, note });
		for (let part = 0; part < partCount(entry.size); part++) {
			const from = part * partSize;
			const blob = file.slice(from, Math.min(from + partSize, entry.size));
			const sum = md5.create();
			for (let at = 0; at < blob.size; at += step) {
				signal.throwIfAborted();
				const bytes = new Uint8Array(await blob.slice(at, at + step).arrayBuffer());
				hash.update(bytes);
				sum.update(bytes);
				if (part < entry.etags.length) report(from + at, "Comparing it with what is in the store");
			}
			const digest = hex(hash.clone().digest());
			if (part < entry.etags.length) {
				if (part === entry.etags.length - 1 && digest !== entry.digest) throw new OtherFile(entry.local);
				continue;
			}
			const link = links.find((one) => one.partNumber === part + 1);
			if (!link) throw new Refusal(410, `the session of this upload has no link for part ${part + 1} of ${entry.name}`);
			etags.push(await putAgain(link.url, blob, base64(sum.digest()), signal, (sent, note) => report(from + sent, note)));
			kept = { ...kept, files: kept.files.map((one, at) => (at === index ? { ...one, etags: [...etags], digest } : one)) };
			keep(kept);
		}
		digests.set(entry.name, hex(hash.digest()));
		before += entry.size;
	}
	progress({ file: "", sent: total, total, note: "The service checks what arrived" });
	const made = await complete(kept, signal);
	const damaged = "files" in made ? made.files.find((file) => file.hash && digests.has(file.name) && file.hash !== `sha256:${digests.get(file.name)}`) : undefined;
	if (damaged) throw new Error(`${damaged.name} is in the store with another SHA-256 than here: delete the traceset and upload it again`);
	return made;
}

async function complete(kept: Kept, signal: AbortSignal): Promise<Traceset | MappingFile> {
	const files = kept.files.map(({ name, etags }) => ({ name, parts: etags.map((etag, index) => ({ partNumber: index + 1, etag })) }));
	for (;;) {
		try {
			if (kept.kind === "traceset") return await call("CompleteTracesetUpload", { body: { uploadId: kept.uploadId, files } }, signal);
			return await call("CompleteMappingFileUpload", { body: { uploadId: kept.uploadId, parts: files[0]?.parts ?? [] } }, signal);
		} catch (error) {
			// It goes on meanwhile.
			if (!(error instanceof Refusal && error.status === 503 && error.retryAfter > 0)) throw error;
			await wait(error.retryAfter * 1000, signal);
		}
	}
}

/** Puts a part, and again after a while if that failed. The store compares the part with its MD5. */
async function putAgain(url: string, part: Blob, sum: string, signal: AbortSignal, report: (sent: number, note?: string) => void): Promise<string> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await put(url, part, sum, signal, report);
		} catch (error) {
			const again = error instanceof Refusal && (error.status === 0 || error.status >= 500 || error.status === 429 || error.code === "BadDigest");
			if (!again || attempt === tries) throw error;
			report(0, `${error.message}; trying again`);
			await wait(500 * 2 ** attempt, signal);
		}
	}
}

function put(url: string, part: Blob, sum: string, signal: AbortSignal, report: (sent: number) => void): Promise<string> {
	// fetch does not say how much was sent.
	const request = new XMLHttpRequest();
	const abort = () => request.abort();
	signal.addEventListener("abort", abort, { once: true });
	return new Promise<string>((resolve, reject) => {
		request.upload.onprogress = (event) => report(event.loaded);
		request.onabort = () => reject(signal.reason);
		request.onerror = () => reject(new Refusal(0, "the object store cannot be reached from this browser"));
		request.onload = () => {
			// A reply of something before the store may hide it, which the browser logs as an error.
			const etag = request.status === 200 ? request.getResponseHeader("ETag") : null;
			if (etag) resolve(etag);
			else if (request.status === 200) reject(new Refusal(502, "the object store does not show its ETag to browsers: its CORS rules lack the header"));
			else reject(new Refusal(request.status, `the object store replies ${request.status}`, /<Code>(\w+)<\/Code>/.exec(request.responseText)?.[1]));
		};
		request.open("PUT", url);
		request.setRequestHeader("Content-MD5", sum);
		request.send(part);
	}).finally(() => signal.removeEventListener("abort", abort));
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, milliseconds);
		signal.addEventListener(
			"abort",
			() => {
				clearTimeout(timer);
				reject(signal.reason);
			},
			{ once: true },
		);
	});
}

function hex(bytes: Uint8Array): string {
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function base64(bytes: Uint8Array): string {
	return btoa(String.fromCharCode(...bytes));
}
