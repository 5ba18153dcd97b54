import { type Words, words } from "./search";

/** The runs that are compared, two to eight, and the one that the others are compared with. */
export type Compared = { runs?: string; baseline?: string };

export const mostRuns = 8;

export function readCompare(search: Words): Compared {
	const runs = runsOf(words(search, "runs").runs);
	const baseline = words(search, "baseline").baseline;
	return {
		...(runs.length > 0 && { runs: runs.join(",") }),
		...(baseline && runs.includes(baseline) && { baseline }),
	};
}

/** The ids of a list, each once, at most eight. */
export function runsOf(text: string | undefined): string[] {
	return [...new Set((text ?? "").split(",").filter((id) => /^sim_[0-9a-z]{26}$/.test(id)))].slice(0, mostRuns);
}

/** Rows of which at least two values differ. A value that is absent differs from one that is there. */
export function differing<Row extends { values: unknown[] }>(rows: Row[]): Row[] {
	return rows.filter((row) => new Set(row.values.map((value) => JSON.stringify(value) ?? "absent")).size > 1);
}
