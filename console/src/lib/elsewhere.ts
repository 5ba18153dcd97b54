/** What is on a page, from elsewhere: as SQL for the lake, and from the public topics by kcat. */
export type Elsewhere = { sql?: string; kcat?: string };

// The families of streams, by the prefix of a stream's id.
const families: Record<string, string> = {
	workspace: "workspaces",
	webhook: "workspaces",
	config: "configurations",
	sim: "simulations",
	study: "simulations",
	ts: "tracesets",
	lib: "tracesets",
	mapfile: "mappingfiles",
	upload: "mappingfiles",
	acct: "billing",
	platform: "billing",
	checkpoint: "checkpoints",
	operation: "checkpoints",
};

/** The family of a stream, undefined if its id says none. A seal's id names its family. */
export function familyOf(stream: string): string | undefined {
	const [prefix = "", name = ""] = stream.split("_");
	return prefix === "seal" ? Object.values(families).find((family) => family === name) : Object.hasOwn(families, prefix) ? families[prefix] : undefined;
}

const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
const kcat = (family: string, format: string) => `kcat -b "$KAFKA" -C -e -o beginning -f '${format}' netsim.public.${family}`;

/** The facts of a stream. */
export function streamElsewhere(id: string): Elsewhere {
	const family = familyOf(id);
	if (!family || !/^\w+$/.test(id)) return {};
	const table = family === "mappingfiles" ? "mapping_files" : family;
	return {
		sql: `SELECT sequence, type, time, data\nFROM lake.${table}\nWHERE stream = ${text(id)}\nORDER BY sequence;`,
		kcat: `${kcat(family, "%k %h %s\\n")} | grep '^${id} '`,
	};
}

/** Simulations: their times, and what they cost. Without ids all of them. */
export function runsElsewhere(ids: string[] = []): Elsewhere {
	const those = ids.length > 0 ? `\nWHERE r.simulation_id IN (${ids.map(text).join(", ")})` : "";
	const columns = "r.simulation_id, r.name, r.outcome, r.queue_seconds, r.run_seconds, r.simulated_time_ns, c.cost, c.currency";
	return { sql: `SELECT ${columns}\nFROM lake.simulation_runs r LEFT JOIN lake.simulation_costs c USING (simulation_id)${those}\nORDER BY r.requested_at DESC;` };
}

/** The costs of an account by day, and the facts that they follow from. */
export function costsElsewhere(account: string, { startDate, endDate }: { startDate: string; endDate: string }): Elsewhere {
	return {
		...streamElsewhere(account),
		sql: `SELECT date, workspace_id, rate_name, currency, cost\nFROM lake.daily_costs\nWHERE account_id = ${text(account)} AND date BETWEEN DATE ${text(startDate)} AND DATE ${text(endDate)}\nORDER BY ALL;`,
	};
}
