import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as elsewhere from "./elsewhere";
import { costsElsewhere, familyOf, runsElsewhere, streamElsewhere } from "./elsewhere";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const days = { startDate: "2026-11-01", endDate: "2026-11-26" };

test("streams have the families of the service", () => {
	const constants = read("events/ids.go");
	const kinds = [...read("events/stream.go").matchAll(/\{(\w+Prefix), "?(\w*)"?\}/g)].map(([, name, family]) => ({
		prefix: new RegExp(`${name} += "(\\w+)"`).exec(constants)?.[1] ?? "",
		family: family?.toLowerCase() || "billing",
	}));
	expect(kinds).toHaveLength(13);
	for (const { prefix, family } of kinds) expect(familyOf(prefix === "seal" ? "seal_billing_0" : `${prefix}_01kahcfv4ge3brkm7f0v3x2m8p`), prefix).toBe(family);
	for (const unknown of ["constructor_x", "seal_x", "x", ""]) expect(familyOf(unknown), unknown).toBeUndefined();
});

/** Each statement that a page can offer, of each family of streams. */
function offered(): Record<string, string> {
	const id = "01kahcfv4ge3brkm7f0v3x2m8p";
	const streams = ["workspace", "config", "sim", "ts", "mapfile", "acct", "checkpoint"].map((prefix) => `${prefix}_${id}`);
	expect(new Set(streams.map(familyOf)).size).toBe(streams.length);
	return Object.fromEntries(
		[
			...streams.map((stream) => [`facts of ${stream}`, streamElsewhere(stream)] as const),
			["all simulations", runsElsewhere()] as const,
			["simulations", runsElsewhere([`sim_${id}`, "sim_01kahcfv4ge3brkm7f0v3x2m8q"])] as const,
			["costs", costsElsewhere(`acct_${id}`, days)] as const,
		].map(([name, { sql = "" }]) => [name, sql]),
	);
}

test("the statements are those that TestTheConsolesSQL runs on a lake", () => {
	// With UPDATE=1 they are written.
	const path = new URL("../../../stream/lake/testdata/console.json", import.meta.url);
	if (process.env.UPDATE) writeFileSync(path, `${JSON.stringify(offered(), null, "\t")}\n`);
	expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(offered());
	expect(Object.keys(elsewhere).filter((name) => name.endsWith("Elsewhere"))).toEqual(["streamElsewhere", "runsElsewhere", "costsElsewhere"]);
	// Every family has a stream among them.
	for (const family of read("events/stream.go").matchAll(/Family = "(\w+)"/g)) expect(Object.keys(offered()).map((name) => familyOf(name.replace("facts of ", "")))).toContain(family[1]);
});

test("what is in an address is quoted or refused", () => {
	expect(costsElsewhere("a'; DROP TABLE x; --", days).sql).toContain("account_id = 'a''; DROP TABLE x; --' AND");
	expect(runsElsewhere(["a'b"]).sql).toContain("IN ('a''b')");
	expect(streamElsewhere("sim_a' | rm")).toEqual({});
	expect(streamElsewhere("sim_a").kcat).toBe(`kcat -b "$KAFKA" -C -e -o beginning -f '%k %h %s\\n' netsim.public.simulations | grep '^sim_a '`);
	expect(runsElsewhere().sql).not.toContain("WHERE");
	expect(costsElsewhere("acct_a", days).kcat).toBe(streamElsewhere("acct_a").kcat);
	expect(costsElsewhere("acct_a' | rm", days)).not.toHaveProperty("kcat");
});
