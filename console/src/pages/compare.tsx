import { useQueries } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../api/client";
import type { SimulationComparison } from "../api/contract";
import { differing, runsOf } from "../lib/compare";
import { grouped } from "../lib/decimal";
import { runsElsewhere } from "../lib/elsewhere";
import { bitRate, bytes, change, count, percent, picoseconds } from "../lib/units";
import { compareRoute } from "../router";
import { shown } from "../ui/curl";
import { Failure, Field, Loading, Name, Page, Sentence, Short, TierWords } from "../ui/parts";

const figures: Record<string, readonly [label: string, format: (value: number) => string, digits?: number]> = {
	simulatedTimePs: ["Simulated time", picoseconds],
	goodputBps: ["Goodput", bitRate, 4],
	meanTransferTimePs: ["Mean time of a transfer", picoseconds, 3],
	payloadBytes: ["Payload", bytes],
	transfers: ["Transfers", count],
	collectives: ["Collectives", count],
	ranks: ["Ranks", count],
	meanComputeTimePs: ["Mean computation of a rank", picoseconds, 3],
	meanExposedTimePs: ["Mean time of a rank without computation", picoseconds, 3],
};

/** Two to eight runs beside each other. Each comparison is the API's, with the baseline. */
export function Compare() {
	const search = compareRoute.useSearch();
	const ids = runsOf(search.runs);
	const baseline = search.baseline ?? ids[0] ?? "";
	const others = ids.filter((id) => id !== baseline);
	const runs = useQueries({ queries: ids.map((id) => ({ queryKey: ["simulation", id], queryFn: ({ signal }) => call("GetSimulation", { path: { sim_id: id } }, signal) })) });
	const comparisons = useQueries({
		queries: others.map((id) => ({
			queryKey: ["compare", baseline, id],
			queryFn: ({ signal }) => call("CompareSimulations", { path: { sim_id: baseline, other_id: id } }, signal),
			retry: false,
			staleTime: 60_000,
		})),
	});
	const name = (id: string) => runs[ids.indexOf(id)]?.data?.name ?? id;
	if (ids.length < 2) {
		return (
			<Page title="Compare">
				<p>
					Choose two to eight simulations in <Link to="/simulations">the list</Link>, then "Compare".
				</p>
			</Page>
		);
	}
	const found = others.map((id, at) => ({ id, query: comparisons[at] })).filter(({ query }) => query?.data) as { id: string; query: { data: SimulationComparison } }[];
	return (
		<Page title="Compare" calls={others.map((id) => shown("CompareSimulations", { path: { sim_id: baseline, other_id: id } }))} elsewhere={runsElsewhere(ids)}>
			{found.length > 0 && <TierWords />}
			{others.map((id, at) => {
				const one = comparisons[at];
				return one?.error ? (
					<Failure key={id} of={`${name(id)} cannot be compared`} error={one.error} retry={one.refetch} />
				) : one?.data ? (
					<p key={id} className="result">
						<Sentence name={name}>{one.data.sentence}</Sentence>
					</p>
				) : (
					<Loading key={id} of={name(id)} />
				);
			})}
			{found.length > 0 && (
				<Table
					baseline={baseline}
					columns={[baseline, ...found.map(({ id }) => id)]}
					name={name}
					groups={[
						["Inputs", inputs(found.map(({ query }) => query.data))],
						["Results", results(found.map(({ query }) => query.data))],
						["Price of the fabric, by an assumed list", fabrics(found.map(({ query }) => query.data))],
						["Links, mean utilisation", links(found.map(({ query }) => query.data))],
						["What limited flows", limits(found.map(({ query }) => query.data))],
					]}
				/>
			)}
		</Page>
	);
}

type Row = { label: string; values: unknown[]; show: (value: unknown, base: unknown) => ReactNode };

function Table({ baseline, columns, name, groups }: { baseline: string; columns: string[]; name: (id: string) => string; groups: [string, Row[]][] }) {
	const navigate = useNavigate({ from: "/compare" });
	const shown = groups.map(([title, rows]) => [title, differing(rows), rows.length] as const);
	const equal = shown.reduce((sum, [, rows, all]) => sum + all - rows.length, 0);
	return (
		<>
			<section className="wide" tabIndex={0} aria-label="Differences">
				<table className="stacked compare">
					<thead>
						<tr>
							<th scope="col">Only what differs</th>
							{columns.map((id) => (
								<th key={id} scope="col">
									<Link to="/simulations/$id" params={{ id }}>
										<Name>{name(id)}</Name>
									</Link>
									<br />
									{id === baseline ? (
										<span className="quiet">baseline</span>
									) : (
										<button type="button" onClick={() => navigate({ search: (old) => ({ ...old, baseline: id }), replace: true })}>
											Make it the baseline
										</button>
									)}
								</th>
							))}
						</tr>
					</thead>
					{shown
						.filter(([, rows]) => rows.length > 0)
						.map(([title, rows]) => (
							<tbody key={title}>
								<tr>
									<th scope="colgroup" colSpan={columns.length + 1}>
										{title}
									</th>
								</tr>
								{rows.map((row) => (
									<tr key={row.label}>
										<th scope="row">
											<Field>{row.label}</Field>
										</th>
										{row.values.map((value, at) => (
											<td key={columns[at]} data-label={name(columns[at] ?? "")}>
												{row.show(value, at === 0 ? undefined : row.values[0])}
											</td>
										))}
									</tr>
								))}
							</tbody>
						))}
				</table>
			</section>
			<p className="quiet">{count(equal)} figures are equal and not shown.</p>
		</>
	);
}

/** A figure, and how far it is from the baseline's. */
function figure(format: (value: number) => string, digits: number | undefined) {
	return (value: unknown, base: unknown) =>
		typeof value !== "number" ? (
			<span className="quiet">none</span>
		) : (
			<span>
				{digits === undefined ? format(value) : <Short of={format(value)} digits={digits} />}
				{typeof base === "number" && <span className="quiet"> {change(base, value)}</span>}
			</span>
		);
}

/** The row of a figure: the baseline's value, which is the same in all comparisons, and those of the others. */
function row(label: string, pairs: ({ this?: number; other?: number } | undefined)[], format: (value: number) => string, digits?: number): Row {
	return { label, values: [pairs.find((pair) => pair?.this !== undefined)?.this, ...pairs.map((pair) => pair?.other)], show: figure(format, digits) };
}

function results(list: SimulationComparison[]): Row[] {
	return Object.entries(figures).map(([member, [label, format, digits]]) =>
		row(
			label,
			list.map((one) => one.results.figures[member as keyof SimulationComparison["results"]["figures"]]),
			format,
			digits,
		),
	);
}

function links(list: SimulationComparison[]): Row[] {
	const names = [...new Set(list.flatMap((one) => one.results.tiers.map((tier) => `${tier.tier} ${tier.direction}`)))];
	return names.map((name) =>
		row(
			name,
			list.map((one) => one.results.tiers.find((tier) => `${tier.tier} ${tier.direction}` === name)?.meanUtilization),
			percent,
			3,
		),
	);
}

function limits(list: SimulationComparison[]): Row[] {
	const names = [...new Set(list.flatMap((one) => one.results.limits.map((limit) => limit.resources)))];
	return names.map((name) =>
		row(
			name,
			list.map((one) => one.results.limits.find((limit) => limit.resources === name)?.flowTimeShare),
			percent,
			3,
		),
	);
}

function fabrics(list: SimulationComparison[]): Row[] {
	const none = <span className="quiet">none</span>;
	const amount = (unit: string) => (value: unknown) => (typeof value === "string" ? `${grouped(value)} ${unit}` : none);
	const number = (value: unknown) => (typeof value === "number" ? count(value) : none);
	const rows = [
		["price", "Price", amount(list[0]?.fabrics.currency ?? "")],
		["powerWatts", "Power", amount("W")],
		["switches", "Switches", number],
		["nics", "NICs", number],
		["links", "Links", number],
	] as const;
	return rows.map(([member, label, show]) => ({ label, values: [list[0]?.fabrics.this?.[member], ...list.map((one) => one.fabrics.other?.[member])], show }));
}

function inputs(list: SimulationComparison[]): Row[] {
	const paths = [...new Set(list.flatMap((one) => one.inputs.changes.map((input) => `${input.subject} ${input.path}`.trim())))];
	const text = (value: unknown) => (value === undefined ? <span className="quiet">absent</span> : <bdi>{typeof value === "string" ? value : JSON.stringify(value)}</bdi>);
	return paths.map((path) => {
		const found = list.map((one) => one.inputs.changes.find((input) => `${input.subject} ${input.path}`.trim() === path));
		const before = found.find((input) => input?.before !== undefined)?.before;
		// A run without the change has the value of the baseline.
		return { label: path.replace(/^submission /, ""), values: [before, ...found.map((input) => (input ? (input.after ?? input.text) : before))], show: text };
	});
}
