import type { Simulation } from "../api/contract";
import { bytes, count, picoseconds } from "../lib/units";
import { Failure, Loading, Sentence, Short, TierWords } from "../ui/parts";
import { Table } from "../ui/table";
import { useResultData, useSummary } from "./data";

/** The summary critical-path of the results. docs/engine.md explains its members. */
type Path = {
	steps: number;
	activities: number;
	parts: Record<"computationPs" | "sendingPs" | "contentionPs" | "latencyPs", number>;
	longest: { startTimeUs: number; timeUs: number; kind: string; rank: number; toRank?: number; operationType?: string; sizeBytes?: number; limitedBy?: string }[];
	ranks: { rank: number; computationUs: number; percent: number }[];
	links: { name: string; timeUs: number; contentionUs: number; percent: number }[];
	sentence: string;
};

const parts = [
	["computationPs", "computation", ""],
	["sendingPs", "sending", "what transfers take beside those of their sender only"],
	["contentionPs", "contention", "how much longer, because other ranks use the links"],
	["latencyPs", "latency", "from the last bit sent to the last acknowledgement"],
] as const;

export function Critical({ run }: { run: Simulation }) {
	const critical = useResultData<Path>(run.id, "critical-path");
	return (
		<section aria-label="Critical path">
			{critical.data ? <Shares path={critical.data} /> : critical.error ? <Failure of="There is no critical path" error={critical.error} /> : <Loading of="the critical path" />}
			<Stragglers run={run} />
		</section>
	);
}

function Shares({ path }: { path: Path }) {
	const whole = parts.reduce((total, [member]) => total + path.parts[member], 0);
	let x = 0;
	return (
		<>
			<TierWords before={[path.sentence, ...path.longest.flatMap(({ limitedBy }) => limitedBy ?? [])]} />
			<p>
				<Sentence>{path.sentence}</Sentence>
			</p>
			<svg className="parts" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label="The parts of the critical path">
				{parts.map(([member, name]) => {
					const width = whole === 0 ? 0 : (path.parts[member] / whole) * 1000;
					const at = x;
					x += width;
					return <rect key={member} className={name} x={at} y={0} width={width} height={24} />;
				})}
			</svg>
			<table>
				<tbody>
					{parts.map(([member, name, says]) => (
						<tr key={member}>
							<th scope="row">
								<span className={`swatch ${name}`} /> {name}
								{says && <div className="quiet">{says}</div>}
							</th>
							<td className="number">{picoseconds(path.parts[member])}</td>
						</tr>
					))}
				</tbody>
			</table>
			<h2>Longest steps</h2>
			<Figures
				head={["What", "Limited by", "Time (µs)", "From (µs)"]}
				rows={path.longest.map((step) => [
					step.kind === "computation" ? `computation of rank ${step.rank}` : `${step.operationType} from rank ${step.rank} to ${step.toRank}, ${bytes(step.sizeBytes ?? 0)}`,
					step.limitedBy ?? "",
					String(step.timeUs),
					String(step.startTimeUs),
				])}
			/>
			<h2>Links with most of it</h2>
			<Figures head={["Link", "Of the path", "Time (µs)", "Contention (µs)"]} rows={path.links.map((link) => [link.name, `${link.percent} %`, String(link.timeUs), String(link.contentionUs)])} />
			{path.ranks.length > 0 && (
				<>
					<h2>Ranks that compute on it</h2>
					<Figures head={["Rank", "Of the path", "Time (µs)"]} rows={path.ranks.map((rank) => [count(rank.rank), `${rank.percent} %`, String(rank.computationUs)])} />
				</>
			)}
		</>
	);
}

function Stragglers({ run }: { run: Simulation }) {
	const { data } = useSummary(run.id, true);
	if (!data) return null;
	return (
		<>
			<h2>Stragglers</h2>
			{data.stragglers ? (
				<>
					<p>
						{count(data.stragglers.count)} ranks computed at least 1.1 times as long as the median of {data.stragglers.medianComputeTimeUs} µs.
					</p>
					<Figures head={["Rank", "Time (µs)", "Of the median"]} rows={data.stragglers.ranks.map((one) => [count(one.rank), String(one.computeTimeUs), `${one.medianRatio} ×`])} />
				</>
			) : (
				<p>No rank computed longer than the others.</p>
			)}
		</>
	);
}

/** A share or a ratio to three digits, all else as it is. */
function Figures({ head, rows }: { head: string[]; rows: string[][] }) {
	return (
		<Table label={head.join(", ")} head={head} rows={rows.map((row, at) => ({ id: `${at} ${row[0]}`, cells: row.map((cell) => (/[%×]$/.test(cell) ? <Short of={cell} digits={3} /> : cell)) }))} />
	);
}
