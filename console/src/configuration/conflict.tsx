import { useState } from "react";
import type { Document } from "./document";
import { type Conflicted, conflict, type Edits, keptOf } from "./edits";

export type Sides = { base: Document & { name: string; version: number }; theirs: Document & { name: string; version: number } };

/**
 * Both sides of a conflict. What both changed is chosen member by member; what only one side
 * changed is kept, unless the other side is chosen for it.
 */
export function Conflict({ sides: { base, theirs }, edits, saving, save, drop }: { sides: Sides; edits: Edits; saving: boolean; save: (kept: Edits) => void; drop: () => void }) {
	const [chosen, choose] = useState<Record<string, "theirs" | "yours">>({});
	const rows = conflict(base, theirs, edits);
	const both = rows.filter((row) => row.who === "both" && row.theirs !== undefined);
	const open = both.filter((row) => chosen[row.key] === undefined).length;
	const side = (row: Conflicted) => (row.theirs === undefined ? "theirs" : (chosen[row.key] ?? (row.who === "you" ? "yours" : undefined)));
	const kept = keptOf(edits, rows, (row) => side(row) === "yours");
	return (
		<section aria-labelledby="conflict">
			<h2 id="conflict">Two changes at the same time</h2>
			<p>
				You changed version {base.version}. Meanwhile it became version {theirs.version}, by another user or in another tab. Nothing of yours is saved yet, and nothing is lost. Choose for each member
				what the next version has.
			</p>
			<section className="wide" tabIndex={0} aria-label="Both sides">
				<table className="conflict">
					<thead>
						<tr>
							<th>Member</th>
							<th>Version {base.version}</th>
							<th>Theirs, version {theirs.version}</th>
							<th>Yours</th>
						</tr>
					</thead>
					<tbody>
						{rows.map((row) => (
							<tr key={row.key}>
								<th scope="row">
									<bdi>{row.label}</bdi>
									<div className="quiet">{row.theirs === undefined ? "they removed it" : { both: "you both changed it", you: "only you changed it", they: "only they changed it" }[row.who]}</div>
								</th>
								<td>
									<bdi>{row.before || "—"}</bdi>
								</td>
								{(["theirs", "yours"] as const).map((one) => (
									<td key={one}>
										{row.who === "they" || row.theirs === undefined ? (
											<bdi>{row[one] ?? "—"}</bdi>
										) : (
											<label className="choice">
												<input
													type="radio"
													name={row.key}
													checked={side(row) === one}
													onChange={() => choose({ ...chosen, [row.key]: one })}
													aria-label={`${one === "theirs" ? "Theirs" : "Yours"} for ${row.label}: ${row[one]}`}
												/>
												<bdi>{row[one]}</bdi>
											</label>
										)}
									</td>
								))}
							</tr>
						))}
					</tbody>
				</table>
			</section>
			{rows.length === 0 && <p>Both sides made the same parameters. Only what has no parameters differs, and theirs stays.</p>}
			<p role="status">{open > 0 ? `${open} ${open === 1 ? "member needs" : "members need"} a choice.` : "All is chosen."}</p>
			<div className="actions">
				<button type="button" className="main" disabled={saving || open > 0} onClick={() => save(kept)}>
					{saving ? "Saving …" : "Save what is chosen"}
				</button>
				<button type="button" disabled={saving} onClick={drop}>
					Keep all of theirs
				</button>
			</div>
		</section>
	);
}
