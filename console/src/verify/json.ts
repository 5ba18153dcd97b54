import { quoted } from "./bytes";

/**
 * JSON as the service reads it, which is Go's encoding/json: names of members match in either
 * case, a member that is there twice counts as the last, null leaves a member as it is, and a
 * value of another type leaves it and is an error, after all others were read.
 */
export type Node = { number: string } | { list: Node[] } | { members: [string, Node][] } | string | boolean | null;

/** The types of members. A struct is a list of members, of which some may be absent. */
export type Type = "text" | "int" | "int32" | "time" | { list: Type } | Struct;
export type Struct = { members: Record<string, Type> };

export class Unreadable extends Error {}

/** Parses a text. Lone surrogates become U+FFFD. It throws Unreadable, and nothing else. */
export function parse(text: string): Node {
	try {
		const reader = new Reader(text);
		const node = reader.value();
		reader.space();
		if (reader.at < text.length) throw reader.unexpected("after top-level value");
		return node;
	} catch (error) {
		if (error instanceof Unreadable) throw error;
		throw new Unreadable("exceeded max depth"); // of the stack
	}
}

class Reader {
	at = 0;
	depth = 0;
	constructor(readonly text: string) {}

	unexpected(where: string): Unreadable {
		if (this.at >= this.text.length) return new Unreadable("unexpected end of JSON input");
		return new Unreadable(`invalid character ${quoted(this.text[this.at] as string)} ${where}`);
	}

	space(): void {
		for (; ; this.at++) {
			const code = this.text.charCodeAt(this.at);
			if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
		}
	}

	value(): Node {
		this.space();
		switch (this.text[this.at]) {
			case '"':
				return this.string();
			case "{":
				return this.object();
			case "[":
				return this.array();
			case "t":
				return this.word("true", true);
			case "f":
				return this.word("false", false);
			case "n":
				return this.word("null", null);
		}
		const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
		number.lastIndex = this.at;
		const match = number.exec(this.text);
		if (!match) throw this.unexpected("looking for beginning of value");
		this.at = number.lastIndex;
		return { number: match[0] };
	}

	word<T>(word: string, value: T): T {
		if (!this.text.startsWith(word, this.at)) throw this.unexpected(`in literal ${word}`);
		this.at += word.length;
		return value;
	}

	string(): string {
		const from = ++this.at;
		for (; ; this.at++) {
			const code = this.text.charCodeAt(this.at);
			if (code === 0x22) return this.text.slice(from, this.at++);
			if (code === 0x5c) break;
			if (!(code >= 0x20)) throw this.unexpected("in string literal");
		}
		let out = this.text.slice(from, this.at);
		for (;;) {
			const code = this.text.charCodeAt(this.at);
			if (!(code >= 0x20)) throw this.unexpected("in string literal");
			this.at++;
			if (code === 0x22) return out.toWellFormed();
			out += code === 0x5c ? this.escape() : String.fromCharCode(code);
		}
	}

	escape(): string {
		const plain: Record<string, string> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
		const letter = this.text[this.at] ?? "";
		const character = plain[letter];
		if (character !== undefined) {
			this.at++;
			return character;
		}
		const code = this.text.slice(this.at + 1, this.at + 5);
		if (letter !== "u" || !/^[0-9a-fA-F]{4}$/.test(code)) throw this.unexpected("in string escape code");
		this.at += 5;
		return String.fromCharCode(Number.parseInt(code, 16));
	}

	array(): Node {
		this.enter();
		const list: Node[] = [];
		if (this.empty("]")) return { list };
		for (;;) {
			list.push(this.value());
			if (this.ends("]", "after array element")) return { list };
		}
	}

	object(): Node {
		this.enter();
		const members: [string, Node][] = [];
		if (this.empty("}")) return { members };
		for (;;) {
			this.space();
			if (this.text[this.at] !== '"') throw this.unexpected("looking for beginning of object key string");
			const name = this.string();
			this.space();
			if (this.text[this.at] !== ":") throw this.unexpected("after object key");
			this.at++;
			members.push([name, this.value()]);
			if (this.ends("}", "after object key:value pair")) return { members };
		}
	}

	enter(): void {
		this.at++;
		if (++this.depth > 10_000) throw new Unreadable("exceeded max depth");
	}

	empty(end: string): boolean {
		this.space();
		if (this.text[this.at] !== end) return false;
		this.at++;
		this.depth--;
		return true;
	}

	ends(end: string, where: string): boolean {
		this.space();
		const next = this.text[this.at];
		if (next !== end && next !== ",") throw this.unexpected(where);
		this.at++;
		if (next === end) this.depth--;
		return next === end;
	}
}

/** What a member is when it is absent. */
function zero(type: Type): unknown {
	if (type === "text") return "";
	if (type === "int") return 0n;
	if (type === "int32") return 0;
	if (type === "time") return timeZero;
	return "list" in type ? [] : Object.fromEntries(Object.entries(type.members).map(([name, member]) => [name, zero(member)]));
}

/** The instant of a time without a value: 1 January of the year 1, in nanoseconds since 1970. */
export const timeZero = -62_135_596_800_000_000_000n;

const zeros = new WeakMap<Struct, Record<string, unknown>>();
const names = new WeakMap<Struct, Map<string, string>>();

/** The member that a name means, in whatever case. */
function ownName(struct: Struct, name: string): string | undefined {
	if (Object.hasOwn(struct.members, name)) return name;
	let known = names.get(struct);
	if (!known) {
		known = new Map(Object.keys(struct.members).map((one) => [folded(one), one]));
		names.set(struct, known);
	}
	return known.get(folded(name));
}

const folded = (name: string) => name.toLowerCase().replaceAll("\u017f", "s");

export type Read<T> = { data: T; error: string };

/** Reads a struct. The error is that of the first member of another type, "" for none. */
export function read<T>(struct: Struct, node: Node): Read<T> {
	const known = zeros.get(struct) ?? (zero(struct) as Record<string, unknown>);
	zeros.set(struct, known);
	const data: Record<string, unknown> = { ...known };
	let error = "";
	const wrong = (what: string) => {
		error ||= what;
	};
	fill(struct, node, data, wrong);
	return { data: data as T, error };
}

function fill(struct: Struct, node: Node, data: Record<string, unknown>, wrong: (what: string) => void): void {
	if (node === null) return;
	if (typeof node !== "object" || !("members" in node)) {
		wrong(`cannot unmarshal ${kind(node)} into an object`);
		return;
	}
	for (const [name, value] of node.members) {
		const own = ownName(struct, name);
		if (own !== undefined) data[own] = member(struct.members[own] as Type, value, data[own], (what) => wrong(`${what} of ${own}`));
	}
}

function member(type: Type, node: Node, before: unknown, wrong: (what: string) => void): unknown {
	if (node === null) return before;
	if (type === "text") {
		if (typeof node === "string") return node;
	} else if (type === "int" || type === "int32") {
		const bits = type === "int" ? 64 : 32;
		if (typeof node === "object" && "number" in node && /^-?\d+$/.test(node.number)) {
			const value = BigInt(node.number);
			if (BigInt.asIntN(bits, value) === value) return bits === 32 ? Number(value) : value;
		}
	} else if (type === "time") {
		const at = typeof node === "string" ? instant(node) : undefined;
		if (at !== undefined) return at;
	} else if ("list" in type) {
		if (typeof node === "object" && "list" in node) return node.list.map((one) => member(type.list, one, zero(type.list), wrong));
	} else {
		const data = { ...(before as Record<string, unknown>) };
		fill(type, node, data, wrong);
		return data;
	}
	wrong(`cannot unmarshal ${kind(node)} into a value`);
	return before;
}

function kind(node: Node): string {
	if (node === null) return "null";
	if (typeof node === "object") return "number" in node ? `number ${node.number}` : "list" in node ? "array" : "object";
	return typeof node === "boolean" ? "bool" : "string";
}

const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether a year has a day. */
export function exists(year: number, month: number, day: number): boolean {
	const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
	return month >= 1 && month <= 12 && day >= 1 && day <= (days[month - 1] as number) + (leap && month === 2 ? 1 : 0);
}

/** Milliseconds since 1970 of a date, for any year from 0 on. */
export function millis(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
	const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second));
	return date.setUTCFullYear(year, month - 1, day);
}

/** Reads a time of RFC 3339, to the nanosecond. */
function instant(text: string): bigint | undefined {
	const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/.exec(text);
	if (!match) return undefined;
	const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
	const [east = 0, west = 0] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
	if (!exists(year, month, day) || hour > 23 || minute > 59 || second > 59 || east > 23 || west > 59) return undefined;
	const offset = BigInt((match[8] === "-" ? -1 : 1) * (east * 60 + west)) * 60_000_000_000n;
	return BigInt(millis(year, month, day, hour, minute, second)) * 1_000_000n + BigInt((match[7] ?? "").slice(0, 9).padEnd(9, "0")) - offset;
}
