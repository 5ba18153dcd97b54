import { useQuery } from "@tanstack/react-query";
import { call, callTagged } from "../api/client";
import { write } from "../api/json";
import { Failure, Shown, StatusMark, Time } from "../ui/parts";

type Chosen = { from?: string; to?: string };

/** The versions of a configuration, and what differs between any two. */
export function Versions({ id, version, from, to, choose }: { id: string; version: number; choose: (chosen: Chosen) => void } & { [K in keyof Chosen]: Chosen[K] | undefined }) {
	const list = useQuery({ queryKey: ["configuration", id, "versions", version], queryFn: ({ signal }) => call("ListConfigurationVersions", { path: { config_id: id } }, signal) });
	const later = to ?? String(version);
	const earlier = from ?? String(Math.max(1, Number(later) - 1));
	return (
		<Shown of="the versions" query={list}>
			{({ versions }) => (
				<>
					<section className="wide" tabIndex={0} aria-label="Versions">
						<table>
							<thead>
								<tr>
									<th>Version</th>
									<th>Made</th>
									<th>Status</th>
									<th>Compare</th>
								</tr>
							</thead>
							<tbody>
								{versions.map((one) => (
									<tr key={one.version}>
										<th scope="row">{one.version}</th>
										<td>
											<Time at={one.createdAt} />
										</td>
										<td>
											<StatusMark value={one.status} />
										</td>
										<td className="actions">
											{(["from", "to"] as const).map((end) => {
												const own = String(one.version);
												const pressed = own === (end === "from" ? earlier : later);
												return (
													<button
														key={end}
														type="button"
														className="chip"
														aria-pressed={pressed}
														aria-label={`${end} version ${one.version}`}
														onClick={() => choose({ from: earlier, to: later, [end]: own })}
													>
														{end}
													</button>
												);
											})}
										</td>
									</tr>
								))}
							</tbody>
						</table>
					</section>
					{versions.length < 2 ? <p>There is one version, so there is nothing to compare yet.</p> : <Difference id={id} from={earlier} to={later} />}
				</>
			)}
		</Shown>
	);
}

function Difference({ id, from, to }: { id: string; from: string; to: string }) {
	const numbers = [from, to].every((one) => /^[1-9]\d{0,15}$/.test(one));
	const diff = useQuery({
		queryKey: ["configuration", id, "diff", from, to],
		queryFn: ({ signal }) => callTagged("GetConfigurationDiff", { path: { config_id: id }, query: { from: Number(from), to: Number(to) } }, { signal }),
		enabled: numbers,
		staleTime: Number.POSITIVE_INFINITY, // versions never change
	});
	return (
		<section aria-labelledby="difference">
			<h2 id="difference">
				From version {from} to version {to}
			</h2>
			{!numbers ? (
				<Failure of="There is no comparison" error={new Error("the address names a version that is no number; choose two in the table")} />
			) : (
				<Shown of="the difference" query={diff}>
					{({ data: { changes, patch } }) =>
						changes.length === 0 ? (
							<p>{patch.length === 0 ? "These versions are equal." : "They differ only in what people do not see; the JSON Patch has it."}</p>
						) : (
							<ul className="plain diff">
								{changes.map((change) => (
									<li key={`${change.kind} ${change.path} ${change.text}`}>
										<span className={`kind ${change.kind}`}>{change.kind}</span>{" "}
										<strong>
											<bdi>{change.subject}</bdi>
										</strong>
										: <bdi>{change.text}</bdi>
										{(change.before !== undefined || change.after !== undefined) && (
											<details>
												<summary>Both values</summary>
												<pre tabIndex={0}>{`- ${write(change.before ?? null)}\n+ ${write(change.after ?? null)}`}</pre>
											</details>
										)}
									</li>
								))}
							</ul>
						)
					}
				</Shown>
			)}
		</section>
	);
}
