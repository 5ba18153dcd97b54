import { lasting } from "../lib/clock";
import { count } from "../lib/units";
import { Facts, Shown } from "../ui/parts";
import { Table } from "../ui/table";
import { lag, limit, Rest, useOperations } from "./parts";

/** How far the read models are, by partition and by family. */
export function ReadModels() {
	const models = useOperations("ListReadModels", { query: { limit } });
	const families = useOperations("ListStreamFamilies", { query: { limit } });
	return (
		<>
			<Shown of="the read models" query={models}>
				{({ items, total }) => (
					<>
						{items.map((model) => (
							<section key={model.schema} aria-label={`Read model ${model.schema}`}>
								<h2>
									<code>{model.schema}</code>
									{!model.thisRelease && " of another release"}
								</h2>
								<Facts
									of={[
										["Projected by", model.projector || "no process"],
										["Facts", count(model.facts)],
										["Behind", lag(model)],
										["Parked streams", count(model.parkedStreams)],
									]}
								/>
								{model.obstacles.map((text) => (
									<p key={text} className="banner">
										Not promoted: <bdi>{text}</bdi>
									</p>
								))}
								<details>
									<summary>
										{count(model.partitions.total)} shards of the log, {count(model.partitions.items.filter((one) => one.lagRecords > 0).length)} behind
									</summary>
									<Table
										label={`Shards of ${model.schema}`}
										head={["Family", "Partition", "Next", "End", "Behind", "Parked facts"]}
										rows={model.partitions.items.map((one) => ({
											id: `${one.family}/${one.partition}`,
											cells: [one.family, count(one.partition), count(one.next), count(one.end), lag(one), count(one.parked)],
										}))}
									/>
									<Rest shown={model.partitions.items.length} total={model.partitions.total} />
								</details>
							</section>
						))}
						<Rest shown={items.length} total={total} />
					</>
				)}
			</Shown>
			<h2>Streams by family</h2>
			<Shown of="the families" query={families}>
				{({ items }) => (
					<Table
						label="Families"
						head={["Family", "Partitions", "Records", "Not applied", "Since", "Parked streams", "Parked facts"]}
						rows={items.map((one) => ({
							id: one.family,
							cells: [
								one.family,
								count(one.partitions),
								count(one.records),
								count(one.lagRecords),
								one.lagRecords > 0 ? lasting(one.lagSeconds) : "",
								count(one.parkedStreams),
								count(one.parkedFacts),
							],
						}))}
					/>
				)}
			</Shown>
		</>
	);
}
