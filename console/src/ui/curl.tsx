import { useRef, useState } from "react";
import { type Args, base, type Operation, request } from "../api/client";
import { write } from "../api/json";
import type { Elsewhere } from "../lib/elsewhere";
import { type Asked, programs } from "../lib/sdk";

/** A request as a person would send it. The path is the one below /api/v1/. */
export type Call = {
	method?: string;
	path: string;
	body?: unknown;
	headers?: Record<string, string>;
	says?: string;
	asked?: Asked /** It changes something, so the script has it as a comment. */;
	act?: boolean;
};

/** The request of an operation of the contract. */
export function shown<Name extends Operation>(name: Name, args: Args<Name>, says?: string): Call {
	return { ...request(name, args), ...(says && { says }), asked: { operation: name, ...(args as Omit<Asked, "operation">), ...(says && { says }) } };
}

/** The requests for what is on the page, to be pasted into a shell, and as programs with the SDKs. */
export function Curl({ calls }: { calls: Call[] }) {
	const url = `${location.origin}${base.replace(/\/console\/$/, "")}`;
	const same = programs(
		calls.flatMap(({ asked }) => asked ?? []),
		url,
	);
	return (
		<>
			<Paste summary="The same with curl" text={script(calls)} />
			{same && (
				<>
					<Paste summary="The same in Python" text={same.python} />
					<Paste summary="The same in TypeScript" text={same.typescript} />
					<Paste summary="The same in Go" text={same.go} />
				</>
			)}
		</>
	);
}

/** What is on the page from the lake and from the public topics. docs/lake.md and docs/public-topics.md say how to reach them. */
export function Others({ sql, kcat }: Elsewhere) {
	return (
		<>
			{sql && <Paste summary="The same in SQL, from the lake" text={`-- In DuckDB, after the ATTACH that "netsim lake attach" prints.\n${sql}`} />}
			{kcat && <Paste summary="The same with kcat, from the public topics" text={`# KAFKA: the brokers. The topics begin with the deployment's NETSIM_TOPIC_PREFIX.\n${kcat}`} />}
		</>
	);
}

function Paste({ summary, text }: { summary: string; text: string }) {
	const shown = useRef<HTMLPreElement>(null);
	const [copied, setCopied] = useState(false);
	const copy = async () => {
		const range = document.createRange();
		if (!shown.current) return;
		range.selectNodeContents(shown.current);
		getSelection()?.removeAllRanges();
		getSelection()?.addRange(range);
		// Without HTTPS a browser has no clipboard; then the text is selected, to be copied.
		await navigator.clipboard?.writeText(shown.current.textContent ?? "");
		setCopied(navigator.clipboard !== undefined);
	};
	return (
		<details className="curl">
			<summary>{summary}</summary>
			<pre ref={shown} tabIndex={0}>
				{text}
			</pre>
			<button type="button" onClick={copy}>
				{copied ? "Copied" : "Copy"}
			</button>
		</details>
	);
}

/** A script for a shell. Values are quoted, whatever is in them. */
export function script(calls: Call[], origin = location.origin, prefix = base.replace(/console\/$/, "")): string {
	const lines = [`NETSIM=${quoted(`${origin}${prefix}api/v1`)}`, 'AUTH="Authorization: Bearer $(netsim token)"'];
	for (const { method = "GET", path, body, headers = {}, says, act = false } of calls) {
		if (says) lines.push(`# ${says}`);
		const words = ["curl -sS", '-H "$AUTH"'];
		if (path.endsWith("/events")) words[0] = "curl -sSN";
		if (method !== "GET") words.push(`-X ${method}`);
		for (const [name, value] of Object.entries(headers)) words.push(`-H ${quoted(`${name}: ${value}`)}`);
		if (body !== undefined) words.push("-H 'Content-Type: application/json'", `-d ${quoted(write(body))}`);
		const line = `${words.join(" ")} "$NETSIM"/${quoted(path)}`;
		lines.push(act ? line.replace(/^/gm, "# ") : line);
	}
	return lines.join("\n");
}

function quoted(text: string): string {
	return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
