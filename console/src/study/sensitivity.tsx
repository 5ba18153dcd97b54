import type { StudyAxisAnalysis } from "../api/contract";
import { Field, Sentence, Short } from "../ui/parts";

/** The axes that do not change the time, each with the reason that the service gives. A study of points that all agree says so here. */
export function NoEffects({ axes }: { axes: Pick<StudyAxisAnalysis, "field" | "noEffect">[] }) {
	return axes.flatMap(
		({ field, noEffect }) =>
			noEffect && (
				<p key={field} className="banner">
					<strong>
						<Field>{field}</Field> does not change the time:
					</strong>{" "}
					<Sentence>{noEffect}</Sentence>.
				</p>
			),
	);
}

/** How much each axis changes the time and the price, as factors. */
export function Sensitivity({ axes }: { axes: StudyAxisAnalysis[] }) {
	const largest = Math.max(1, ...axes.flatMap((axis) => [axis.time.meanRatio ?? 1, axis.price.meanRatio ?? 1]));
	return (
		<>
			<h2>What each axis changes</h2>
			<ul className="lines">
				{axes.flatMap((axis) =>
					(["time", "price"] as const).map((objective) => {
						const ratio = axis[objective].meanRatio;
						return (
							<li key={`${axis.field} ${objective}`}>
								<span>
									<Field>{axis.field}</Field>, {objective}
								</span>
								<svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
									<rect className={objective === "time" ? "sending" : "computation"} x={0} y={20} height={60} width={largest === 1 ? 0 : (((ratio ?? 1) - 1) / (largest - 1)) * 1000} />
								</svg>
								<span>{ratio === undefined ? "not known" : ratio === 1 ? "unchanged" : <Short of={`× ${ratio} on average`} digits={3} />}</span>
							</li>
						);
					}),
				)}
			</ul>
		</>
	);
}
