import type { Finding } from "../api/contract";
import { count } from "../lib/units";
import { useModel } from "./data";
import { type Document, type Edits, entities, findingsOf, globals, isAt, keyOf, tree, type Use } from "./document";
import { at, boundsText, type Edit, type Leaf, leafText, leaves, rounded, units, wrong } from "./parameters";

type Choose = (name: string) => void;

/** The tree of what a document is made of. The one that is chosen is the page's. */
export function Tree({ document, chosen, choose, findings, edits }: { document: Document; chosen: string; choose: Choose; findings: Finding[]; edits: Edits }) {
	const { used, applications, unused } = tree(document);
	const marks = { chosen, choose, findings, edited: new Set(Object.keys(edits).flatMap((key) => (key.startsWith("[") ? [JSON.parse(key)[0] as string] : []))) };
	return (
		<nav aria-label="Components" className="tree">
			<ul>
				<li>
					<Entry name={globals} text="Global parameters" {...marks} />
				</li>
				<li>
					Topology, {document.topology.topologyTiers} {document.topology.topologyTiers === 1 ? "tier" : "tiers"}
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

type Marks = { chosen: string; choose: Choose; findings: Finding[]; edited: Set<string> };

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

/** The parameters of the chosen entity with their units and bounds, and what was found about each. */
export function Parameters({
	document,
	chosen,
	findings,
	edits,
	edit,
}: {
	document: Document;
	chosen: string;
	findings: Finding[];
	edits: Edits;
	/** Without it nothing can be changed. */
	edit?: ((key: string, edit: Edit) => void) | undefined;
}) {
	const entity = entities(document).find((one) => one.name === chosen);
	const model = useModel(entity);
	const container = document.containers.find((one) => one.name === chosen);
	const own = findingsOf(findings, chosen);
	const title = chosen === globals ? "Global parameters" : chosen;
	const rows = entity ? leaves(entity.parameters) : [];
	const elsewhere = own.filter((finding) => !rows.some(({ path }) => isAt(finding, path)));
	return (
		<section aria-labelledby="parameters">
			<h2 id="parameters">
				<bdi>{title}</bdi>
			</h2>
			{model.data && (
				<p className="quiet">
					{model.data.name}, {entity?.model} {entity?.version}: {model.data.description}
				</p>
			)}
			{model.error && <p className="quiet">What the model says of its parameters cannot be loaded now.</p>}
			<Findings of={elsewhere} />
			{container && <p>A {container.type} has no parameters of its own. It is made of what is below it.</p>}
			{!entity && !container && <p>The configuration has nothing of this name. Choose one in the tree.</p>}
			{entity && rows.length === 0 && <p>It has no parameters.</p>}
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
											<Value label={path.join(" ")} leaf={known} edit={edits[key]} set={edit && !known.readonly ? (changed) => edit(key, changed) : undefined} />
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
		</section>
	);
}

export function Findings({ of }: { of: Finding[] }) {
	return of.map((finding) => (
		<p key={`${finding.code} ${finding.path} ${finding.message}`} className={`finding ${finding.severity}`}>
			<strong>{finding.severity}:</strong> <bdi>{finding.message}</bdi>
		</p>
	));
}

function Value({ label, leaf, edit, set }: { label: string; leaf: Leaf; edit: Edit | undefined; set: ((edit: Edit) => void) | undefined }) {
	if (!set) return <span className="amount">{leafText(leaf)}</span>;
	const value = edit?.value ?? String(leaf.value);
	const unit = edit?.unit ?? leaf.unit;
	const change = (part: Partial<Edit>) => set({ value, ...(unit !== undefined && { unit }), ...part });
	const choices = leaf.type === "bool" ? ["true", "false"] : leaf.enum?.map(String);
	const bad = wrong(leaf.type, value);
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
