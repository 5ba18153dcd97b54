import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { type Args, apiBase, refusal, request, send } from "../api/client";
import { useSession } from "../api/session";
import { type VerifySearch, verifyRoute } from "../router";
import { shown } from "../ui/curl";
import { useDrop } from "../ui/drop";
import { Failure, Page } from "../ui/parts";
import type { Report, Wanted } from "../verify/bundle";
import type { Row } from "../verify/explain";
import { Found } from "../verify/found";
import { command } from "../verify/verdict";
import type { Asked, Replied } from "../verify/verify.worker";
import "../verify/verify.css";

/** A verified file, and the worker that explains it. */
type Verified = { name: string; report: Report; rows: Row[]; wanted: Wanted; milliseconds: number };

const on = (value: string | undefined) => value === "yes";

/** Verifies a bundle as netsim audit verify does, in the browser. A file is not sent anywhere. */
export function Verify() {
	const search = verifyRoute.useSearch();
	const [notes, setNotes] = useState<{ name: string; text: string }[]>([]);
	const [state, setState] = useState<{ name: string; done: number } | { error: unknown } | Verified>();
	const worker = useRef<Worker>(undefined);
	const aborted = useRef<AbortController>(undefined);
	useEffect(() => () => worker.current?.terminate(), []);
	const wanted: Wanted = {
		key: search.key ?? "",
		account: search.account ?? "",
		from: search.from ?? "",
		to: search.to ?? "",
		notes: notes.map(({ text }) => text),
		preliminary: on(search.preliminary),
		strict: on(search.strict),
	};

	const stop = () => {
		worker.current?.terminate();
		aborted.current?.abort();
		setState(undefined);
	};
	const begin = (file: Blob, name: string) => {
		worker.current?.terminate();
		const own = new Worker(new URL("../verify/verify.worker.ts", import.meta.url), { type: "module", name: "verify" });
		own.addEventListener("message", ({ data }: MessageEvent<Replied>) => {
			if (data.type === "progress") setState({ name, done: data.done });
			else if (data.type === "failed") setState({ error: new Error(data.message) });
			else if (data.type === "verified") setState({ ...data, name, wanted });
		});
		own.onerror = () => setState({ error: new Error("its worker cannot be started") });
		setState({ name, done: 0 });
		own.postMessage({ type: "verify", file, wanted } satisfies Asked);
		worker.current = own;
	};
	const mine = async () => {
		const name = `your account from ${wanted.from} to ${wanted.to}`;
		setState({ name, done: 0 });
		aborted.current = new AbortController();
		try {
			const response = await send(apiBase + request("GetBundle", ownBundle(wanted)).path, { headers: { Accept: "application/x-ndjson" }, signal: aborted.current.signal });
			if (!response.ok) throw refusal(response, await response.text());
			begin(await response.blob(), name);
		} catch (error) {
			if (!aborted.current.signal.aborted) setState({ error });
		}
	};
	return (
		<Page title="Verify a bundle" calls={[shown("GetBundle", ownBundle(wanted))]}>
			<p>
				A bundle is one file that proves an account's costs: every event of its chain, the rates, and signed checkpoints of the log. Your browser verifies it as <code>netsim audit verify</code> does.
				A file that you choose is not sent anywhere.
			</p>
			<Options notes={notes} setNotes={setNotes} />
			<Source begin={begin} mine={mine} wanted={wanted} />
			<p className="quiet chained">
				The same on the command line: <code>{command(wanted, on(search.noNote))}</code>
			</p>
			{state && "error" in state && <Failure of="The bundle cannot be verified" error={state.error} />}
			{state && "done" in state && (
				<p role="status">
					<label>
						Verifying <bdi>{state.name}</bdi> <progress value={state.done} max={1} />
					</label>
					<button type="button" onClick={stop}>
						Stop
					</button>
				</p>
			)}
			{state && "report" in state && worker.current && <Found {...state} noNote={on(search.noNote)} worker={worker.current} />}
		</Page>
	);
}

const ownBundle = ({ from, to, preliminary }: Wanted): Args<"GetBundle"> => ({ query: { from, to, preliminary: preliminary || undefined } });

type Notes = { name: string; text: string }[];

function Options({ notes, setNotes }: { notes: Notes; setNotes: (notes: Notes) => void }) {
	const search = verifyRoute.useSearch();
	const navigate = useNavigate({ from: "/bills/verify" });
	const set = (name: keyof VerifySearch, value: string) => navigate({ search: (old: VerifySearch) => ({ ...old, [name]: value, line: "", cost: "" }), replace: true });
	const text = (name: "key" | "account" | "from" | "to", label: string, type = "text") => (
		<label>
			{label}
			<input type={type} value={search[name] ?? ""} spellCheck={false} onChange={(event) => set(name, event.target.value.trim())} />
		</label>
	);
	const flag = (name: "preliminary" | "strict" | "noNote", label: string) => (
		<label className="check">
			<input type="checkbox" checked={on(search[name])} onChange={(event) => set(name, event.target.checked ? "yes" : "")} /> {label}
		</label>
	);
	return (
		<section aria-label="What you expect">
			<div className="filters">
				{text("key", "Public key of the log that you know")}
				{text("account", "Account")}
				{text("from", "First day", "date")}
				{text("to", "Last day", "date")}
				<label>
					Checkpoints that you hold
					<input type="file" multiple onChange={async (event) => setNotes(await Promise.all([...(event.target.files ?? [])].map(async (file) => ({ name: file.name, text: await file.text() }))))} />
				</label>
			</div>
			{notes.length > 0 && <p className="quiet">{notes.map(({ name }) => name).join(", ")}</p>}
			<div className="filters">
				{flag("preliminary", "The period need not have ended")}
				{flag("strict", "No loss of records may have been accepted")}
				{flag("noNote", "I hold no checkpoint, and know that the end may have been cut off")}
			</div>
		</section>
	);
}

function Source({ begin, mine, wanted }: { begin: (file: Blob, name: string) => void; mine: () => void; wanted: Wanted }) {
	const billing = useSession()?.roles.includes("billing");
	const drop = useDrop(([file]) => file && begin(file, file.name));
	return (
		<section aria-label="The bundle" {...drop}>
			<label>
				Drop a bundle here, or choose its file
				<input
					type="file"
					accept=".jsonl,.ndjson,application/x-ndjson"
					onChange={(event) => {
						const file = event.target.files?.[0];
						if (file) begin(file, file.name);
						event.target.value = ""; // the same file may be chosen again
					}}
				/>
			</label>
			{billing && (
				<p>
					<button type="button" onClick={mine} disabled={wanted.from === "" || wanted.to === ""}>
						Verify my account's bundle of these days
					</button>{" "}
					<span className="quiet">Choose the first and the last day for it. The service writes it from the log.</span>
				</p>
			)}
		</section>
	);
}
