import { useState } from "react";
import type { Finding } from "../api/contract";
import { type Document, titleOf } from "./document";
import { type Edits, referenceKey, referencesOf } from "./edits";
import { Findings } from "./findings";
import { asEdited, bounds, declared, holder as holderOf, itemText, type Ref, topology, wrongCount } from "./references";

/** Whether a finding is shown at one of the references of a holder. */
export function placed(document: Document, holder: string, { path }: Finding): boolean {
	const place = holderOf(document, holder)?.path;
	return place !== undefined && (path ?? "").startsWith(`${place}[`);
}

/**
 * What a holder holds: how many of what, in which group. Rows are the references of the
 * document in their order, also those that the edits remove, and then those that they add.
 */
export function Holds({
	document,
	now,
	holder,
	findings,
	edits,
	edit,
}: {
	document: Document;
	/** The document with the edits. */
	now: Document;
	holder: string;
	findings: Finding[];
	edits: Edits;
	edit?: ((change: Edits) => void) | undefined;
}) {
	const held = holderOf(now, holder);
	if (!held) return null;
	const place = holderOf(document, holder);
	const changes = referencesOf(edits, holder);
	const before = (place?.references ?? []).map((reference, index): Row => ({ of: reference.name, was: asEdited(reference), path: `${place?.path}[${index}]` }));
	const added = [...changes.keys()].filter((of) => !before.some((row) => row.of === of)).map((of): Row => ({ of }));
	// A name is free while no row has it or had it. What is removed can be kept after all.
	const taken = new Set([holder, ...held.references.map(({ name }) => name), ...[...before, ...added].map(({ of }) => of)]);
	const free = declared(now).filter(({ name, type }) => held.allowed.includes(type) && !taken.has(name));
	const rows = [...before, ...added];
	return (
		<>
			{rows.length > 0 ? (
				<section className="wide" tabIndex={0} aria-label={`What ${titleOf(holder)} holds`}>
					<table className="stacked">
						<thead>
							<tr>
								<th>Count</th>
								<th>Holds</th>
								{holder !== topology && <th>Group</th>}
								{edit && <th>Change</th>}
							</tr>
						</thead>
						<tbody>
							{rows.map((row) => (
								<Reference
									key={row.of}
									row={row}
									now={now}
									change={changes.get(row.of)}
									choices={free}
									grouped={holder !== topology}
									found={findings.filter(({ path }) => row.path !== undefined && `${path}.`.startsWith(`${row.path}.`))}
									set={edit && ((reference) => edit({ [referenceKey(holder, row.of)]: { reference } }))}
								/>
							))}
						</tbody>
					</table>
				</section>
			) : (
				<p>It holds nothing yet.</p>
			)}
			{edit && <Add choices={free} allowed={held.allowed} add={(reference) => edit({ [referenceKey(holder, reference.name)]: { reference } })} />}
		</>
	);
}

type Row = { of: string; was?: Ref; path?: string };
type Choice = { name: string; type: Ref["type"] };

function Reference({
	row: { of, was },
	now,
	change,
	choices,
	grouped,
	found,
	set,
}: {
	row: Row;
	now: Document;
	/** What the edits make of it, undefined if they do not change it. */
	change: Ref | null | undefined;
	choices: Choice[];
	grouped: boolean;
	found: Finding[];
	set: ((reference: Ref | null) => void) | undefined;
}) {
	const current = change === undefined ? was : change;
	const note = change && was && current && <div className="quiet">was {itemText({ reference: was })}</div>;
	if (!current) {
		return (
			<tr>
				<td data-label="Count" />
				<td data-label="Holds">
					<s>{was && itemText({ reference: was })}</s>
				</td>
				{grouped && <td data-label="Group" />}
				<td data-label="Change">
					<button type="button" aria-label={`Keep ${of}`} onClick={() => was && set?.(was)}>
						Keep
					</button>
				</td>
			</tr>
		);
	}
	const bad = set && wrongCount(current.count);
	const put = (part: Partial<Ref>) => set?.({ ...current, ...part });
	const names: Choice[] = [current, ...(was && was.name !== current.name ? [was] : []), ...choices];
	return (
		<tr>
			<td data-label="Count">
				{set ? (
					<input className="count" inputMode="numeric" aria-label={`Count of ${of}`} aria-invalid={bad !== undefined} value={current.count} onChange={(event) => put({ count: event.target.value })} />
				) : (
					<span className="amount">{current.count}</span>
				)}
				{bad && <div className="bad">{bad}</div>}
				{note}
				<Findings of={found} />
			</td>
			<td data-label="Holds">
				{set ? (
					<select
						aria-label={`What is held instead of ${of}`}
						value={current.name}
						onChange={({ target: { value } }) => {
							const type = names.find(({ name }) => name === value)?.type ?? current.type;
							put({ name: value, type, application: type === "application" ? current.application || value : "" });
						}}
					>
						{names.map(({ name, type }) => (
							<option key={name} value={name}>
								{name} ({type})
							</option>
						))}
					</select>
				) : (
					<span>
						<bdi>{current.name}</bdi> <span className="quiet">{current.type}</span>
					</span>
				)}
				{current.type === "application" &&
					(set ? (
						<label>
							of the application
							<select value={current.application} onChange={(event) => put({ application: event.target.value })}>
								{!now.applications.some(({ name }) => name === current.application) && <option value={current.application}>{current.application || "none"}</option>}
								{now.applications.map(({ name }) => (
									<option key={name}>{name}</option>
								))}
							</select>
						</label>
					) : (
						current.application && (
							<span className="quiet">
								of the application <bdi>{current.application}</bdi>
							</span>
						)
					))}
			</td>
			{grouped && (
				<td data-label="Group">
					{set ? (
						<input dir="auto" className="group" aria-label={`Group of ${of}`} value={current.group} maxLength={bounds.group} onChange={(event) => put({ group: event.target.value })} />
					) : (
						<bdi>{current.group || "—"}</bdi>
					)}
				</td>
			)}
			{set && (
				<td data-label="Change">
					<button type="button" aria-label={`Remove ${of} from here`} onClick={() => set(null)}>
						Remove
					</button>
				</td>
			)}
		</tr>
	);
}

function Add({ choices, allowed, add }: { choices: Choice[]; allowed: readonly string[]; add: (reference: Ref) => void }) {
	const [wanted, want] = useState("");
	const chosen = choices.find(({ name }) => name === wanted) ?? choices[0];
	if (!chosen) return <p className="quiet">It may hold {allowed.join(", ")}. All that is declared of these is here already; declare another to add it.</p>;
	return (
		<form
			className="inline"
			onSubmit={(event) => {
				event.preventDefault();
				add({ ...chosen, count: "1", group: "", application: chosen.type === "application" ? chosen.name : "" });
				want("");
			}}
		>
			<label>
				Add to it
				<select value={chosen.name} onChange={(event) => want(event.target.value)}>
					{choices.map(({ name, type }) => (
						<option key={name} value={name}>
							{name} ({type})
						</option>
					))}
				</select>
			</label>
			<button type="submit">Add</button>
		</form>
	);
}
