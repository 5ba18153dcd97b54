import type { Application, Component, Container, EntityType, Reference, ServerReferenceAdd, TopologyReferenceAdd } from "../api/contract";
import { Digits } from "../api/json";
import { count } from "../lib/units";
import type { Document } from "./document";

/** A reference as a person edits it. Its count is text until it is sent. */
export type Ref = { name: string; type: EntityType; count: string; group: string; application: string };

/** What is said of an entity that is to be declared. Its parameters are those of its model. */
export type Declaration = Pick<Component, "model" | "version"> & { type: EntityType; trafficType?: Application["trafficType"] };

/** A reference or a declaration that is added or changed. Null removes it. */
export type Item = { reference: Ref | null } | { declaration: Declaration | null };

/** The topology among the holders. No entity can have this name. */
export const topology = "$.topology";

/** The bounds of the contract for Reference and EntityName. */
export const bounds = { count: 1_048_576, group: 64, name: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/ };

/** What stands for a reference or a declaration that a document does not have. */
export const absent = "not there";

export type Declared = Component | Container | Application;
export const collections = ["components", "links", "containers", "applications"] as const;

export function declared(document: Document): Declared[] {
	return collections.flatMap((collection): Declared[] => document[collection]);
}

export function collectionOf(type: EntityType): (typeof collections)[number] {
	if (type === "layer") return "links";
	if (type === "rack" || type === "pod") return "containers";
	return type === "application" ? "applications" : "components";
}

// The service says it of every holder that it has stored; of others this is what the contract says.
const held: Partial<Record<EntityType, readonly EntityType[]>> = {
	server: ["nic", "gpu", "application"] satisfies ServerReferenceAdd["type"][],
	rack: ["switch", "server"],
	pod: ["switch", "rack"],
};
const inTopology: readonly EntityType[] = ["switch", "layer", "pod", "rack"] satisfies TopologyReferenceAdd["type"][];

/** What a holder has and may have, undefined for what holds nothing. */
export function holder(document: Document, name: string): { references: Reference[]; allowed: readonly EntityType[]; path: string } | undefined {
	if (name === topology) return { references: document.topology.components, allowed: document.topology.allowedComponents ?? inTopology, path: "$.topology.components" };
	for (const collection of ["components", "containers"] as const) {
		const at = document[collection].findIndex((one) => one.name === name);
		const one = document[collection][at];
		const allowed = one && (one.allowedComponents ?? held[one.type] ?? []);
		if (allowed?.length) return { references: one?.components ?? [], allowed, path: `$.${collection}[${at}].components` };
	}
	return undefined;
}

/** The names of everything that holds something, the topology first. */
export function holders(document: Document): string[] {
	return [topology, ...[...document.components, ...document.containers].filter((one) => one.components?.length).map((one) => one.name)];
}

export function asEdited({ name, type, count: times = 1, group = "", parentApplicationName = "" }: Reference): Ref {
	return { name, type, count: String(times), group, application: parentApplicationName };
}

/** The reference that is sent for one. The service fills in the model of what it names. */
export function asSent({ name, type, count: times, group, application }: Ref): Reference {
	// Digits are written as the number that they are.
	return { name, type, count: new Digits(times.trim()) as unknown as number, ...(group && { group }), ...(type === "application" && application && { parentApplicationName: application }) };
}

/** An item in words, which differ for items that differ. */
export function itemText(item: Item): string {
	if ("declaration" in item) return item.declaration ? `a ${item.declaration.type}, ${item.declaration.model} ${item.declaration.version}` : absent;
	if (!item.reference) return absent;
	const { name, type, count: times, group, application } = item.reference;
	return `${times.trim()} × ${name} (${type})${application && `, of ${application}`}${group && `, group ${group}`}`;
}

/** Why a text is no count of a reference, or nothing. */
export function wrongCount(text: string): string | undefined {
	const good = /^[1-9]\d{0,6}$/.test(text.trim()) && Number(text) <= bounds.count;
	return good ? undefined : `Write a whole number from 1 to ${count(bounds.count)}.`;
}

/** Why a name cannot be declared, or nothing. */
export function wrongName(document: Document, name: string): string | undefined {
	if (!bounds.name.test(name)) return "Write 1 to 64 letters, digits, dots, underscores or hyphens, beginning with a letter or digit.";
	const taken = declared(document).find((one) => one.name === name);
	return taken && `A ${taken.type} of the configuration has this name.`;
}
