import type { Simulation } from "../api/contract";
import { bitRate, bytes, count, inUnits, picoseconds } from "../lib/units";
import { Facts, Sentence, Short, Shown, TierWords } from "../ui/parts";
import { useResults, useSummary } from "./data";

/** The result in a sentence, and then the reasons. */
export function Result({ run }: { run: Simulation }) {
	const has = run.status !== "invalid";
	const results = useResults(run.id, has);
	const summary = useSummary(run.id, has && results.data !== undefined);
	if (!has) return <p>The service found its configuration invalid, so it did not run and has no results.</p>;
	return (
		<Shown of="the results" query={results}>
			{({ duration, summary: short, accuracy }) => (
				<section aria-label="Result">
					<p className="result">
						{run.status === "completed" ? "It takes" : "Until it ended it took"} <strong>{inUnits(duration)}</strong> of simulated time, at {inUnits(short.throughput)}.
					</p>
					<TierWords before={summary.data?.reading ?? []} />
					{summary.data?.reading.map((sentence) => (
						<p key={sentence}>
							<Sentence>{sentence}</Sentence>
						</p>
					))}
					<p>
						Accuracy: <strong>{accuracy.class}</strong>.{accuracy.band && ` ${band(accuracy.band)}`}
					</p>
					<details className="why">
						<summary>Why</summary>
						<p>
							<Sentence>{accuracy.basis}</Sentence>
						</p>
						{accuracy.outside.length > 0 && (
							<>
								<p>What this run has beyond the compared cases:</p>
								<ul>
									{accuracy.outside.map((line) => (
										<li key={line}>
											<Sentence>{line}</Sentence>
										</li>
									))}
								</ul>
							</>
						)}
					</details>
					{summary.data && (
						<Facts
							of={[
								["Simulated time", picoseconds(summary.data.simulatedTimePs)],
								["Throughput", <Short key="rate" of={bitRate(summary.data.throughputBps)} />],
								["Payload", bytes(summary.data.payloadBytes)],
								["Transfers", count(summary.data.transfers)],
								["Mean time of a transfer", inUnits(short.avgLatency)],
								["Collectives", count(summary.data.collectives)],
								["Ranks", count(summary.data.ranks)],
							]}
						/>
					)}
				</section>
			)}
		</Shown>
	);
}

/** How far compared cases were from the reference. */
function band({ lowestPercent, highestPercent, cases }: { lowestPercent: number; highestPercent: number; cases: number }): string {
	const by = (percent: number) => `${Math.abs(percent)} % ${percent < 0 ? "less" : "more"}`;
	return `${count(cases)} compared cases took between ${by(lowestPercent)} and ${by(highestPercent)} time than the reference.`;
}
