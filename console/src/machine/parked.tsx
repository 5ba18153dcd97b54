import { Link } from "@tanstack/react-router";
import { call } from "../api/client";
import { count } from "../lib/units";
import { Field, Shown } from "../ui/parts";
import { Table } from "../ui/table";
import { Act, limit, Masked, maskedNote, Rest, useOperations } from "./parts";

/** The facts that the read model could not apply, by stream. */
export function ParkedFacts() {
	const parked = useOperations("ListParkedFacts", { query: { limit } });
	return (
		<Shown of="the parked facts" query={parked}>
			{({ items, total }) =>
				items.length === 0 ? (
					<p>Nothing is parked: the read model has applied all facts that it has judged.</p>
				) : (
					<>
						<p>The read model could not apply these facts. All later facts of their streams are parked with them; other streams go on. {maskedNote}</p>
						{[...Map.groupBy(items, (one) => one.stream)].map(([stream, facts]) => (
							<section key={stream} aria-label={`Stream ${stream}`}>
								<h2>
									<Link to="/streams/$id" params={{ id: stream }} search={{ from: String(facts[0]?.sequence ?? 1) }}>
										<Field>{stream}</Field>
									</Link>
								</h2>
								<p>
									<Act
										text="Apply them again"
										label={`Apply them again: the parked facts of ${stream}`}
										run={() => call("RetryParkedStream", { path: { stream } })}
										done={(left) => (left === 0 ? "Nothing of the stream is parked any more." : `${count(left)} are still parked.`)}
									/>
								</p>
								<Table
									label={`Parked facts of ${stream}`}
									head={["Fact", "Type", "Why", "Position", "Data"]}
									rows={facts.map((one) => ({
										id: String(one.sequence),
										cells: [
											count(one.sequence),
											<Field key="type">{one.type}</Field>,
											one.reason,
											`${one.family}/${one.partition} at ${count(one.offset)}`,
											<Masked key="data" of={`fact ${one.sequence} of ${stream}`} look={() => call("ShowParkedFact", { path: { stream, sequence: one.sequence } })} />,
										],
									}))}
								/>
							</section>
						))}
						<Rest shown={items.length} total={total} />
					</>
				)
			}
		</Shown>
	);
}
