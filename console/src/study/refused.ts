import { Refusal } from "../api/client";
import type { Axis } from "../lib/study";

/** The field of a study's request that the service refused, by its path, and what the service says of it. */
export type Refused = { field: string; message: string };

/**
 * What a refusal names. Values are named as those of their axis; a point that cannot run, by the axis whose
 * field its reason names. Undefined if it is of no one field.
 */
export function refusedField(error: unknown, axes: Axis[]): Refused | undefined {
	if (!(error instanceof Refusal)) return undefined;
	const refused = fieldOf(error.message, axes);
	// The form counts its axes from 1.
	return (
		refused && {
			...refused,
			message: refused.message.replace(/\baxes\[(\d+)\]\.values(?:\[(\d+)\])?/g, (_all, at, of) => `${of ? `value ${Number(of) + 1}` : "the values"} of axis ${Number(at) + 1}`),
		}
	);
}

function fieldOf(message: string, axes: Axis[]): Refused | undefined {
	const direct = message.match(/^(?:(?:name|samples|seed|replicates)\b|axes\[\d+\]\.(?:field|values)|base\.[\w.[\]]+)/)?.[0];
	if (direct) return { field: direct, message };
	const base = message.match(/^configuration \S+ (does not exist|has no version)/)?.[1];
	if (base) return { field: `base.configuration.${base === "has no version" ? "configurationVersion" : "configurationId"}`, message };
	const reason = message.match(/^point \d+ \(.*?\): (.*)$/s)?.[1];
	if (reason === undefined) return undefined;
	const at = axes.findIndex(({ field }) => reason.startsWith(field));
	const named = at >= 0 ? at : axes.findIndex(({ field }) => reason.split(/[^\w]+/).includes(lastName(field)));
	const ofBase = reason.match(/^(?:workload|topologyConstraints)[\w.[\]]*/)?.[0];
	if (named < 0) return ofBase ? { field: `base.simple.${ofBase}`, message } : undefined;
	const missing = /^(?: is unknown|: the base has no such field)/.test(reason.slice(axes[named]?.field.length));
	return { field: `axes[${named}].${at >= 0 && missing ? "field" : "values"}`, message };
}

/** The last member of a path that is more than the value of a parameter. */
function lastName(field: string): string {
	return (
		field
			.replace(/\.value$/, "")
			.split(".")
			.at(-1) ?? ""
	);
}
