import { useRef, useState } from "react";
import { byIds } from "../lib/ids";

/** A text whose ids are whole, and are copied by a click or a tap. */
export function Ids({ children }: { children: string }) {
	return byIds(children).map((part, at) => (at % 2 === 1 ? <Id key={at}>{part}</Id> : part && <bdi key={at}>{part}</bdi>));
}

export function Id({ children }: { children: string }) {
	const text = useRef<HTMLButtonElement>(null);
	const [copied, setCopied] = useState(false);
	const copy = async () => {
		if (text.current) getSelection()?.selectAllChildren(text.current);
		// Without HTTPS a browser has no clipboard; then the id is selected, to be copied.
		await navigator.clipboard?.writeText(children);
		setCopied(navigator.clipboard !== undefined);
	};
	return (
		<>
			<button ref={text} type="button" className="link id" title="A click copies it" onClick={copy} onBlur={() => setCopied(false)}>
				{children}
			</button>
			<span role="status" className="quiet">
				{copied && " copied"}
			</span>
		</>
	);
}
