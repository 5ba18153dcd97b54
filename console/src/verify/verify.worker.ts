import type { Bundle, Report, Wanted } from "./bundle";
import { type Explained, explain, type Row, rows } from "./explain";
import { canVerify } from "./note";
import { verify } from "./read";
import { wrongWanted } from "./verify";

/** What the page asks of the worker. A file stays in the browser. */
export type Asked = { type: "verify"; file: Blob; wanted: Wanted } | { type: "explain"; line: number } | { type: "line"; line: number };

/** What it replies. */
export type Replied =
	| { type: "progress"; done: number }
	| { type: "verified"; report: Report; rows: Row[]; milliseconds: number }
	| { type: "explained"; line: number; explained: Explained | undefined }
	| { type: "line"; line: number; text: string | undefined }
	| { type: "failed"; message: string };

const reply = (message: Replied) => postMessage(message);

let file: Blob;
let bundle: Bundle;
let places: number[] = [];

addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
	try {
		if (data.type === "verify") await start(data.file, data.wanted);
		else if (data.type === "explain") reply({ type: "explained", line: data.line, explained: explain(bundle, data.line) });
		else reply({ type: "line", line: data.line, text: await textOf(data.line) });
	} catch (error) {
		reply({ type: "failed", message: error instanceof Error ? error.message : String(error) });
	}
});

async function start(of: Blob, wanted: Wanted): Promise<void> {
	const wrong = wrongWanted(wanted);
	if (wrong) throw new Error(wrong);
	if (!(await canVerify())) throw new Error("this browser verifies no Ed25519 signatures on this page: use a current one over HTTPS, or netsim audit verify");
	const began = performance.now();
	let shown = 0;
	const result = await verify(of, wanted, (done) => {
		if (done < shown + 0.01) return;
		shown = done;
		reply({ type: "progress", done });
	});
	[file, bundle, places] = [of, result.bundle, result.places];
	reply({ type: "verified", report: result.report, rows: rows(bundle), milliseconds: performance.now() - began });
}

async function textOf(line: number): Promise<string | undefined> {
	const from = places[line - 1];
	return from === undefined ? undefined : file.slice(from, Math.min(places[line] ?? file.size, from + (1 << 20))).text();
}
