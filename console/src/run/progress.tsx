import type { SimulationProgress } from "../api/contract";
import { bytes, count, inUnits, percent } from "../lib/units";
import { Facts, Time } from "../ui/parts";

/** How far a run has come. */
export function Progress({ of: p }: { of: SimulationProgress }) {
	const part = p.totalBytes ? p.deliveredBytes / p.totalBytes : p.totalRanks ? p.finishedRanks / p.totalRanks : undefined;
	return (
		<section aria-label="Progress">
			{part !== undefined && (
				<p>
					<progress max={1} value={part} aria-label="Delivered" /> {percent(Math.floor(part * 1000) / 1000)}
					{p.estimatedRemaining && `, about ${inUnits(p.estimatedRemaining)} remain`}
				</p>
			)}
			{p.stalledSince && (
				<p className="banner">
					Simulated time has stood still since <Time at={p.stalledSince} whole />. If it stays so, the service ends the run and says why.
				</p>
			)}
			<Facts
				of={[
					["Simulated time", inUnits(p.simulatedTime)],
					["Delivered", p.totalBytes === undefined ? bytes(p.deliveredBytes) : `${bytes(p.deliveredBytes)} of ${bytes(p.totalBytes)}`],
					["Ranks finished", `${count(p.finishedRanks)} of ${count(p.totalRanks)}`],
					...(p.totalCollectives === undefined ? [] : ([["Collectives finished", `${count(p.finishedCollectives ?? 0)} of ${count(p.totalCollectives)}`]] as [string, string][])),
					...(p.lastCollective ? ([["Last collective", inUnits(p.lastCollective)]] as [string, string][]) : []),
					["Events", `${count(p.eventsProcessed)}, ${count(p.eventsPerSecond)} a second`],
				]}
			/>
		</section>
	);
}
