import { Ids } from "../ui/ids";
import { Shown, Time } from "../ui/parts";
import { Table } from "../ui/table";
import { limit, Rest, useOperations } from "./parts";

/** What operators did and looked at, as the log has it. */
export function Acts() {
	const acts = useOperations("ListOperatorActs", { query: { limit } });
	return (
		<Shown of="what operators did" query={acts}>
			{({ items, total }) =>
				items.length === 0 ? (
					<p>Operators have changed nothing yet, and looked at nothing that is masked.</p>
				) : (
					<>
						<Table
							label="What operators did"
							head={["When", "Command", "Arguments", "Outcome", "Operator"]}
							rows={items.map((one) => ({
								id: one.id,
								cells: [
									<Time key="when" at={one.beganAt} />,
									<span key="command">
										{one.command}
										<br />
										<Ids>{one.id}</Ids>
									</span>,
									one.arguments.length > 0 && (
										<ul key="arguments" className="plain arguments">
											{one.arguments.map((argument) => (
												<li key={argument}>
													<Ids>{argument}</Ids>
												</li>
											))}
										</ul>
									),
									one.outcome || (one.endedAt ? "none" : "not ended"),
									<Ids key="operator">{one.operator}</Ids>,
								],
							}))}
						/>
						<Rest shown={items.length} total={total} />
					</>
				)
			}
		</Shown>
	);
}
