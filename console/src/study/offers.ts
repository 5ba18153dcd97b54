import { type Document, type Entity, entities, globals } from "../configuration/document";
import { type Leaf, leaves } from "../configuration/parameters";
import { collections, topology } from "../configuration/references";
import { fieldLabel, offered } from "../lib/fields";
import { type Axis, writeAxes } from "../lib/study";
import { defaultRanks, type Form, readPhases } from "../lib/submission";
import { sizeText } from "../lib/units";

/** A field that the form offers for an axis: what the base has there, if that is known, and values to begin with. Those of a configuration are in groups. */
export type Offer = { field: string; label: string; base: string; values: string; group?: string; parameter?: { of: Entity; path: string[]; leaf: Leaf } };

/** What the contract says that a submission has where it says nothing. */
export const defaults: Record<string, string> = { "topologyConstraints.switchRadix": "128x400G", "topologyConstraints.subscriptionRatio": "1:1" };

/** The fields of a simple submission. */
export function simpleOffers(form: Form): Offer[] {
	const phases = readPhases(form.phases);
	const bases: Record<string, string | undefined> = {
		...defaults,
		...(form.radix && { "topologyConstraints.switchRadix": form.radix }),
		...(form.subscription && { "topologyConstraints.subscriptionRatio": form.subscription }),
		"workload.ranks": form.ranks ?? defaultRanks,
		...Object.fromEntries(
			phases.flatMap(({ algorithm, bytes }, at) => [
				[`workload.phases[${at}].dataSize`, sizeText(bytes)],
				[`workload.phases[${at}].algorithm`, algorithm],
			]),
		),
	};
	return Object.entries(offered(phases.length)).map(([field, values]) => ({ field, label: fieldLabel(field), base: bases[field] ?? "", values }));
}

// These follow from the traceset and the mapping file, and the service refuses them.
const following = new Set(["NumOfChakraFiles", "UseMapping", "MappingFileName"]);

/** What a run of a configuration has beside its document. */
type Whole = { duration: string; traceset: string | undefined; mappingFile: string | undefined };

function wholeOffers({ duration, traceset, mappingFile }: Whole): Offer[] {
	return [
		{ field: "duration", base: duration, values: "1ms, 1s" },
		{ field: "tracesetId", base: traceset ?? "null", values: "" },
		{ field: "mappingFileId", base: mappingFile ?? "null", values: "" },
		{ field: "templateId", base: "", values: "" },
	].map((offer) => ({ ...offer, label: fieldLabel(offer.field), group: "Whole runs" }));
}

/** What is to be said of the values of a field. */
export const valuesWords: Record<string, string> = {
	tracesetId: "Ids of tracesets; null is none.",
	mappingFileId: "Ids of mapping files; null is none.",
	templateId: "Ids of templates. A template replaces the document, and keeps the traceset and the mapping file.",
};

/** The parameters of a configuration, those of its components first, and what a run has beside them. */
export function configurationOffers(document: Document, whole: Whole): Offer[] {
	const parts = entities(document)
		.filter(({ name }) => name !== topology)
		.toSorted((a, b) => Number(a.name === globals) - Number(b.name === globals));
	return [...parts.flatMap((of) => leaves(of.parameters).flatMap(({ path, leaf }) => parameterOffer(document, of, path, leaf))), ...wholeOffers(whole)];
}

function parameterOffer(document: Document, of: Entity, path: string[], leaf: Leaf): Offer[] {
	if (leaf.readonly || following.has(path.at(-1) ?? "")) return [];
	const group = of.name === globals ? "Global" : of.name;
	const field = `${placeOf(document, of.name)}.${path.join(".")}.value`;
	return [{ field, label: fieldLabel(field), base: plainValue(leaf.value), values: firstValues(leaf), group, parameter: { of, path, leaf } }];
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
	return typeof value === "number" && twice > 0 && Number.isSafeInteger(twice) ? `${value}, ${twice}` : plainValue(value);
}

/** A value without the signs that stand between values and axes. */
const plainValue = (value: unknown) => String(value).replace(/[,;]/g, "");

/** The values that an axis over a field begins with. In a list of points it has as many as the others, all of them what the base has: so it changes nothing until a person does. */
export function valuesToBegin({ base, values }: Pick<Offer, "base" | "values">, rows: number | undefined): string {
	if (rows === undefined) return values;
	const each = base || (values.split(",")[0] ?? "").trim();
	return each && Array(rows).fill(each).join(", ");
}

/** The axis that a study of a configuration begins with: over the rate of a link, if there is one. */
export function firstAxes(offers: Offer[]): string {
	const first = offers.find(({ parameter }) => parameter?.leaf.type === "datarate") ?? offers[0];
	return writeAxes(first ? [first] : []);
}

/** A further axis: over the first field that has none yet. A list has so many rows. */
export function nextAxis(offers: Offer[], axes: Axis[], rows?: number): Axis {
	const next = offers.find(({ field }) => !axes.some((axis) => axis.field === field));
	return { field: next?.field ?? "", values: next ? valuesToBegin(next, rows) : "" };
}
