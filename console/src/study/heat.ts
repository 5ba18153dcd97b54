import type { StudyAxis, StudyResult } from "../api/contract";
import { Digits } from "../api/json";
import { bytes, inUnits } from "../lib/units";

/** What the cells of a heat map show. */
export const measures = { time: "Simulated time", goodput: "Goodput", price: "Price of the fabric" } as const;
export type Measure = keyof typeof measures;

/** A point in a heat map. Its shade is 0 for the least value of the map to 7 for the most, by the logarithm. */
export type Cell = { point: StudyResult; shade: number };

/** The values of two axes, and a cell for each pair of them: undefined without a value. */
export type Heat = { across: string[]; down: string[]; cells: (Cell | undefined)[][] };

const shades = 8;
const rounding = 1e-9; // so that a value between two shades has the upper one

/** The simulated time of a point: of replicates, the median. */
export function timeOf(point: StudyResult): number | undefined {
	return point.replicates?.medianTimePs ?? point.figures?.simulatedTimePs;
}

function figureOf(point: StudyResult, measure: Measure): number | undefined {
	if (measure === "time") return timeOf(point);
	return measure === "goodput" ? point.figures?.goodputBps : point.fabric && Number(point.fabric.price);
}

/** An input of a point, as it is shown and compared. */
export function shownInput(value: unknown): string {
	return typeof value === "string" || value instanceof Digits ? String(value) : (JSON.stringify(value) ?? "");
}

/** An input of a point in words: a size is in bytes, and the value of a parameter has the unit of the parameter. */
export function inputWords(field: string, value: unknown, unit?: string): string {
	const text = shownInput(value);
	if (field.endsWith(".dataSize") && /^\d{1,15}$/.test(text)) return bytes(Number(text));
	if (text === "null") return "none";
	return unit ? inUnits(`${text} ${unit}`) : text;
}

/** The different values of an axis. That of a list may have some more than once. */
export function distinct(axis: StudyAxis): string[] {
	return [...new Set(axis.values.map(shownInput))];
}

/** The points that have the given values of all axes but two, as a map over these two. */
export function heat(points: StudyResult[], across: StudyAxis, down: StudyAxis, fixed: { field: string; value: string }[], measure: Measure): Heat {
	const columns = distinct(across);
	const rows = distinct(down);
	const logarithms = new Map<StudyResult, number>();
	for (const point of points) {
		const value = figureOf(point, measure);
		if (value !== undefined && fixed.every((one) => shownInput(point.inputs[one.field]) === one.value)) logarithms.set(point, Math.log(Math.max(value, 1)));
	}
	const least = Math.min(...logarithms.values());
	const most = Math.max(...logarithms.values());
	const cells = rows.map(() => columns.map((): Cell | undefined => undefined));
	for (const [point, logarithm] of logarithms) {
		const row = cells[rows.indexOf(shownInput(point.inputs[down.field]))];
		const shade = most === least ? 0 : Math.min(shades - 1, Math.floor(((logarithm - least) / (most - least)) * shades + rounding));
		if (row) row[columns.indexOf(shownInput(point.inputs[across.field]))] = { point, shade };
	}
	return { across: columns, down: rows, cells };
}
