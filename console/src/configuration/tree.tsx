import type { Finding } from "../api/contract";
import { count } from "../lib/units";
import { useModel } from "./data";
import { type Document, entities, findingsOf, globals, isAt, titleOf, tree, type Use } from "./document";
import { aboutOf, type Edits, isParameter, keyOf } from "./edits";
import { Findings } from "./findings";
import { Holds, placed } from "./holds";
import { at, boundsText, type Edit, type Leaf, leafText, leaves, rounded, units, wrong } from "./parameters";
import { declared, topology } from "./references";

type Choose = (name: string) => void;

/** The tree of what a document is made of. The one that is chosen is the page's. */
export function Tree({ document, chosen, choose, findings, edits }: { document: Document; chosen: string; choose: Choose; findings: Finding[]; edits: Edits }) {
	const { used, applications, unused } = tree(document);
	const marks = { chosen, choose, findings, edited: new Set(Object.keys(edits).map(aboutOf)) };
	return (
		<nav aria-label="Components" className="tree">
			<ul>
				<li>
					<Entry name={globals} text="Global parameters" {...marks} />
				</li>
				<li>
					<Entry name={topology} text="Topology" type={Number(document.topology.topologyTiers) === 1 ? "1 tier" : `${document.topology.topologyTiers} tiers`} {...marks} />
					<Uses of={used} {...marks} />
				</li>
				{applications.length > 0 && (
					<li>
						Applications
						<Uses of={applications} {...marks} />
					</li>
				)}
				{unused.length > 0 && (
					<li>
						Declared, not used
						<Uses of={unused} {...marks} />
					</li>
				)}
			</ul>
		</nav>
	);
}

type Marks = { chosen: string; choose: Choose; findings: Finding[]; edited: Set<string | undefined> };

function Uses({ of, ...marks }: { of: Use[] } & Marks) {
	return (
		<ul>
			{of.map((use) => (
				<li key={`${use.type} ${use.name}`}>
					<Entry name={use.name} text={use.name} type={use.type} times={use.count} {...marks} />
					{use.uses.length > 0 && <Uses of={use.uses} {...marks} />}
				</li>
			))}
		</ul>
	);
}

function Entry({ name, text, type, times = 1, chosen, choose, findings, edited }: { name: string; text: string; type?: string; times?: number } & Marks) {
	const own = findingsOf(findings, name);
	return (
		<>
			{times > 1 && `${count(times)} × `}
			<button type="button" className="link" aria-current={chosen === name ? "true" : undefined} onClick={() => choose(name)}>
				<bdi>{text}</bdi>
			</button>
			{type && <span className="quiet"> {type}</span>}
			{own.length > 0 && <span className={own.some((one) => one.severity === "error") ? "status invalid" : "status"}> {own.length === 1 ? "1 finding" : `${own.length} findings`}</span>}
			{edited.has(name) && <em> edited</em>}
		</>
	);
}

/** The chosen entity: what it holds, and its parameters with their units and bounds, each with what was found about it. */
export function Parameters({
	document,
	chosen,
	findings,
	edits,
	now = document,
	edit,
	remove,
}: {
	document: Document;
	chosen: string;
	findings: Finding[];
	edits: Edits;
	/** The document with the edits. */
	now?: Document;
	/** Without it nothing can be changed. */
	edit?: ((change: Edits) => void) | undefined;
	remove?: (entity: string) => void;
}) {
	const entity = entities(now).find((one) => one.name === chosen);
	const model = useModel(entity);
	const declaration = declared(now).find((one) => one.name === chosen);
	const fresh = declaration && !declared(document).some((one) => one.name === chosen);
	const own = findingsOf(findings, chosen);
	// What is not saved yet has the parameters of its model, and is sent with those that were changed.
	const rows = leaves(fresh ? model.data?.typedParameters : entities(document).find((one) => one.name === chosen)?.parameters);
	const elsewhere = own.filter((finding) => !placed(document, chosen, finding) && !rows.some(({ path }) => isAt(finding, path)));
	const known = declaration ?? (chosen === globals || chosen === topology);
	return (
		<section aria-labelledby="parameters">
			<h2 id="parameters">
				<bdi>{titleOf(chosen)}</bdi>
			</h2>
			{model.data && (
				<p className="quiet">
					{model.data.name}, {entity?.model} {entity?.version}: {model.data.description}
				</p>
			)}
			{model.error && <p className="quiet">What the model says of its parameters cannot be loaded now.</p>}
			<Findings of={elsewhere} />
			{!known && <p>The configuration has nothing of this name. Choose one in the tree.</p>}
			{known && <Holds document={document} now={now} holder={chosen} findings={own} edits={edits} edit={edit} />}
			{fresh && <p>It is new.{rows.length > 0 && " Its parameters are the defaults of its model, until you change them."}</p>}
			{entity && rows.length === 0 && !(fresh && model.isPending) && <p>It has no parameters.</p>}
			{rows.length > 0 && (
				<section className="wide" tabIndex={0} aria-label="Table of the parameters">
					<table className="stacked">
						<thead>
							<tr>
								<th>Parameter</th>
								<th>Value</th>
								<th>Allowed</th>
							</tr>
						</thead>
						<tbody>
							{rows.map(({ path, leaf }) => {
								const key = keyOf(chosen, path);
								const known = { ...at(model.data?.typedParameters, path), ...leaf };
								return (
									<tr key={key}>
										<th scope="row">
											{path.join(" › ")}
											{known.description && <div className="quiet">{known.description}</div>}
										</th>
										<td data-label="Value">
											<Value
												label={path.join(" ")}
												leaf={known}
												edit={isParameter(edits[key]) ? edits[key] : undefined}
												set={edit && !known.readonly ? (changed) => edit({ [key]: fresh ? { ...changed, type: leaf.type } : changed }) : undefined}
											/>
											<Findings of={own.filter((finding) => isAt(finding, path))} />
										</td>
										<td data-label="Allowed">{boundsText(known)}</td>
									</tr>
								);
							})}
						</tbody>
					</table>
				</section>
			)}
			{remove && declaration && (
				<p>
					<button type="button" onClick={() => remove(chosen)}>
						Remove <bdi>{chosen}</bdi>
					</button>
				</p>
			)}
		</section>
	);
}

function Value({ label, leaf, edit, set }: { label: string; leaf: Leaf; edit: Edit | undefined; set: ((edit: Edit) => void) | undefined }) {
	if (!set) return <span className="amount">{leafText(leaf)}</span>;
	const value = edit?.value ?? String(leaf.value);
	const unit = edit?.unit ?? leaf.unit;
	const change = (part: Partial<Edit>) => set({ value, ...(unit !== undefined && { unit }), ...part });
	const choices = leaf.type === "bool" ? ["true", "false"] : leaf.enum?.map(String);
	const bad = wrong(leaf, value);
	const less = rounded(leaf.type, value);
	const offered = units[leaf.type] ?? [];
	return (
		<>
			<span className="value">
				{choices ? (
					<select aria-label={label} value={value} onChange={(event) => change({ value: event.target.value })}>
						{!choices.includes(value) && <option>{value}</option>}
						{choices.map((choice) => (
							<option key={choice}>{choice}</option>
						))}
					</select>
				) : (
					<input aria-label={label} aria-invalid={bad !== undefined} dir="auto" value={value} onChange={(event) => change({ value: event.target.value })} />
				)}
				{unit !== undefined && (
					<select aria-label={`${label}, unit`} value={unit} onChange={(event) => change({ unit: event.target.value })}>
						{!offered.includes(unit) && <option>{unit}</option>}
						{offered.map((one) => (
							<option key={one}>{one}</option>
						))}
					</select>
				)}
			</span>
			{bad && <div className="bad">{bad}</div>}
			{edit && less && <div className="finding warning">A double has fewer digits: the service stores {less}.</div>}
			{edit && <div className="quiet">was {leafText({ ...leaf })}</div>}
		</>
	);
}
