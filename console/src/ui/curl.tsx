import { useRef, useState } from "react";
import { type Args, base, type Operation, request } from "../api/client";
import { write } from "../api/json";

/** A request as a person would send it. The path is the one below /api/v1/. */
export type Call = { method?: string; path: string; body?: unknown; headers?: Record<string, string>; says?: string };

/** The request of an operation of the contract. */
export function shown<Name extends Operation>(name: Name, args: Args<Name>, says?: string): Call {
	return { ...request(name, args), ...(says && { says }) };
}

/** The requests for what is on the page, to be pasted into a shell. */
export function Curl({ calls }: { calls: Call[] }) {
	const text = useRef<HTMLPreElement>(null);
	const [copied, setCopied] = useState(false);
	const copy = async () => {
		const range = document.createRange();
		if (!text.current) return;
		range.selectNodeContents(text.current);
		getSelection()?.removeAllRanges();
		getSelection()?.addRange(range);
		// Without HTTPS a browser has no clipboard; then the text is selected, to be copied.
		await navigator.clipboard?.writeText(text.current.textContent ?? "");
		setCopied(navigator.clipboard !== undefined);
	};
	return (
		<details className="curl">
			<summary>The same with curl</summary>
			<pre ref={text} tabIndex={0}>
				{script(calls)}
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
	for (const { method = "GET", path, body, headers = {}, says } of calls) {
		if (says) lines.push(`# ${says}`);
		const words = ["curl -sS", '-H "$AUTH"'];
		if (path.endsWith("/events")) words[0] = "curl -sSN";
		if (method !== "GET") words.push(`-X ${method}`);
		for (const [name, value] of Object.entries(headers)) words.push(`-H ${quoted(`${name}: ${value}`)}`);
		if (body !== undefined) words.push("-H 'Content-Type: application/json'", `-d ${quoted(write(body))}`);
		lines.push(`${words.join(" ")} "$NETSIM"/${quoted(path)}`);
	}
	return lines.join("\n");
}

function quoted(text: string): string {
	return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
