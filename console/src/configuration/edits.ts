import type { ConfigurationUpdate, Params, Reference, Topology } from "../api/contract";
import { type Document, entities, globals, titleOf, topologyParameters, withParameters } from "./document";
import { at, type Edit, editText, type Leaf, leafText, leaves, replaced, wrong } from "./parameters";
import {
	absent,
	asEdited,
	asSent,
	collectionOf,
	type collections,
	type Declaration,
	type Declared,
	declared,
	holder,
	holders,
	type Item,
	itemText,
	type Ref,
	topology,
	wrongCount,
} from "./references";

export type Change = Edit | Item;
/** What a person changed and did not save yet: by what it is about. Names of entities are unique in a configuration. */
export type Edits = Record<string, Change>;

const nameKey = "name";

/** The key of a parameter among the edits. */
export function keyOf(entity: string, path: string[]): string {
	return JSON.stringify([entity, ...path]);
}

/** The key of the reference of a holder to a name, which the edit may change. */
export function referenceKey(holder: string, name: string): string {
	return JSON.stringify({ holder, name });
}

/** The references of a holder that edits add or change, or remove, by the names of their keys. */
export function referencesOf(edits: Edits, holder: string): Map<string, Ref | null> {
	const found = new Map<string, Ref | null>();
	for (const [key, change] of Object.entries(edits)) {
		const about = "reference" in change && readKey(key);
		if (about && "holder" in about && about.holder === holder) found.set(about.name, change.reference);
	}
	return found;
}

/** The key of the declaration of a name. */
export function declarationKey(name: string): string {
	return JSON.stringify({ name });
}

type About = { entity: string; path: string[] } | { holder: string; name: string } | { name: string };

function readKey(key: string): About {
	const read = JSON.parse(key) as string[] | Exclude<About, { path: string[] }>;
	if (!Array.isArray(read)) return read;
	const [entity = "", ...path] = read;
	return { entity, path };
}

/** The key of the configuration's own name among the edits. */
export const ownName = nameKey;

function holderAt(key: string): string | undefined {
	const about = key === nameKey ? { name: key } : readKey(key);
	return "holder" in about ? about.holder : undefined;
}

/** The entity that an edit is about, undefined for the configuration's own name. */
export function aboutOf(key: string): string | undefined {
	if (key === nameKey) return undefined;
	const about = readKey(key);
	return "path" in about ? about.entity : "holder" in about ? about.holder : about.name;
}

/** The key of the declaration of the entity whose parameter a key is of, undefined for other keys. */
function declarationOf(key: string): string | undefined {
	if (key === nameKey) return undefined;
	const about = readKey(key);
	return "path" in about ? declarationKey(about.entity) : undefined;
}

/** What one reads for a key. */
export function labelOf(key: string): string {
	if (key === nameKey) return "Name of the configuration";
	const about = readKey(key);
	if ("path" in about) return `${about.entity === globals ? "Global" : titleOf(about.entity)}: ${about.path.join(" › ")}`;
	return "holder" in about ? `${titleOf(about.holder)}: holds ${about.name}` : `Declaration of ${about.name}`;
}

export function isParameter(change: Change | undefined): change is Edit {
	return change !== undefined && "value" in change;
}

export function changeText(change: Change): string {
	return isParameter(change) ? editText(change) : itemText(change);
}

function leafAt(document: Document, key: string): Leaf | undefined {
	const about = readKey(key);
	return "path" in about ? at(entities(document).find(({ name }) => name === about.entity)?.parameters, about.path) : undefined;
}

/** What a configuration has for a key as text: undefined for a parameter, and absent for an item, that it does not have. */
export function textAt(document: Document & { name?: string }, key: string): string | undefined {
	if (key === nameKey) return document.name;
	const about = readKey(key);
	if ("path" in about) {
		const leaf = leafAt(document, key);
		return leaf && leafText(leaf);
	}
	if ("holder" in about) {
		const found = holder(document, about.holder)?.references.find(({ name }) => name === about.name);
		return itemText({ reference: found ? asEdited(found) : null });
	}
	return itemText({ declaration: (declared(document).find(({ name }) => name === about.name) as Declaration | undefined) ?? null });
}

/** The document as the edits make it. A section that they do not change is the same object. */
export function applied<Whole extends Document & { name?: string }>(document: Whole, edits: Edits): Whole {
	const parameters = new Map<string, [path: string[], edit: Edit][]>();
	const declarations = new Map<string, Declaration | null>();
	for (const [key, change] of Object.entries(edits)) {
		if (key === nameKey) continue;
		const about = readKey(key);
		if ("path" in about && isParameter(change)) parameters.set(about.entity, [...(parameters.get(about.entity) ?? []), [about.path, change]]);
		else if ("name" in about && "declaration" in change) declarations.set(about.name, change.declaration);
	}
	const tree = (name: string, before: Params) => (parameters.get(name) ?? []).reduce<unknown>((inner, [path, edit]) => replaced(inner, path, edit), before) as Params;
	const references = new Set(Object.keys(edits).map((key) => holderAt(key)));
	const held = (name: string, before: Reference[] = []): Reference[] => {
		const changes = referencesOf(edits, name);
		const added = [...changes].filter(([of]) => !before.some((one) => one.name === of)).map(([, to]) => to);
		const kept = before.flatMap((one) => (changes.has(one.name) ? (changes.get(one.name) ?? null) : one));
		return [...kept, ...added].flatMap((one) => (one === null ? [] : "application" in one ? asSent(one) : one));
	};
	const one = <One extends Declared>(before: One): One => ({
		...before,
		...(parameters.has(before.name) && { typedParameters: tree(before.name, ("typedParameters" in before && before.typedParameters) || {}) }),
		...(references.has(before.name) && { components: held(before.name, "components" in before ? before.components : []) }),
	});
	const list = <One extends Declared>(collection: (typeof collections)[number], before: One[]): One[] => {
		const added = [...declarations].flatMap(([name, to]) => (to && collectionOf(to.type) === collection && !before.some((one) => one.name === name) ? [{ ...to, name } as unknown as One] : []));
		const all = [...before.filter(({ name }) => declarations.get(name) !== null), ...added];
		const changed = all.length !== before.length || added.length > 0 || all.some(({ name }) => parameters.has(name) || references.has(name));
		return changed ? all.map(one) : before;
	};
	const made = { ...document };
	if (edits[nameKey] && isParameter(edits[nameKey])) made.name = edits[nameKey].value.trim();
	made.components = list("components", document.components);
	made.links = list("links", document.links);
	made.containers = list("containers", document.containers);
	made.applications = list("applications", document.applications);
	if (parameters.has(globals)) made.globalParameters = tree(globals, document.globalParameters);
	if (parameters.has(topology)) made.topology = withParameters(made.topology, tree(topology, topologyParameters(made.topology)));
	if (references.has(topology)) made.topology = { ...made.topology, components: held(topology, document.topology.components) };
	made.topology = distributed(made.topology, declarations);
	return made;
}

/** The topology with the entries of the distribution that applications bring with them and take with them. */
function distributed(of: Topology, declarations: Map<string, Declaration | null>): Topology {
	const before = of.appDistribution?.randomApplicationDistribution ?? [];
	let entries = before.filter((entry) => declarations.get(entry.parentApplication) !== null);
	for (const [name, to] of declarations) {
		if (to?.trafficType !== "non-coordinated" || entries.some((entry) => entry.parentApplication === name)) continue;
		for (const applicationType of ["client", "server"] as const) {
			// The first of its type has all of it. What others get is for the person to say.
			const value = entries.some((entry) => entry.applicationType === applicationType) ? 0 : 1;
			const id = `${name}-${applicationType}`;
			entries = [...entries, { name: id, parentApplication: name, applicationType, distributionPercent: { distributionId: id, value } }];
		}
	}
	if (entries.length === before.length && entries.every((entry, index) => entry === before[index])) return of;
	return { ...of, appDistribution: { ...of.appDistribution, randomApplicationDistribution: entries } };
}

/** The request that makes the edits: each section that has one, whole, so that one version has all of them or none. */
export function update(document: Document & { name?: string }, edits: Edits): ConfigurationUpdate {
	const made = applied(document, edits);
	const sections = ["name", "components", "links", "containers", "applications", "topology", "globalParameters"] as const;
	return Object.fromEntries(sections.filter((section) => made[section] !== document[section]).map((section) => [section, made[section]]));
}

/** Edits without those that are what the document has already. */
export function effective(document: Document & { name?: string }, edits: Edits): Edits {
	return Object.fromEntries(Object.entries(edits).filter(([key, change]) => changeText(change) !== textAt(document, key)));
}

/** Edits without those that are about an entity or refer to it. */
export function without(edits: Edits, entity: string): Edits {
	const refers = (change: Change) => "reference" in change && change.reference !== null && [change.reference.name, change.reference.application].includes(entity);
	return Object.fromEntries(Object.entries(edits).filter(([key, change]) => aboutOf(key) !== entity && !refers(change)));
}

/** Edits that also remove an entity, and what refers to it. */
export function removing(document: Document, edits: Edits, entity: string): Edits {
	const rest = without(edits, entity);
	if (!declared(document).some(({ name }) => name === entity)) return rest;
	for (const name of holders(document).filter((name) => name !== entity)) {
		for (const reference of holder(document, name)?.references ?? []) {
			if ([reference.name, reference.parentApplicationName].includes(entity)) rest[referenceKey(name, reference.name)] = { reference: null };
		}
	}
	return { ...rest, [declarationKey(entity)]: { declaration: null } };
}

/** Edits without one, and without what needs it. */
export function undone(edits: Edits, key: string): Edits {
	const { [key]: change, ...rest } = edits;
	return change && "declaration" in change && change.declaration ? without(rest, aboutOf(key) as string) : rest;
}

/** Why an edit cannot be sent, or nothing. */
export function wrongChange(document: Document, key: string, change: Change): string | undefined {
	if ("reference" in change) return change.reference ? wrongCount(change.reference.count) : undefined;
	if ("declaration" in change) return undefined;
	if (key === nameKey) return change.value.trim() === "" ? "A configuration has a name." : undefined;
	return wrong(leafAt(document, key) ?? { type: change.type ?? "string" }, change.value);
}

/** An edit as a person reads it before it is saved. */
export type Reading = { key: string; label: string; kind: "added" | "removed" | "changed"; before: string; after: string };

export function readings(document: Document & { name?: string }, edits: Edits): Reading[] {
	return Object.entries(edits).map(([key, change]) => {
		const [before, after] = [textAt(document, key) ?? absent, changeText(change)];
		return { key, label: labelOf(key), kind: before === absent ? "added" : after === absent ? "removed" : "changed", before, after };
	});
}

/** A member in a conflict. Without theirs, the others removed it. */
export type Conflicted = { key: string; label: string; before: string; theirs: string | undefined; yours: string | undefined; who: "both" | "you" | "they" };

/**
 * What the others changed and what one changed oneself, from the version that both began with.
 * Members that are the same on both sides are no conflict and are left out, and so are the
 * parameters that came or went with their entity, and those of an entity that only the edits
 * declare.
 */
export function conflict(base: Document & { name?: string }, theirs: Document & { name?: string }, edits: Edits): Conflicted[] {
	const all = [base, theirs].flatMap((document) => [
		...entities(document).flatMap((entity) => leaves(entity.parameters).map(({ path }) => keyOf(entity.name, path))),
		...declared(document).map(({ name }) => declarationKey(name)),
		...holders(document).flatMap((name) => (holder(document, name)?.references ?? []).map((reference) => referenceKey(name, reference.name))),
	]);
	const found: Conflicted[] = [];
	for (const key of new Set([nameKey, ...all, ...Object.keys(edits)])) {
		const before = textAt(base, key);
		const now = textAt(theirs, key);
		const edit = edits[key];
		if (declarationOf(key) && before === undefined && now === undefined) continue;
		const yours = edit && changeText(edit);
		if (yours === now || (yours === undefined && (before === now || before === undefined || now === undefined))) continue;
		const who = yours === undefined ? "they" : before === now ? "you" : "both";
		found.push({ key, label: labelOf(key), before: before ?? "", theirs: now, yours, who });
	}
	const order = { both: 0, you: 1, they: 2 };
	return found.sort((a, b) => order[a.who] - order[b.who]);
}

/** The edits that are kept after a conflict: those whose members have one's own side, and the parameters of what is declared on it. */
export function keptOf(edits: Edits, rows: Conflicted[], own: (row: Conflicted) => boolean): Edits {
	const chosen = new Map(rows.map((row) => [row.key, own(row)]));
	return Object.fromEntries(Object.entries(edits).filter(([key]) => chosen.get(key) ?? chosen.get(declarationOf(key) ?? "")));
}
