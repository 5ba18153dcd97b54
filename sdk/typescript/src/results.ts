import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Api } from "./client.js";
import { ConnectionError, NetsimError } from "./errors.js";
import type { StudyResult } from "./generated/client.schemas.js";

/** A row of a table, by column. */
export type Row = Record<string, unknown>;

/** A point of a study as a row of the service's own table: the axes by their fields, then the figures and the fabric. */
export function studyRow({ inputs, figures, fabric, replicates, warnings, ...point }: StudyResult): Row {
	const { runs: _, completed, ...times } = replicates ?? { runs: [], completed: undefined };
	return { ...point, ...inputs, ...figures, ...fabric, ...(replicates && { replicates: completed, ...times }), ...(warnings && { warnings: warnings.map(({ code }) => code).join(" ") }) };
}

/** The rows of a result file in CSV, as texts by column. Fails at the end if the file is not what the service has. */
export async function* fileRows(api: Api, id: string, fileName: string, signal?: AbortSignal): AsyncGenerator<Record<string, string>, void, undefined> {
	const { downloadUrl, checksum } = await api.getResultDownload({ path: { sim_id: id }, query: { fileName } }, signal ? { signal } : {});
	const response = await fetch(downloadUrl, { signal: signal ?? null });
	if (!response.ok || !response.body) throw new NetsimError(`the object store answers ${response.status} for ${fileName}`);
	const digest = sha256.create();
	let header: string[] | undefined;
	for await (const record of records(chunks(response.body, (bytes) => digest.update(bytes)))) {
		if (header) yield Object.fromEntries(header.map((column, index) => [column, record[index] ?? ""]));
		header ??= record;
	}
	if (`sha256:${bytesToHex(digest.digest())}` !== checksum) throw new NetsimError(`${fileName} has another SHA-256 than ${checksum}`);
}

async function* chunks(body: ReadableStream<Uint8Array>, each: (bytes: Uint8Array) => void): AsyncGenerator<string, void, undefined> {
	const reader = body.getReader();
	const decoder = new TextDecoder();
	try {
		for (;;) {
			const { done, value } = await reader.read().catch((cause: unknown) => {
				throw new ConnectionError("the file broke off", { cause });
			});
			if (done) return;
			each(value);
			yield decoder.decode(value, { stream: true });
		}
	} finally {
		reader.cancel().catch(() => {}); // It may have broken.
	}
}

/** The records of CSV by RFC 4180. */
export async function* records(texts: AsyncIterable<string>): AsyncGenerator<string[], void, undefined> {
	let rest = "";
	for await (const text of texts) {
		rest += text;
		// A record ends at a line break that is in no quotes.
		let from = 0;
		for (const { 0: record, index } of rest.matchAll(/(?:"(?:[^"]|"")*"|[^"\n])*\n/gy)) {
			yield fields(record.replace(/\r?\n$/, ""));
			from = index + record.length;
		}
		rest = rest.slice(from);
	}
	if (rest) yield fields(rest);
}

function fields(record: string): string[] {
	return [...`${record},`.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*)),/gy)].map(([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain);
}
