import { quoted, sha256, unbase64, utf8 } from "./bytes";

/** Notes are signed texts in the format of golang.org/x/mod/sumdb/note. */

type Key = { name: string; id: number; raw: Uint8Array<ArrayBuffer> };
type Signature = { name: string; id: number; line: string; raw: Uint8Array<ArrayBuffer> };

/** Why a note is not one of a key. Other is set when the note is good, and of other keys only. */
export class NotSigned extends Error {
	constructor(
		message: string,
		readonly other = false,
	) {
		super(message);
	}
}

const id8 = (id: number) => id.toString(16).padStart(8, "0");
const validName = (name: string) => name !== "" && !/[+\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(name);

function keyOf(verifier: string): Key {
	const [name = "", id = "", ...rest] = verifier.split("+");
	const raw = unbase64(rest.join("+"));
	const bad = (what: string) => new NotSigned(`verifier key ${quoted(verifier)}: ${what}`);
	if (!/^[0-9a-fA-F]{8}$/.test(id) || !raw || raw.length === 0 || !validName(name)) throw bad("malformed verifier id");
	const sum = sha256(Uint8Array.from([...utf8(`${name}\n`), ...raw]));
	if (new DataView(sum.buffer, sum.byteOffset).getUint32(0) !== Number.parseInt(id, 16)) throw bad("invalid verifier hash");
	if (raw[0] !== 1) throw bad("unknown verifier algorithm");
	if (raw.length !== 33) throw bad("malformed verifier id");
	return { name, id: Number.parseInt(id, 16), raw: raw.slice(1) };
}

/** The text of a note and its signatures, none of them verified. */
function split(note: string): { text: string; signatures: Signature[] } | undefined {
	for (const character of note) if (character < " " && character !== "\n") return undefined;
	const at = note.lastIndexOf("\n\n");
	const lines = note.slice(at + 2).split("\n");
	if (at < 0 || lines.length < 2 || lines.pop() !== "" || lines.length > 100) return undefined;
	const signatures: Signature[] = [];
	for (const line of lines) {
		if (!line.startsWith("— ")) return undefined;
		const [name = "", ...rest] = line.slice(2).split(" ");
		const raw = unbase64(rest.join(" "));
		if (!raw || raw.length < 5 || !validName(name)) return undefined;
		signatures.push({ name, id: new DataView(raw.buffer).getUint32(0), line, raw: raw.slice(4) });
	}
	return { text: note.slice(0, at + 1), signatures };
}

/** The text of a note that the key has signed. It throws NotSigned, and nothing else. */
export async function open(note: string, verifier: string): Promise<string> {
	const key = keyOf(verifier);
	const parts = split(note);
	const unverified = (why: string) => new NotSigned(`its signature by ${verifier} does not verify: ${why}`);
	if (!parts) throw unverified("malformed note");
	const own = parts.signatures.find(({ name, id }) => name === key.name && id === key.id);
	if (!own) {
		const others = new Map(parts.signatures.map(({ line, name, id }) => [line, `${name}+${id8(id)}`]));
		throw new NotSigned(`it is signed by ${[...others.values()].join(" and ")}, not by ${verifier}`, true);
	}
	if (!(await verifies(key.raw, own.raw, utf8(parts.text) as Uint8Array<ArrayBuffer>))) throw unverified(`invalid signature for key ${key.name}+${id8(key.id)}`);
	return parts.text;
}

async function verifies(key: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>, text: Uint8Array<ArrayBuffer>): Promise<boolean> {
	try {
		const imported = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
		return await crypto.subtle.verify("Ed25519", imported, signature, text);
	} catch {
		return false; // no point of the curve
	}
}

/** Whether this browser verifies signatures: a current one does, on a page of HTTPS or of this machine. */
export async function canVerify(): Promise<boolean> {
	const key = unbase64("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=") as Uint8Array<ArrayBuffer>; // of RFC 8032, 7.1
	try {
		await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
		return true;
	} catch {
		return false;
	}
}
