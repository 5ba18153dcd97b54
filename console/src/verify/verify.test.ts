import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Report, Wanted } from "./bundle";
import { structs } from "./data";
import { anything, brokenBundles, golden, summed } from "./golden";
import type { Struct, Type } from "./json";
import { verify } from "./read";

async function verified(of: string | Uint8Array<ArrayBuffer>, wanted: Partial<Wanted> = {}): Promise<Report> {
	return (await verify(new Blob([of]), { ...anything, ...wanted })).report;
}

/** Findings as audit verify prints them. What comes from Go's decoder is in words of its own. */
function found(problems: string[]): string[] {
	return problems.map((text) => text.replace(/(it is not JSON|it is not a line of kind \w+|cannot be read: decode \S+|illegal base64 data).*/, "$1")).sort();
}

/** Milliseconds that a test may take on a busy machine. */
const long = 600_000;

const texts = ({ problems }: Report) => problems.map(({ line, what }) => `line ${line}: ${what}`);

describe("bundles that verify", () => {
	const [key, held] = [golden("key").trim(), golden("held.note")];
	test.each([
		["bundle.jsonl", { key, notes: [held] }, 21, "cluster 2159.98272 CREDIT"],
		["whole.jsonl", {}, 21, "cluster 2159.983333333333333333 CREDIT"],
		["lossy.jsonl", {}, 21, "cluster 2159.983333333333333333 CREDIT"],
		["succeeded.jsonl", { key: golden("first.key").trim() }, 26, "cluster 480 CREDIT"],
		["succeeded.jsonl", { key: golden("second.key").trim() }, 26, "cluster 480 CREDIT"],
		["succeeded.jsonl", { key: golden("third.key").trim() }, 26, "cluster 480 CREDIT"],
	])("%s", async (name, wanted, events, total) => {
		const report = await verified(golden(name), wanted);
		expect(texts(report)).toEqual([]);
		expect(report).toMatchObject({ events, rated: { pending: 0, unrated: 0 } });
		expect(report.rated.days).toBeGreaterThan(0);
		expect(report.totals[0]).toBe(total);
	});
});

const cases = brokenBundles();
test("there are the cases of all of audit's tests", () => expect(cases.length).toBeGreaterThan(600));

test.each(cases)(
	"broken: $name",
	async ({ bytes, wanted, rated, problems }) => {
		const report = await verified(bytes, wanted);
		expect(found(texts(report))).toEqual(found(problems));
		expect(report.rated).toEqual(rated);
	},
	long,
);

test(
	"any one flipped bit is found, and no file is an exception",
	async () => {
		const whole = Buffer.from(golden("whole.jsonl"));
		let seed = 25;
		const random = (below: number) => {
			seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
			return Math.floor((seed / 2 ** 32) * below);
		};
		for (let n = 0; n < 300; n++) {
			const bytes = Uint8Array.from(whole);
			const at = random(bytes.length);
			bytes[at] = (bytes[at] as number) ^ (1 << random(8));
			const { problems } = await verified(bytes);
			const line = whole.subarray(0, at).filter((byte) => byte === 10).length + 1;
			expect(
				problems.some((problem) => Math.abs(problem.line - line) <= 1),
				`byte ${at} of line ${line}`,
			).toBe(true);
		}
	},
	long,
);

test.each(["", "\n", "null\n", "{}\n", "[[[[", `${"[".repeat(100_000)}\n`, '{"line":1,"kind":"seal","seal":5}\n', '{"line":9e99}', "\ufeff{}", '{"line":1,"kind":"constructor"}\n'])(
	"%j is no bundle",
	async (text) => {
		expect((await verified(text)).problems.length).toBeGreaterThan(0);
	},
);

test("a byte that is no text is found, even with the checksum of what it is read as", async () => {
	const lines = golden("whole.jsonl").split(/(?<=\n)/);
	const bytes = Buffer.from(lines.map((line, at) => (at === 22 ? summed(line.replace("item 1", "item \ufffd")) : line)).join(""));
	const at = bytes.indexOf("\ufffd");
	const changed = Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 3)]);
	expect(texts(await verified(Uint8Array.from(changed)))).toContain("line 23: its bytes were changed: its checksum does not match (daily cost 4, event 4)");
});

test("a line that is too long is a finding", async () => {
	const report = await verified(`${golden("whole.jsonl")}${"x".repeat(17 << 20)}\n`);
	expect(texts(report)).toEqual(["line 38: it is longer than 16777216 bytes"]);
});

test("the members of events are those of the catalogue", () => {
	const listed = (type: Type, at: string): string[] => {
		if (typeof type === "string") return [`${at} ${{ text: "string", int: "int64", int32: "int32", time: "time" }[type]}`];
		return "list" in type ? listed(type.list, `${at}[]`) : Object.entries(type.members).flatMap(([name, member]) => listed(member, `${at}${at.endsWith(" ") ? "" : "."}${name}`));
	};
	const ours = Object.entries(structs).flatMap(([name, struct]) => listed(struct as Struct, `${name} `));
	const theirs = readFileSync(new URL("../../../events/testdata/fields.txt", import.meta.url), "utf8").split("\n");
	expect(ours.sort()).toEqual(theirs.filter((line) => line.startsWith("netsim.billing.")).sort());
});
