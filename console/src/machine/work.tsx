import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client";
import { lasting } from "../lib/clock";
import { bytes, count } from "../lib/units";
import { Confirm } from "../ui/confirm";
import { Failure, Shown, StatusMark, Time } from "../ui/parts";
import { Table } from "../ui/table";
import { limit, Rest, useOperations } from "./parts";

/** The queue of jobs, and the simulations that have not ended with the workers that have them. */
export function Work() {
	const jobs = useOperations("ListJobs", { query: { limit } });
	const runs = useOperations("ListOpenRuns", { query: { limit } });
	return (
		<>
			<h2>Simulations that have not ended</h2>
			<Shown of="the simulations" query={runs}>
				{({ items, total, counts }) => (
					<>
						<p>
							{total === 0
								? "None, of any account."
								: `${count(total)} of all accounts: ${counts.map((one) => `${count(one.simulations)} ${one.status}${one.engine && ` on ${one.engine}`}`).join(", ")}.`}
						</p>
						{items.length > 0 && (
							<Table
								label="Simulations that have not ended"
								head={["Simulation", "Account", "Status", "Worker", "Age", "Delivered", "Attempts", "Act"]}
								rows={items.map((one) => ({
									id: one.simulation,
									cells: [
										one.simulation,
										one.account,
										<StatusMark key="status" value={one.status} />,
										one.worker ? `${one.worker}, ${one.engine}` : "none yet",
										lasting(one.ageSeconds),
										`${bytes(one.deliveredBytes)}${one.totalBytes ? ` of ${bytes(one.totalBytes)}` : ""}${one.stalledSince ? `, still since ${one.stalledSince}` : ""}`,
										count(one.attempts),
										one.status === "running" && <Terminate key="act" simulation={one.simulation} />,
									],
								}))}
							/>
						)}
						<Rest shown={items.length} total={total} />
					</>
				)}
			</Shown>
			<h2>Jobs</h2>
			<Shown of="the jobs" query={jobs}>
				{({ items, total }) =>
					items.length === 0 ? (
						<p>There are no jobs.</p>
					) : (
						<>
							<Table
								label="Jobs"
								head={["Kind", "State", "Jobs", "Oldest", "Most attempts", "Last error"]}
								rows={items.map((one) => ({
									id: `${one.kind} ${one.state}`,
									cells: [
										one.kind,
										one.state,
										count(one.jobs),
										lasting(one.oldestSeconds),
										count(one.attempts),
										one.lastError ? (
											<span key="error">
												{one.lastError} {one.lastErrorAt && <Time at={one.lastErrorAt} />}
											</span>
										) : (
											"none"
										),
									],
								}))}
							/>
							<Rest shown={items.length} total={total} />
						</>
					)
				}
			</Shown>
		</>
	);
}

/** Stops a simulation of any account, with a reason that the log keeps. */
function Terminate({ simulation }: { simulation: string }) {
	const client = useQueryClient();
	const [asking, ask] = useState(false);
	const [reason, give] = useState("");
	const act = useMutation({
		mutationFn: () => call("TerminateRun", { path: { sim_id: simulation }, body: { reason } }),
		onSuccess: () => ask(false),
		onSettled: () => client.invalidateQueries({ queryKey: ["operations"] }),
	});
	return (
		<>
			<button type="button" aria-label={`Terminate ${simulation}`} onClick={() => ask(true)}>
				Terminate
			</button>
			{asking && (
				<Confirm title="Terminate this simulation?" yes="Terminate it" busy={act.isPending} ready={reason.trim() !== ""} onYes={() => act.mutate()} onNo={() => ask(false)}>
					<p>
						<bdi>{simulation}</bdi> ends with the results so far, and is billed until now. The act and its reason stand in the log.
					</p>
					<label>
						Reason, without names of persons
						<input value={reason} maxLength={900} onChange={(event) => give(event.target.value)} />
					</label>
					{act.error && <Failure of="It was not terminated" error={act.error} />}
				</Confirm>
			)}
		</>
	);
}
