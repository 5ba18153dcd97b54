import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { costsElsewhere, familyOf, runsElsewhere, streamElsewhere } from "./elsewhere";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const days = { startDate: "2026-11-01", endDate: "2026-11-26" };

test("streams have the families of the service", () => {
	const constants = read("events/ids.go");
	const kinds = [...read("events/stream.go").matchAll(/\{(\w+Prefix), "?(\w*)"?\}/g)].map(([, name, family]) => ({
		prefix: new RegExp(`${name} += "(\\w+)"`).exec(constants)?.[1] ?? "",
		family: family?.toLowerCase() || "billing",
	}));
	expect(kinds).toHaveLength(12);
	for (const { prefix, family } of kinds) expect(familyOf(prefix === "seal" ? "seal_billing_0" : `${prefix}_01kahcfv4ge3brkm7f0v3x2m8p`), prefix).toBe(family);
	for (const unknown of ["constructor_x", "seal_x", "x", ""]) expect(familyOf(unknown), unknown).toBeUndefined();
});

test("the statements name views and columns that the lake has", () => {
	const views = read("stream/lake/views.sql");
	const columns = (view: string) => {
		const head = (new RegExp(`^-- view: ${view}\\n((?:--.*\\n)+)`, "m").exec(views) as RegExpExecArray)[1] as string;
		return [...head.matchAll(/^-- \| (.*?) \| (.*)$/gm)].flatMap(([, name = "", more = ""]) => (name.startsWith("of ") ? more.split(" ") : [name]));
	};
	const runs = runsElsewhere(["sim_a"]).sql as string;
	for (const [, table, column] of runs.matchAll(/\b([rc])\.(\w+)/g)) expect(columns(table === "r" ? "simulation_runs" : "simulation_costs"), column).toContain(column);
	const costs = costsElsewhere("acct_a", days).sql as string;
	for (const column of [...((/SELECT (.*)\n/.exec(costs) as RegExpExecArray)[1] as string).split(", "), "account_id"]) expect(columns("daily_costs"), column).toContain(column);
	for (const id of ["sim_a", "mapfile_a"]) expect(views + read("docs/tables.md")).toMatch(new RegExp(`^## ${/lake\.(\w+)/.exec(streamElsewhere(id).sql as string)?.[1]}$`, "m"));
});

test("what is in an address is quoted or refused", () => {
	expect(costsElsewhere("a'; DROP TABLE x; --", days).sql).toContain("account_id = 'a''; DROP TABLE x; --' AND");
	expect(runsElsewhere(["a'b"]).sql).toContain("IN ('a''b')");
	expect(streamElsewhere("sim_a' | rm")).toEqual({});
	expect(streamElsewhere("sim_a").kcat).toBe(`kcat -b "$KAFKA" -C -e -o beginning -f '%k %h %s\\n' netsim.public.simulations | grep '^sim_a '`);
	expect(runsElsewhere().sql).not.toContain("WHERE");
});
