import { useEffect, useRef } from "react";
import { Facts, Loading } from "../ui/parts";
import { LineLink, useReply } from "./ask";
import { frameHeaders } from "./headers";

/** A line of the bundle as it is: of an event, the record of the log with its headers, hash and data. */
export function Record({ line, last, worker }: { line: number; last: number; worker: Worker }) {
	const reply = useReply(worker, "line", line);
	const heading = useRef<HTMLHeadingElement>(null);
	const there = reply !== undefined;
	useEffect(() => {
		if (there) heading.current?.focus();
	}, [there]);
	if (!reply) return <Loading of={`line ${line}`} />;
	const read = fields(reply.text ?? "");
	return (
		<section aria-label={`Line ${line}`} className="record">
			<h2 ref={heading} tabIndex={-1}>
				Line {line}
				{read ? `: ${read.kind}` : ""}
			</h2>
			<p>
				{line > 1 && <LineLink line={line - 1}>the line before</LineLink>} {line < last && <LineLink line={line + 1}>the line after</LineLink>}
			</p>
			{reply.text === undefined ? (
				<p>The bundle has no such line.</p>
			) : read ? (
				<Facts of={read.facts.map(([name, value]) => [name, <Value key={name} of={value} />])} />
			) : (
				<pre tabIndex={0}>{reply.text}</pre>
			)}
		</section>
	);
}

function Value({ of }: { of: string }) {
	return of.includes("\n") || of.length > 100 ? (
		<pre tabIndex={0}>
			<bdi>{of}</bdi>
		</pre>
	) : (
		<code>
			<bdi>{of}</bdi>
		</code>
	);
}

/** The members of a line as text, those of a frame by the names of its headers; nothing for what is no such line. */
function fields(text: string): { kind: string; facts: [string, string][] } | undefined {
	let line: { [name: string]: unknown };
	try {
		line = JSON.parse(text);
	} catch {
		return undefined;
	}
	if (typeof line !== "object" || line === null) return undefined;
	const facts: [string, string][] = [];
	for (const [name, value] of Object.entries(line)) {
		if (name === "line" || name === "kind") continue;
		if (name === "frame" && Array.isArray(value)) {
			value.forEach((header, at) => {
				if (header !== "") facts.push([frameHeaders[at] ?? `frame ${at}`, String(header)]);
			});
		} else facts.push([name, typeof value === "string" ? value : JSON.stringify(value, null, 1)]);
	}
	return { kind: String(line.kind), facts };
}
