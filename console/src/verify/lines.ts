import { hex, quoted, sha, sha256 } from "./bytes";
import { parse, type Read, read, type Struct, type Unreadable } from "./json";

/** The kinds of lines of a bundle, in their order. The seal follows them (docs/audit.md). */
export const kinds = ["header", "event", "cost", "total", "checkpoint"] as const;
export const format = "netsim.bundle.v1";

export type Header = {
	format: string;
	account: string;
	platform: string;
	from: string;
	to: string;
	coveredUntil: string;
	cluster: string;
	movedFrom: string[];
	verifier: string;
	successions: string[];
};

export type EventLine = { partition: number; frame: string[]; value: string; valueBase64: string; valueSha256: string; hash: string };

export type CostLine = {
	dailyCostId: bigint;
	billingItemId: bigint;
	itemName: string;
	date: string;
	rateId: bigint;
	rateName: string;
	cost: string;
	currency: string;
	correctionOf: bigint;
	sequence: bigint;
};

export type TotalLine = { rateName: string; currency: string; total: string };
export type Proof = { stream: string; partition: number; sequence: bigint; hash: string; index: bigint; path: string[] };
export type CheckpointLine = { note: string; proofs: Proof[] };
export type SealLine = { seal: string };

export type Body =
	| { kind: "header"; body: Header }
	| { kind: "event"; body: EventLine }
	| { kind: "cost"; body: CostLine }
	| { kind: "total"; body: TotalLine }
	| { kind: "checkpoint"; body: CheckpointLine }
	| { kind: "seal"; body: SealLine };

/** A line as far as it can be read, and what is wrong with it. */
export type Line = { number: bigint; kind: string; body?: Body; error: string };

const proof: Struct = { members: { stream: "text", partition: "int32", sequence: "int", hash: "text", index: "int", path: { list: "text" } } };

const structs: Record<string, Struct> = {
	header: {
		members: {
			format: "text",
			account: "text",
			platform: "text",
			from: "text",
			to: "text",
			coveredUntil: "text",
			cluster: "text",
			movedFrom: { list: "text" },
			verifier: "text",
			successions: { list: "text" },
		},
	},
	event: { members: { partition: "int32", frame: { list: "text" }, value: "text", valueBase64: "text", valueSha256: "text", hash: "text" } },
	cost: {
		members: {
			dailyCostId: "int",
			billingItemId: "int",
			itemName: "text",
			date: "text",
			rateId: "int",
			rateName: "text",
			cost: "text",
			currency: "text",
			correctionOf: "int",
			sequence: "int",
		},
	},
	total: { members: { rateName: "text", currency: "text", total: "text" } },
	checkpoint: { members: { note: "text", proofs: { list: proof } } },
	seal: { members: { seal: "text" } },
};

/** Members that are left out when they are empty or 0. */
const optional = new Set(["movedFrom", "successions", "value", "valueBase64", "valueSha256", "correctionOf"]);

const start: Struct = { members: { line: "int", kind: "text" } };
const notTheirs = "its bytes were changed: its checksum does not match";

/** Reads a line with its line feed. The error is for one that the service would not have written. */
export function readLine(bytes: Uint8Array): Line {
	const { text, damaged } = decoded(bytes);
	let node: ReturnType<typeof parse>;
	try {
		node = parse(text);
	} catch (error) {
		return { number: 0n, kind: "", error: `it is not JSON: ${(error as Unreadable).message}` };
	}
	const first = read<{ line: bigint; kind: string }>(start, node);
	if (first.error) return { number: 0n, kind: "", error: `it is not JSON: ${first.error}` };
	const { kind, line: number } = first.data;
	const struct = Object.hasOwn(structs, kind) ? structs[kind] : undefined;
	if (!struct) return { number, kind, error: `there is no kind ${quoted(kind)}` };
	const { data, error }: Read<Record<string, unknown>> = read(struct, node);
	const line: Line = { number, kind, body: { kind, body: data } as unknown as Body, error: "" };
	if (error) line.error = `it is not a line of kind ${kind}: ${error}`;
	else if (damaged || written(number, kind, struct, data) !== text) line.error = notTheirs;
	return line;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a line. A byte that is not UTF-8 becomes U+FFFD, each by itself. */
function decoded(bytes: Uint8Array): { text: string; damaged: boolean } {
	try {
		return { text: strict.decode(bytes), damaged: false };
	} catch {
		let text = "";
		for (let at = 0; at < bytes.length; ) {
			const size = sizeAt(bytes, at);
			text += size === 0 ? "\ufffd" : strict.decode(bytes.subarray(at, at + size));
			at += Math.max(size, 1);
		}
		return { text, damaged: true };
	}
}

/** The number of bytes of the character at a place, 0 for none. */
function sizeAt(bytes: Uint8Array, at: number): number {
	const first = bytes[at] as number;
	const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	try {
		return at + size <= bytes.length && strict.decode(bytes.subarray(at, at + size)).length > 0 ? size : 0;
	} catch {
		return 0;
	}
}

/** The text of a line as the service writes it, with its checksum. */
function written(number: bigint, kind: string, struct: Struct, data: Record<string, unknown>): string {
	const text = `{"line":${number},"kind":"${kind}",${members(struct, data)}`;
	return `${text},"sum":"${sha(text).slice(0, 16)}"}\n`;
}

function members(struct: Struct, data: Record<string, unknown>): string {
	const all: string[] = [];
	for (const name in struct.members) {
		const value = data[name];
		if (optional.has(name) && (value === "" || value === 0n || (Array.isArray(value) && value.length === 0))) continue;
		all.push(`"${name}":${json(value)}`);
	}
	return all.join(",");
}

function json(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
	if (typeof value === "object") return `{${members(proof, value as Record<string, unknown>)}}`;
	if (typeof value !== "string") return String(value);
	const text = JSON.stringify(value);
	return /[\u2028\u2029]/.test(text) ? text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029") : text;
}

/**
 * What the seal of a bundle signs: the digest of all lines, and that of the lines of each kind
 * without their numbers and checksums, by which the kind that differs is found.
 */
export class Digests {
	private lines = 0;
	private readonly whole = sha256.create();
	private readonly kinds = new Map(kinds.map((kind) => [kind as string, { lines: 0, sum: sha256.create() }]));

	add(kind: string, bytes: Uint8Array): void {
		this.lines++;
		this.whole.update(bytes);
		const of = this.kinds.get(kind);
		if (!of) return;
		const comma = bytes.indexOf(0x2c);
		const members = comma < 0 ? bytes.subarray(bytes.length) : bytes.subarray(comma + 1); // the number is not a part of the content
		of.sum.update(members.subarray(0, Math.max(members.length - ',"sum":"0123456789abcdef"}\n'.length, 0)));
		of.lines++;
	}

	/** The text that a seal here signs, for an account. */
	text(): (account: string) => string {
		const end = [`lines ${this.lines}`, `sha256 ${hex(this.whole.clone().digest())}`];
		for (const [kind, { lines, sum }] of this.kinds) end.push(`${kind} ${lines} ${hex(sum.clone().digest())}`);
		return (account) => `netsim bundle v1\naccount ${account}\n${end.join("\n")}\n`;
	}
}
