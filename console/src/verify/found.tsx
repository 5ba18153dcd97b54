import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { lasting } from "../lib/clock";
import { grouped } from "../lib/decimal";
import { verifyRoute } from "../router";
import { VirtualList } from "../ui/list";
import { Facts, Loading } from "../ui/parts";
import { Table } from "../ui/table";
import { LineLink, useReply } from "./ask";
import type { Report, Wanted } from "./bundle";
import type { Ref, Row } from "./explain";
import { Record } from "./record";
import { printable, verdict } from "./verdict";

type Props = { name: string; report: Report; rows: Row[]; wanted: Wanted; noNote: boolean; milliseconds: number; worker: Worker };

/** The verdict on a bundle, its findings, and its costs with what they follow from. */
export function Found({ name, report, rows, wanted, noNote, milliseconds, worker }: Props) {
	const search = verifyRoute.useSearch();
	const { agrees, summary, conclusion } = verdict(report, wanted, noNote);
	const cost = Number(search.cost ?? 0);
	const line = Number(search.line ?? 0);
	return (
		<>
			<section aria-label="Verdict" className={agrees ? "verdict" : "verdict found"}>
				<p role="status">
					<strong>{conclusion}</strong>
				</p>
				<ul>
					{summary.map((text) => (
						<li key={text}>
							<bdi>{text}</bdi>
						</li>
					))}
				</ul>
				<p className="quiet">
					<bdi>{name}</bdi> was verified in {lasting(milliseconds / 1000)}, in this browser.
				</p>
			</section>
			{!agrees && (
				<VirtualList
					label="Findings"
					columns={["Line", "What was found"]}
					rows={report.problems.map((problem, at) => ({ ...problem, at }))}
					id={({ at }) => String(at)}
					cells={(problem) => [<LineLink key="line" line={problem.line} />, <bdi key="what">{printable(problem.what)}</bdi>]}
				/>
			)}
			{line > 0 && <Record line={line} last={report.lines} worker={worker} />}
			{cost > 0 && <Explanation line={cost} worker={worker} />}
			<h2>Costs</h2>
			<VirtualList
				label="Costs"
				columns={["Day", "Item", "Rate", "Cost", "From what it follows"]}
				rows={rows}
				id={(row) => String(row.line)}
				cells={(row) => [
					row.date,
					<bdi key="item">{row.item || row.itemId}</bdi>,
					<bdi key="rate">{row.rate}</bdi>,
					`${grouped(row.cost)} ${row.currency}${row.correction ? ", a correction" : ""}`,
					<Link key="why" from="/bills/verify" to="." search={(old) => ({ ...old, cost: String(row.line), line: "" })} aria-current={row.line === cost} replace>
						Explain line {row.line}
					</Link>,
				]}
			/>
		</>
	);
}

function Event({ of, children }: { of: Ref; children?: ReactNode }) {
	return (
		<>
			{children} <LineLink line={of.line}>event {of.sequence}</LineLink> of <bdi>{of.stream}</bdi> with the hash <code>{of.hash}</code>
		</>
	);
}

/** A cost → its day → the events → their records in the log → the checkpoint. */
function Explanation({ line, worker }: { line: number; worker: Worker }) {
	const reply = useReply(worker, "explained", line);
	const heading = useRef<HTMLHeadingElement>(null);
	const there = reply !== undefined;
	// It stands above the costs, and would be out of sight on a phone.
	useEffect(() => {
		if (there) heading.current?.focus();
	}, [there]);
	if (!reply) return <Loading of="the explanation" />;
	const { explained } = reply;
	if (!explained) return <p>Line {line} is not a cost.</p>;
	const { row, booked, rate, price, dayPrice, unitDays, rule, segments, usage, checkpoint } = explained;
	return (
		<section aria-label={`Line ${line} explained`}>
			<h2 ref={heading} tabIndex={-1}>
				<LineLink line={line}>Line {line}</LineLink>: <bdi>{row.item || row.itemId}</bdi> on {row.date} costs {grouped(row.cost)} {row.currency}
			</h2>
			<p>
				{row.correction
					? "It corrects an earlier cost by the difference to what the day costs now."
					: "Unit-days are units times the part of the day for which they were there. Each is charged at the price of a unit for its day."}{" "}
				<Link from="/bills/verify" to="." search={(old) => ({ ...old, cost: "" })} replace>
					Close the explanation
				</Link>
			</p>
			<Facts
				of={[
					["Price of a unit for the day", `${grouped(dayPrice)} ${row.currency}`],
					["Unit-days", grouped(unitDays)],
					["Rule", rule],
				]}
			/>
			<Facts
				ids
				of={[
					["Price", rate ? <Event of={rate}>{price}, set by</Event> : price],
					["Booked by", booked ? <Event of={booked} /> : "no event of this bundle"],
				]}
			/>
			<h3>The parts of the day</h3>
			<Table
				label="Parts of the day"
				head={["From", "To", "Units", "Part of the day", "Units of all items"]}
				numbers={["Units", "Part of the day", "Units of all items"]}
				rows={segments.map((one) => ({ id: one.from, cells: [one.from, one.to, grouped(one.units), one.fraction, grouped(one.count)] }))}
			/>
			<h3>The events that determine it</h3>
			<ol className="chained">
				{usage.map((one) => (
					<li key={one.sequence}>
						<Event of={one}>
							{one.action} at {one.at}: {grouped(one.units)} units, by
						</Event>
					</li>
				))}
			</ol>
			<h3>The checkpoint that covers it</h3>
			{checkpoint ? (
				<p className="chained">
					<LineLink line={checkpoint.line}>
						<bdi>{checkpoint.name}</bdi>
					</LineLink>{" "}
					of {checkpoint.at} proves the chain up to event {checkpoint.sequence}, as leaf {checkpoint.index} of {checkpoint.chains} with the root <code>{checkpoint.root}</code>
				</p>
			) : (
				<p>No checkpoint of this bundle proves its event.</p>
			)}
		</section>
	);
}
