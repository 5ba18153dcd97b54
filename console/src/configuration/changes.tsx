import type { Document } from "./document";
import { type Edits, readings } from "./edits";

/** What is not saved yet, as the versions show what was saved. Each can be taken back. */
export function Changes({ document, edits, undo }: { document: Document & { name: string }; edits: Edits; undo: (key: string) => void }) {
	return (
		<details open>
			<summary>What changes</summary>
			<ul className="plain diff">
				{readings(document, edits).map(({ key, label, kind, before, after }) => (
					<li key={key}>
						<span className={`kind ${kind}`}>{kind}</span>{" "}
						<strong>
							<bdi>{label}</bdi>
						</strong>
						: {kind !== "added" && <bdi>{before}</bdi>}
						{kind === "changed" && " → "}
						{kind !== "removed" && <bdi>{after}</bdi>}{" "}
						<button type="button" className="link" aria-label={`Take back: ${label}`} onClick={() => undo(key)}>
							take back
						</button>
					</li>
				))}
			</ul>
		</details>
	);
}
