import { readFileSync } from "node:fs";
import type { Wanted } from "./bundle";
import { sha } from "./bytes";
import type { Rerated } from "./rerate";

/** The files of audit/testdata, for tests. */
const folder = new URL("../../../audit/testdata/", import.meta.url);
export const golden = (name: string): string => readFileSync(new URL(name, folder), "utf8");

export const anything: Wanted = { key: "", account: "", from: "", to: "", notes: [], preliminary: false, strict: false };

type Edit = { from?: number; to?: number; shift?: number; first?: number; last?: number; sum?: boolean; bytes?: string };
type Rated = { Days: number; Pending: number; Unrated: number; First: string };
type Case = { name: string; wanted: Record<string, never>; edits: Edit[]; rated: Rated; problems: string[] };

/** A bundle that audit's tests have broken, what its reader wanted, and what audit verify found. */
export type Broken = { name: string; bytes: Uint8Array<ArrayBuffer>; wanted: Wanted; rated: Rerated; problems: string[] };

/** The cases of broken.jsonl, which audit/broken_test.go writes as edits of whole.jsonl. */
export function brokenBundles(): Broken[] {
	const base = golden("whole.jsonl").split(/(?<=\n)/);
	return golden("broken.jsonl")
		.trim()
		.split("\n")
		.map((line) => {
			const { name, wanted, edits, rated, problems } = JSON.parse(line) as Case;
			const bytes = Buffer.concat(edits.map((edit) => part(base, edit)));
			const { Verifier = "", Account = "", From = "", To = "", Notes, Preliminary = false, Strict = false } = wanted;
			const { Days: days, Pending: pending, Unrated: unrated, First: first } = rated;
			return {
				name,
				bytes: Uint8Array.from(bytes),
				rated: { days, pending, unrated, first },
				problems,
				wanted: { key: Verifier, account: Account, from: From, to: To, notes: Notes ?? [], preliminary: Preliminary, strict: Strict },
			};
		});
}

const checksum = '0123456789abcdef"}\n';

function part(base: string[], { from = 0, to = 0, shift = 0, first = 0, last = 0, sum = false, bytes = "" }: Edit): Buffer {
	const other = Buffer.from(bytes, "base64");
	if (from === 0) return other;
	if (first + last > 0) {
		// The last bytes of a summed line are those before its checksum.
		const line = Buffer.from(base[from - 1] as string);
		const until = line.length - (sum ? checksum.length : 0);
		const changed = Buffer.concat([line.subarray(0, first), other, line.subarray(until - last, until)]);
		return sum ? Buffer.from(summed(changed.toString() + checksum)) : changed;
	}
	const lines = base.slice(from - 1, to).map((line) => (shift === 0 ? line : summed(line.replace(/\d+/, (number) => String(Number(number) + shift)))));
	return Buffer.from(lines.join(""));
}

/** A line with the checksum that it should have. */
export function summed(line: string): string {
	const body = line.slice(0, line.lastIndexOf(',"sum":"'));
	return `${body},"sum":"${sha(body).slice(0, 16)}"}\n`;
}
