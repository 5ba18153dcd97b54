import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import type { Asked, Replied } from "./verify.worker";

type Replies = { explained: Extract<Replied, { type: "explained" }>; line: Extract<Replied, { type: "line" }> };

/** Asks the worker for what it knows about a line. */
export function useReply<Kind extends keyof Replies>(worker: Worker, kind: Kind, line: number): Replies[Kind] | undefined {
	const [reply, setReply] = useState<Replies[Kind]>();
	useEffect(() => {
		const take = ({ data }: MessageEvent<Replied>) => {
			if (data.type === kind && "line" in data && data.line === line) setReply(data as Replies[Kind]);
		};
		worker.addEventListener("message", take);
		worker.postMessage({ type: kind === "line" ? "line" : "explain", line } satisfies Asked);
		return () => worker.removeEventListener("message", take);
	}, [worker, kind, line]);
	return reply?.line === line ? reply : undefined;
}

/** A link to a line of the bundle, on this page. */
export function LineLink({ line, children }: { line: number; children?: ReactNode }) {
	return (
		<Link from="/bills/verify" to="." search={(old) => ({ ...old, line: String(line) })} replace>
			{children ?? `line ${line}`}
		</Link>
	);
}
