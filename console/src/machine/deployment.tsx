import { Refusal } from "../api/client";
import { bytes, count } from "../lib/units";
import { Facts, Shown, Time } from "../ui/parts";
import { Table } from "../ui/table";
import { lag, limit, Rest, useOperations } from "./parts";

/** The processes, the newest checkpoint of the log, the public topics and the lake. */
export function Deployment() {
	const upgrade = useOperations("ShowUpgrade", {});
	const checkpoint = useOperations("ShowLogCheckpoint", {});
	const topics = useOperations("ListPublicTopics", { query: { limit } });
	const lake = useOperations("ShowLake", {});
	return (
		<>
			<h2>Processes</h2>
			<Shown of="the processes" query={upgrade}>
				{({ level, raisedAt, supported, members }) => (
					<>
						<p>
							The deployment is at level {count(level)}
							{raisedAt && (
								<>
									{" "}
									since <Time at={raisedAt} />
								</>
							)}
							; this release knows levels to {count(supported)}.
						</p>
						<Table
							label="Processes"
							head={["Process", "Release", "Level", "Sessions"]}
							rows={members.map((one, at) => ({ id: `${one.process} ${at}`, cells: [one.process || "unknown", one.release || "unknown", count(one.level), count(one.sessions)] }))}
						/>
					</>
				)}
			</Shown>
			<h2>Checkpoint of the log</h2>
			<Shown of="the checkpoint" query={checkpoint}>
				{(one) => (
					<Facts
						of={[
							["Newest", one.name || "none yet: the first is made after the first day"],
							["Signed", one.signedAt ? <Time key="signed" at={one.signedAt} /> : "not yet"],
							["Records that it covers", count(one.records)],
							["Records since", count(one.since)],
							["This process signs", one.signs ? "yes" : "no: it has no audit key"],
						]}
					/>
				)}
			</Shown>
			<h2>Public topics</h2>
			<Shown of="the public topics" query={topics}>
				{({ items, total, publisher, transactions }) => {
					const behind = items.filter((one) => one.lagRecords > 0);
					return (
						<>
							<p>
								{publisher ? (
									<>
										Published by <bdi>{publisher}</bdi>
										{transactions && ", in transactions"}
									</>
								) : (
									"No process publishes"
								)}
								; {behind.length === 0 ? "no partition is behind" : `${count(behind.length)} of ${count(total)} partitions are behind`}.
							</p>
							{behind.length > 0 && (
								<Table
									label="Partitions that are behind"
									head={["Topic", "Partition", "Next", "Behind"]}
									rows={behind.map((one) => ({ id: `${one.family}/${one.partition}`, cells: [one.topic, count(one.partition), count(one.next), lag(one)] }))}
								/>
							)}
							<Rest shown={items.length} total={total} />
						</>
					);
				}}
			</Shown>
			<h2>Lake</h2>
			{lake.error instanceof Refusal && lake.error.status === 404 ? (
				<p>This deployment has no lake.</p>
			) : (
				<Shown of="the lake" query={lake}>
					{(one) => (
						<>
							{one.otherLog && <p className="banner">It is not written: {one.otherLog}</p>}
							<Facts
								of={[
									["Written by", one.writer || "no process"],
									["Last commit", <Time key="at" at={one.committedAt} />],
									["Facts", count(one.facts)],
									["Facts behind", count(one.lagFacts)],
									["Files", count(one.files)],
									["Size of the files", bytes(one.bytes)],
									["Path", one.path],
								]}
							/>
						</>
					)}
				</Shown>
			)}
		</>
	);
}
