import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Wanted } from "./bundle";
import { anything, golden } from "./golden";
import { verify } from "./read";
import { command, verdict } from "./verdict";
import { wrongWanted } from "./verify";

const said = async (name: string, wanted: Partial<Wanted> = {}, noNote = false) => {
	const all = { ...anything, ...wanted };
	const { report } = await verify(new Blob([golden(name)]), all);
	return { ...verdict(report, all, noNote), found: report.problems.map(({ line, what }) => `line ${line}: ${what}`) };
};
const tool = ["audit.go", "audit_verify.go"].map((name) => readFileSync(new URL(`../../../cmd/netsim/${name}`, import.meta.url), "utf8")).join("");
const account = "acct_00000000000000000000000001";

test("the verdict has the words of audit verify", async () => {
	const [key, notes] = [golden("key").trim(), [golden("held.note")]];
	const without = await said("bundle.jsonl", { key });
	expect(without.summary).toEqual([
		`${account} from 2026-11-02 to 2026-11-04, coveredUntil 2026-11-06T00:02:30.000Z: 37 lines, 21 events, 8 costs, 4 checkpoints`,
		`chain ${account}: 18 events`,
		"chain platform_netsim: 3 events",
		"total cluster 2159.98272 CREDIT",
		"total storage 15.499998 CREDIT",
		"8 daily costs were rated again with the same result",
	]);
	expect(without.conclusion).toContain("its end may have been cut off");
	for (const { conclusion } of [without, await said("bundle.jsonl", { key, notes }), await said("bundle.jsonl", { key }, true)]) expect(tool).toContain(`"${conclusion}"`);
	expect((await said("bundle.jsonl")).summary.at(-1)).toMatch(/^the signatures were verified with the bundle's own key, test\+12cc9692/);
	expect((await said("lossy.jsonl")).summary).toContain("the checkpoints contain 1 losses of the log that operators accepted");
	expect(await said("forged.jsonl", { key, notes })).toMatchObject({ agrees: false, conclusion: "the verification failed: 1 found" });
});

test("a bundle that is not the wanted one is refused", async () => {
	const days = "line 1: the bundle is of the days from 2026-11-02 to 2026-11-04, not from";
	expect((await said("bundle.jsonl", { from: "2026-11-02", to: "2026-11-04", account })).found).toEqual([]);
	expect((await said("bundle.jsonl", { from: "2026-11-01" })).found).toEqual([`${days} 2026-11-01 to 2026-11-04`]);
	expect((await said("bundle.jsonl", { to: "2026-11-05" })).found).toEqual([`${days} 2026-11-02 to 2026-11-05`]);
	const other = "acct_00000000000000000000000002";
	expect((await said("bundle.jsonl", { account: other })).found).toEqual([`line 1: the bundle is of account ${account}, not of ${other}`]);
	expect((await said("bundle.jsonl", { key: "netsim+1+x" })).found.join()).toContain("malformed verifier id");
});

test("what no bundle can be is refused before", () => {
	expect(wrongWanted(anything)).toBe("");
	expect(wrongWanted({ ...anything, account: "acct_1" })).toContain("is not an account id");
	expect(wrongWanted({ ...anything, from: "2026-11-31" })).toContain("is not a date");
	expect(wrongWanted({ ...anything, from: "2026-11-02", to: "2026-11-01" })).toBe("to 2026-11-01 is before from 2026-11-02");
});

test("the command line is the same verification", () => {
	const wanted = { ...anything, key: "a b'c", account, from: "2026-11-02", strict: true, notes: ["n"] };
	expect(command(wanted, false)).toBe(`netsim audit verify bundle.jsonl --key 'a b'\\''c' --account ${account} --from 2026-11-02 --strict --note note-1`);
	expect(command(anything, true)).toBe("netsim audit verify bundle.jsonl --no-note");
});
