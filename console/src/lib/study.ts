import type { StudyStart } from "../api/contract";
import { type Words, words } from "./search";
import { type Form, readSubmission, submission } from "./submission";
import { readBytes } from "./units";

/** The form of a study as it stands in its address: its base, and axes as field=value,value;… */
export type StudyForm = Form & { study?: string; axes?: string; replicates?: string; stop?: string };

/** An axis of the form. Its values stand as they were typed. */
export type Axis = { field: string; values: string };

export const mostReplicates = 32;

export function readStudy(search: Words): StudyForm {
	return { ...readSubmission(search), ...words(search, "study", "axes", "replicates"), ...(search.stop === "true" && { stop: "true" }) };
}

/** A submission as the base of a study. */
export function studied({ name, ...form }: Form): StudyForm {
	return { ...form, ...(name && { study: name }) };
}

export function readAxes(text: string | undefined): Axis[] {
	return (text ?? "topologyConstraints.subscriptionRatio=1:1, 2:1, 4:1").split(";").map((axis) => {
		const at = axis.indexOf("=");
		return at < 0 ? { field: axis, values: "" } : { field: axis.slice(0, at), values: axis.slice(at + 1) };
	});
}

export function writeAxes(axes: Axis[]): string {
	// Neither sign is one of a field or of a value.
	return axes.map(({ field, values }) => `${field.replace(/[;=]/g, "")}=${values.replace(/;/g, "")}`).join(";");
}

/** The values of an axis: sizes in bytes where the field is one, numbers and truth values as such, else text. */
export function valuesOf({ field, values }: Axis): unknown[] {
	return values
		.split(",")
		.map((value) => value.trim())
		.filter((value) => value !== "")
		.map((value) => {
			if (field.endsWith(".dataSize")) return readBytes(value) ?? value;
			if (/^-?\d+(\.\d+)?$/.test(value) && String(Number(value)) === value) return Number(value);
			return value === "true" ? true : value === "false" ? false : value;
		});
}

/** The request of the form. */
export function study({ study: name, axes, replicates, stop, ...form }: StudyForm): StudyStart {
	return {
		name: name || "study",
		base: { simple: submission(form) },
		axes: readAxes(axes).map((axis) => ({ field: axis.field, values: valuesOf(axis) })),
		...(replicates && replicates !== "1" && { replicates: Number(replicates) }),
		...(stop && { stopDominated: true }),
	};
}
