import { type Document, type Entity, entities, globals } from "../configuration/document";
import { type Leaf, leaves } from "../configuration/parameters";
import { collections, topology } from "../configuration/references";
import { fieldLabel, offered } from "../lib/fields";
import { type Axis, writeAxes } from "../lib/study";

/** A field that the form offers for an axis, with values to begin with. Those of a configuration are in groups. */
export type Offer = { field: string; label: string; values: string; group?: string; parameter?: { of: Entity; path: string[]; leaf: Leaf } };

/** The fields of a simple submission of so many phases. */
export function simpleOffers(phases: number): Offer[] {
	return Object.entries(offered(phases)).map(([field, values]) => ({ field, label: fieldLabel(field), values }));
}

// These follow from the traceset and the mapping file, and the service refuses them.
const following = new Set(["NumOfChakraFiles", "UseMapping", "MappingFileName"]);
const attachments: Offer[] = [
	{ field: "duration", values: "1ms, 1s" },
	{ field: "tracesetId", values: "" },
	{ field: "mappingFileId", values: "" },
	{ field: "templateId", values: "" },
].map((offer) => ({ ...offer, label: fieldLabel(offer.field), group: "Whole runs" }));

/** What is to be said of the values of a field. */
export const valuesWords: Record<string, string> = {
	tracesetId: "Ids of tracesets; null is none.",
	mappingFileId: "Ids of mapping files; null is none.",
	templateId: "Ids of templates. A template replaces the document, and keeps the traceset and the mapping file.",
};

/** The parameters of a configuration, those of its components first, and what a run has beside them. */
export function configurationOffers(document: Document): Offer[] {
	const parts = entities(document)
		.filter(({ name }) => name !== topology)
		.toSorted((a, b) => Number(a.name === globals) - Number(b.name === globals));
	return [...parts.flatMap((of) => leaves(of.parameters).flatMap(({ path, leaf }) => parameterOffer(document, of, path, leaf))), ...attachments];
}

function parameterOffer(document: Document, of: Entity, path: string[], leaf: Leaf): Offer[] {
	if (leaf.readonly || following.has(path.at(-1) ?? "")) return [];
	const group = of.name === globals ? "Global" : of.name;
	const field = `${placeOf(document, of.name)}.${path.join(".")}.value`;
	return [{ field, label: fieldLabel(field), values: firstValues(leaf), group, parameter: { of, path, leaf } }];
}

/** Where the parameters of an entity are. Of its list it is the one of its name, or of its number if the name is none that a path may have. */
function placeOf(document: Document, name: string): string {
	if (name === globals) return "globalParameters";
	const [list, at] = collections.map((of) => [of, document[of].findIndex((one) => one.name === name)] as const).find(([, at]) => at >= 0) ?? ["", -1];
	return `${list}[${/^[A-Za-z][A-Za-z0-9._-]*$/.test(name) ? name : at}].typedParameters`;
}

/** Two values to begin with where the type has another one for sure. */
function firstValues({ type, value }: Leaf): string {
	if (type === "bool") return "false, true";
	const twice = Number(value) * 2;
	return typeof value === "number" && twice > 0 && Number.isSafeInteger(twice) ? `${value}, ${twice}` : String(value).replace(/[,;]/g, "");
}

/** The axis that a study of a configuration begins with: over the rate of a link, if there is one. */
export function firstAxes(offers: Offer[]): string {
	const first = offers.find(({ parameter }) => parameter?.leaf.type === "datarate") ?? offers[0];
	return writeAxes(first ? [first] : []);
}

/** A further axis: over the first field that has none yet. */
export function nextAxis(offers: Offer[], axes: Axis[]): Axis {
	const next = offers.find(({ field }) => !axes.some((axis) => axis.field === field));
	return { field: next?.field ?? "", values: next?.values ?? "" };
}
