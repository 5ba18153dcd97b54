import type { Application, Component, Configuration, ConfigurationUpdate, ConfigurationVersion, Container, Finding, Params, Topology, TopologyDocument } from "../api/contract";
import { at, type Edit, editText, type Leaf, leafText, leaves, plain, replaced } from "./parameters";

/** What configurations, their versions and templates have in common. */
export type Document = Pick<Configuration | ConfigurationVersion, "components" | "containers" | "applications" | "links" | "topology" | "globalParameters">;

/** Where parameters are. The global ones are those of the entity of the name "". */
export type Section = "components" | "links" | "applications" | "globalParameters";
export type Entity = { section: Section; name: string; type: string; model: string; version: string; parameters: Params };

export const globals = "";

/** The entities that have parameters, in the order of the document, the global ones first. */
export function entities(document: Document): Entity[] {
	const those = (section: "components" | "links" | "applications", list: (Component | Application)[]) =>
		list.map((one): Entity => ({ section, name: one.name, type: one.type, model: one.model, version: one.version, parameters: one.typedParameters ?? {} }));
	return [
		{ section: "globalParameters", name: globals, type: "global", model: "", version: "", parameters: document.globalParameters },
		...those("components", document.components),
		...those("links", document.links),
		...those("applications", document.applications),
	];
}

/** What a person changed and did not save yet: by entity and path. Names of entities are unique in a configuration. */
export type Edits = Record<string, Edit>;

const nameKey = "name";

export function keyOf(entity: string, path: string[]): string {
	return JSON.stringify([entity, ...path]);
}

function readKey(key: string): [entity: string, path: string[]] {
	const [entity = "", ...path] = JSON.parse(key) as string[];
	return [entity, path];
}

/** The key of the configuration's own name among the edits. */
export const ownName = nameKey;

/** What one reads for a key. */
export function labelOf(key: string): string {
	if (key === nameKey) return "Name of the configuration";
	const [entity, path] = readKey(key);
	return `${entity || "Global"}: ${path.join(" › ")}`;
}

function leafAt(document: Document, key: string): Leaf | undefined {
	const [name, path] = readKey(key);
	return at(entities(document).find((entity) => entity.name === name)?.parameters, path);
}

/** What a configuration has for a key as text, undefined if it has it no longer. */
export function textAt(document: Document & { name?: string }, key: string): string | undefined {
	if (key === nameKey) return document.name;
	const leaf = leafAt(document, key);
	return leaf && leafText(leaf);
}

/** The request that makes the edits: each section that has one, whole, so that one version has all of them or none. */
export function update(document: Document, edits: Edits): ConfigurationUpdate {
	const changed = new Map<string, [path: string[], edit: Edit][]>();
	const made: ConfigurationUpdate = {};
	for (const [key, edit] of Object.entries(edits)) {
		if (key === nameKey) {
			made.name = edit.value.trim();
			continue;
		}
		const [entity, path] = readKey(key);
		changed.set(entity, [...(changed.get(entity) ?? []), [path, edit]]);
	}
	const edited = (name: string, tree: Params) => (changed.get(name) ?? []).reduce<unknown>((inner, [path, edit]) => replaced(inner, path, edit), tree) as Params;
	const section = <One extends Component | Application>(list: One[]): One[] | undefined =>
		list.some((one) => changed.has(one.name)) ? list.map((one) => (changed.has(one.name) ? { ...one, typedParameters: edited(one.name, one.typedParameters ?? {}) } : one)) : undefined;
	const parts = { components: section(document.components), links: section(document.links), applications: section(document.applications) };
	for (const [name, list] of Object.entries(parts)) {
		if (list) Object.assign(made, { [name]: list });
	}
	if (changed.has(globals)) made.globalParameters = edited(globals, document.globalParameters);
	return made;
}

/** Edits without those that are what the document has already. */
export function effective(document: Document & { name?: string }, edits: Edits): Edits {
	return Object.fromEntries(Object.entries(edits).filter(([key, edit]) => editText(edit) !== textAt(document, key)));
}

/** A member in a conflict. Without theirs, the others removed it. */
export type Conflicted = { key: string; label: string; before: string; theirs: string | undefined; yours: string | undefined; who: "both" | "you" | "they" };

/**
 * What the others changed and what one changed oneself, from the version that both began with.
 * Members that are the same on both sides are no conflict and are left out.
 */
export function conflict(base: Document & { name?: string }, theirs: Document & { name?: string }, edits: Edits): Conflicted[] {
	const keys = new Set([nameKey, ...[base, theirs].flatMap((document) => entities(document).flatMap((entity) => leaves(entity.parameters).map(({ path }) => keyOf(entity.name, path))))]);
	const found: Conflicted[] = [];
	for (const key of keys) {
		const before = textAt(base, key);
		const now = textAt(theirs, key);
		const edit = edits[key];
		const yours = edit && editText(edit);
		if (yours === now || (yours === undefined && before === now)) continue;
		const who = yours === undefined ? "they" : before === now ? "you" : "both";
		found.push({ key, label: labelOf(key), before: before ?? "", theirs: now, yours, who });
	}
	const order = { both: 0, you: 1, they: 2 };
	return found.sort((a, b) => order[a.who] - order[b.who]);
}

/** The body that asks for the drawing of a document. */
export function drawn(document: Document): TopologyDocument {
	const bare = <One extends Component | Application>(list: One[]) => list.map((one) => ({ ...one, typedParameters: plain(one.typedParameters ?? {}) as Params }));
	const { containers, topology } = document;
	return { applications: bare(document.applications), components: bare(document.components), links: bare(document.links), containers, topology };
}

/** A node of the tree: an entity where it is used. */
export type Use = { name: string; type: string; count: number; uses: Use[] };

/** What the topology is made of, the applications, and what is declared and not used. */
export function tree({ components, containers, applications, links, topology }: Document): { used: Use[]; applications: Use[]; unused: Use[] } {
	type Holder = Container | Component | Application;
	const declared = new Map<string, Holder>([...containers, ...components, ...links, ...applications].map((one) => [one.name, one]));
	const reached = new Set<string>();
	const used = (references: Topology["components"] | undefined, above: string[]): Use[] =>
		(references ?? []).map(({ name, type, count = 1 }) => {
			reached.add(name);
			const holder = declared.get(name);
			// A document that is not valid may contain itself.
			const inner = holder && "components" in holder && !above.includes(name) ? used(holder.components, [...above, name]) : [];
			return { name, type, count: Number(count), uses: inner };
		});
	const top = used(topology.components, []);
	const rest = [...declared.values()].filter((one) => one.type !== "application" && !reached.has(one.name));
	const single = ({ name, type }: Holder): Use => ({ name, type, count: 1, uses: [] });
	return { used: top, applications: applications.map(single), unused: rest.map(single) };
}

/** The findings of an entity. The global parameters have those without a component that name a place among them. */
export function findingsOf(findings: Finding[], entity: string): Finding[] {
	return findings.filter((finding) => (entity === globals ? !finding.component && (finding.path ?? "").startsWith("$.globalParameters") : finding.component === entity));
}

/** Whether a finding is about the parameter at a path of its entity. */
export function isAt(finding: Finding, path: string[]): boolean {
	const dotted = path.join(".");
	return finding.parameter === dotted || (finding.path ?? "").endsWith(`.${dotted}`);
}
