import { Fragment } from "react";
import { useModel } from "../configuration/data";
import { boundsText, at as parameterAt } from "../configuration/parameters";
import { type Axis, valuesOf } from "../lib/study";
import { count } from "../lib/units";
import { Said } from "../ui/parts";
import { inputWords } from "./heat";
import { Choices, useNames } from "./ids";
import { nextAxis, type Offer, valuesToBegin, valuesWords } from "./offers";

/** What is said of a field of the request, by its path. */
export type Says = (field: string) => string | undefined;

type All = {
	offers: Offer[];
	/** How many values each axis of a list has; undefined for other methods. */
	rows: number | undefined;
	/** The workspace of the configuration that is the base. */
	workspace: string | undefined;
	says: Says;
};

export function Axes({ axes, set, ...all }: All & { axes: Axis[]; set: (axes: Axis[]) => void }) {
	const { offers, rows, says } = all;
	const change = (at: number, axis: Axis) => set(axes.map((old, index) => (index === at ? axis : old)));
	return (
		<>
			{axes.map((axis, at) => (
				<fieldset key={at} className="phase">
					<legend>Axis {at + 1}</legend>
					<AxisFields {...all} axis={axis} set={(next) => change(at, next)} says={(member) => says(`axes[${at}].${member}`)} />
					{axes.length > 1 && (
						<button type="button" onClick={() => set(axes.filter((_axis, index) => index !== at))}>
							Remove axis {at + 1}
						</button>
					)}
				</fieldset>
			))}
			<button type="button" disabled={offers.length === 0} onClick={() => set([...axes, nextAxis(offers, axes, rows)])}>
				Add an axis
			</button>
		</>
	);
}

function AxisFields({ axis, offers, rows, workspace, set, says }: All & { axis: Axis; set: (axis: Axis) => void }) {
	const offer = offers.find(({ field }) => field === axis.field);
	const unit = offer?.parameter?.leaf.unit;
	const values = valuesOf(axis);
	const wrongField = says("field");
	const wrongValues = says("values");
	const choose = (field: string) => {
		const chosen = offers.find((one) => one.field === field);
		set({ field, values: chosen ? valuesToBegin(chosen, rows) : "" });
	};
	return (
		<>
			<label>
				Field
				<select value={offer?.field ?? ""} aria-invalid={offer !== undefined && wrongField !== undefined} onChange={({ target: { value } }) => choose(value)}>
					{[...Map.groupBy(offers, ({ group }) => group)].map(([group, those]) => {
						const options = those.map(({ field, label }) => (
							<option key={field} value={field}>
								{label}
							</option>
						));
						return group === undefined ? (
							options
						) : (
							<optgroup key={group} label={group}>
								{options}
							</optgroup>
						);
					})}
					<option value="">another field, by its path</option>
				</select>
				{offer && <Said of={wrongField} />}
			</label>
			{!offer && (
				<label>
					Path of the field
					<input
						value={axis.field}
						maxLength={255}
						placeholder="such as groups[0].ranks"
						onChange={({ target: { value } }) => set({ ...axis, field: value })}
						aria-invalid={axis.field === "" || wrongField !== undefined}
					/>
					<Said of={wrongField} />
				</label>
			)}
			<label>
				Values{unit && ` in ${unit}`}, with commas between
				<input value={axis.values} onChange={(event) => set({ ...axis, values: event.target.value })} aria-invalid={values.length === 0 || wrongValues !== undefined} />
				<span className="quiet">{values.length === 0 ? "An axis needs a value." : <Values of={values} axis={axis} unit={unit} workspace={workspace} />}</span>
				{valuesWords[axis.field] && <span className="quiet">{valuesWords[axis.field]}</span>}
				<Said of={wrongValues} />
			</label>
			<Choices axis={axis} workspace={workspace} set={set} />
			{offer?.parameter && <Allowed parameter={offer.parameter} />}
		</>
	);
}

/** How many values an axis has, and what they are: of ids, what they name. */
function Values({ of, axis, unit, workspace }: { of: unknown[]; axis: Axis; unit: string | undefined; workspace: string | undefined }) {
	const names = useNames(axis.field, workspace);
	return (
		<>
			{count(of.length)} {of.length === 1 ? "value" : "values"}:{" "}
			{of.map((value, at) => (
				<Fragment key={at}>
					{at > 0 && ", "}
					<bdi>{names.get(String(value)) ?? inputWords(axis.field, value, unit)}</bdi>
				</Fragment>
			))}
		</>
	);
}

/** What the model of a component says of a parameter. */
function Allowed({ parameter: { of, path, leaf } }: { parameter: NonNullable<Offer["parameter"]> }) {
	const model = useModel(of);
	const known = { ...parameterAt(model.data?.typedParameters, path), ...leaf };
	const bounds = boundsText(known);
	if (!bounds && !known.description) return null;
	return (
		<p className="quiet">
			{path.at(-1)}
			{known.description && `: ${known.description}`}.{bounds && ` Allowed: ${bounds}.`}
		</p>
	);
}
