import { Link } from "@tanstack/react-router";
import { call } from "../api/client";
import type { DeadLetter } from "../api/contract";
import { count } from "../lib/units";
import { Field, Shown, Time } from "../ui/parts";
import { Table } from "../ui/table";
import { Act, lag, limit, Masked, maskedNote, Rest, useOperations } from "./parts";

const path = ({ handler, family, partition, offset }: DeadLetter) => ({ handler_name: handler, family, partition, offset });
const settled = (left: number) => (left === 0 ? "Settled." : `${count(left)} still open.`);

/** What handlers could not process, and how far each has come. */
export function DeadLetters() {
	const letters = useOperations("ListDeadLetters", { query: { limit } });
	const reactions = useOperations("ListReactions", { query: { limit } });
	return (
		<>
			<h2>Dead letters</h2>
			<Shown of="the dead letters" query={letters}>
				{({ items, total }) =>
					items.length === 0 ? (
						<p>There are none: the handlers have processed all facts that they have read.</p>
					) : (
						<>
							<p>Handlers could not process these facts, and went on with the next. {maskedNote}</p>
							<p>
								<Act text="Run the handlers of all again" label="Run the handlers of all again" run={() => call("RetryDeadLetters", { query: { limit } })} done={settled} />
							</p>
							<Table
								label="Dead letters"
								head={["Handler", "Fact", "Why", "Since", "Data", "Again"]}
								rows={items.map((one) => ({
									id: one.id,
									cells: [
										one.handler,
										<span key="fact">
											<Field>{one.type}</Field> of{" "}
											<Link to="/streams/$id" params={{ id: one.stream }}>
												<Field>{one.stream}</Field>
											</Link>
										</span>,
										one.reason,
										<Time key="since" at={one.since} />,
										<Masked key="data" of={one.id} look={() => call("ShowDeadLetter", { path: path(one) })} />,
										<Act key="again" text="Retry" label={`Retry ${one.id}`} run={() => call("RetryDeadLetter", { path: path(one) })} done={settled} />,
									],
								}))}
							/>
							<Rest shown={items.length} total={total} />
						</>
					)
				}
			</Shown>
			<h2>Handlers</h2>
			<Shown of="the handlers" query={reactions}>
				{({ items, total }) => (
					<details>
						<summary>
							{count(total)} handlers by partition, {count(items.filter((one) => one.lagRecords > 0 || one.deadLetters > 0).length)} behind or with dead letters
						</summary>
						<Table
							label="Handlers"
							head={["Handler", "Family", "Partition", "Next", "Behind", "Dead letters"]}
							rows={items.map((one) => ({
								id: `${one.handler}:${one.family}/${one.partition}`,
								cells: [one.handler, one.family, count(one.partition), count(one.next), lag(one), count(one.deadLetters)],
							}))}
						/>
						<Rest shown={items.length} total={total} />
					</details>
				)}
			</Shown>
		</>
	);
}
