import type { Study, StudyResult } from "../api/contract";
import { grouped } from "../lib/decimal";
import { fieldLabel } from "../lib/fields";
import { bitRate, picoseconds } from "../lib/units";
import { Choice } from "../ui/filters";
import { Field, Short } from "../ui/parts";
import { type Cell, distinct, heat, type Measure, measures, timeOf } from "./heat";
import type { InputWords } from "./units";

/** What the address says of a heat map: its axes, the numbers of the others' values in their order, and what its cells show. */
export type HeatSearch = { across?: string; down?: string; at?: string; of?: string };

/** Two axes of a study, with a value for each pair of theirs. The other axes have one value each. */
export function HeatMap({ study, words, points, search, set, chosen, choose, currency }: Props) {
	const axes = study.axes.filter((axis) => distinct(axis).length > 1);
	const across = axes.find((axis) => axis.field === search.across) ?? axes[0];
	const down = axes.find((axis) => axis.field === search.down && axis !== across) ?? axes.find((axis) => axis !== across);
	if (!across || !down) return null;
	const measure: Measure = Object.keys(measures).find((name): name is Measure => name === search.of) ?? "time";
	const others = axes.filter((axis) => axis !== across && axis !== down);
	const asked = search.at?.split(",") ?? [];
	const fixed = others.map((axis, order) => {
		const values = distinct(axis);
		const number = values[Number(asked[order])] === undefined ? 0 : Number(asked[order]);
		return { field: axis.field, values, number, value: values[number] ?? "" };
	});
	const map = heat(points, across, down, fixed, measure);
	const amount = (point: StudyResult) => (measure === "time" ? picoseconds(timeOf(point) ?? 0) : measure === "goodput" ? bitRate(point.figures?.goodputBps ?? 0) : grouped(point.fabric?.price ?? ""));
	return (
		<section aria-label="Two axes">
			<h2>Two axes</h2>
			<div className="filters">
				<Choice name="Shows" value={measure} values={Object.entries(measures)} set={(of) => set({ of })} />
				<Choice
					name="Across"
					value={across.field}
					values={axes.map((axis) => [axis.field, fieldLabel(axis.field)])}
					set={(field) => set({ across: field, down: field === down.field ? across.field : down.field, at: "" })}
				/>
				<Choice
					name="Down"
					value={down.field}
					values={axes.map((axis) => [axis.field, fieldLabel(axis.field)])}
					set={(field) => set({ down: field, across: field === across.field ? down.field : across.field, at: "" })}
				/>
				{fixed.map((one, order) => (
					<Choice
						key={one.field}
						name={`At ${fieldLabel(one.field)}`}
						value={String(one.number)}
						values={one.values.map((value, number) => [String(number), words(one.field, value)])}
						set={(number) => set({ at: fixed.map((other, position) => (position === order ? number : other.number)).join(",") })}
					/>
				))}
			</div>
			<div className="wide" role="region" tabIndex={0} aria-label="Heat map">
				<table className="heatmap">
					<caption className="quiet">
						{measures[measure]}
						{measure === "price" && currency && `, ${currency}`}: <Field>{down.field}</Field> by <Field>{across.field}</Field>. A stronger colour is more.
					</caption>
					<thead>
						<tr>
							<td />
							{map.across.map((value) => (
								<th key={value} scope="col">
									<bdi>{words(across.field, value)}</bdi>
								</th>
							))}
						</tr>
					</thead>
					<tbody>
						{map.cells.map((row, y) => (
							<tr key={map.down[y]}>
								<th scope="row">
									<bdi>{words(down.field, map.down[y])}</bdi>
								</th>
								{row.map((cell, x) => (
									<td key={map.across[x]} className={cell && `shade-${cell.shade}`}>
										{cell && <Value cell={cell} text={amount(cell.point)} chosen={chosen} choose={choose} />}
									</td>
								))}
							</tr>
						))}
					</tbody>
				</table>
			</div>
		</section>
	);
}

type Props = {
	study: Study;
	words: InputWords;
	points: StudyResult[];
	search: HeatSearch;
	set: (search: HeatSearch) => void;
	chosen: number | undefined;
	choose: (point: number) => void;
	currency: string | undefined;
};

function Value({ cell: { point }, text, chosen, choose }: { cell: Cell; text: string; chosen: number | undefined; choose: (point: number) => void }) {
	return (
		<button type="button" aria-pressed={point.point === chosen} onClick={() => choose(point.point)} title={`Point ${point.point}`}>
			<Short of={text} />
		</button>
	);
}
