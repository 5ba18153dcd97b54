import type { StudyStart } from "../api/contract";
import { Digits } from "../api/json";
import { type Words, words } from "./search";
import { type Form, readSubmission, submission } from "./submission";
import { readBytes } from "./units";

/** The methods of a study, with what is a point of each. */
export const methods = {
	grid: "grid: each combination of the values",
	list: "list: the first value of each axis, then the second of each …",
	sample: "sample: combinations drawn at random",
} as const;

/**
 * The form of a study as it stands in its address: its base, and axes as field=value,value;…
 * With base=configuration it is a version of a configuration, else the simple form.
 */
export type StudyForm = Form & {
	study?: string;
	axes?: string;
	method?: string;
	samples?: string;
	seed?: string;
	replicates?: string;
	stop?: string;
	base?: string;
	configuration?: string;
	version?: string;
	duration?: string;
};

/** An axis of the form. Its values stand as they were typed. */
export type Axis = { field: string; values: string };

export const mostReplicates = 32;
export const defaultDuration = "1h";

export function readStudy(search: Words): StudyForm {
	return {
		...readSubmission(search),
		...words(search, "study", "axes", "samples", "seed", "replicates", "configuration", "version", "duration"),
		...((search.method === "list" || search.method === "sample") && { method: search.method }),
		...(search.stop === "true" && { stop: "true" }),
		...((search.base === "configuration" || words(search, "configuration").configuration) && { base: "configuration" }),
	};
}

/** A submission as the base of a study. */
export function studied({ name, ...form }: Form): StudyForm {
	return { ...form, ...(name && { study: name }) };
}

/** Without axes in the address it is over the switches, which change the time and the price of every submission, a small one too. */
export function readAxes(text = "topologyConstraints.switchRadix=64x800G, 128x400G, 256x200G"): Axis[] {
	return text.split(";").map((axis) => {
		const at = axis.indexOf("=");
		return at < 0 ? { field: axis, values: "" } : { field: axis.slice(0, at), values: axis.slice(at + 1) };
	});
}

export function writeAxes(axes: Axis[]): string {
	// Neither sign is one of a field or of a value.
	return axes.map(({ field, values }) => `${field.replace(/[;=]/g, "")}=${values.replace(/;/g, "")}`).join(";");
}

/** The values of an axis: sizes in bytes where the field is one, numbers with all their digits, truth values and null as such, else text. */
export function valuesOf({ field, values }: Axis): unknown[] {
	return values
		.split(",")
		.map((value) => value.trim())
		.filter((value) => value !== "")
		.map((value) => {
			if (field.endsWith(".dataSize")) return readBytes(value) ?? value;
			if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return String(Number(value)) === value ? Number(value) : new Digits(value);
			return value in literals ? literals[value] : value;
		});
}

const literals: Record<string, unknown> = { true: true, false: false, null: null };

/** How many points a list has: as many as the axis with the most values, because all have as many. Undefined for other methods. */
export function rowsOf({ method }: StudyForm, axes: Axis[]): number | undefined {
	return method === "list" ? Math.max(...axes.map((axis) => valuesOf(axis).length)) : undefined;
}

/** How many combinations the values of axes have. */
export function combinations(axes: Axis[]): number {
	return axes.reduce((product, axis) => product * valuesOf(axis).length, 1);
}

/** The request of the form. Without axes in it, those of the simple form. */
export function study(form: StudyForm): StudyStart {
	const { study: name, axes, method, samples, seed, replicates, stop, base, configuration, version, duration, ...simple } = form;
	return {
		name: name || "study",
		base: base
			? { configuration: { configurationId: configuration ?? "", ...(version && { configurationVersion: Number(version) }), duration: duration || defaultDuration } }
			: { simple: submission(simple) },
		axes: readAxes(axes).map((axis) => ({ field: axis.field, values: valuesOf(axis) })),
		...(method && { method: method as StudyStart["method"] & string }),
		...(method === "sample" && { samples: Number(samples ?? 0), ...(seed && { seed: Number(seed) }) }),
		...(replicates && replicates !== "1" && { replicates: Number(replicates) }),
		...(stop && { stopDominated: true }),
	};
}
