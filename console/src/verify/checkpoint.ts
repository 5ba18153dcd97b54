import { hashOf, hex, sha, sha256, unhex, utf8 } from "./bytes";
import { timeOf } from "./frame";
import type { Proof } from "./lines";
import { NotSigned, open } from "./note";

/** What a signed checkpoint says, as far as a bundle needs it (docs/audit.md, "A checkpoint"). */
export type Checkpoint = {
	name: string;
	time: bigint; // nanoseconds since 1970
	at: string; // the same as text
	cluster: string;
	previous: string; // "" for the first
	chains: bigint;
	root: string;
	losses: number;
	succession?: { from: string; to: string };
};

const integer = (text: string, bits = 64) => /^(?:0|-?[1-9]\d*)$/.test(text) && BigInt.asIntN(bits, BigInt(text)) === BigInt(text);
const digest = (text: string) => /^[0-9a-f]{64}$/.test(text);
const form = "it is not in the form of a checkpoint";

/** Reads the text of a checkpoint, only in the canonical form. It throws NotSigned, and nothing else. */
export function parseCheckpoint(text: string): Checkpoint {
	const bad = (why = form) => new NotSigned(why);
	const lines = text.split("\n");
	if (lines.pop() !== "" || lines.shift() !== "netsim checkpoint v1") throw bad();
	const words = (name: string, count: number): string[] | undefined => {
		const line = lines[0]?.split(" ");
		if (line?.[0] !== name || line.length !== count + 1) return undefined;
		lines.shift();
		return line.slice(1);
	};
	const name = words("name", 1);
	const time = words("time", 1);
	const cluster = words("cluster", 1);
	const previous = words("previous", 1);
	const chains = words("chains", 2);
	const at = timeOf(time?.[0] ?? "");
	if (!name || at === undefined || !cluster || !previous?.[0] || !chains || !integer(chains[0] as string) || !digest(chains[1] as string)) throw bad();
	const heads = words("heads", 1);
	if (heads && (!digest(heads[0] as string) || /^0+$/.test(heads[0] as string))) throw bad();
	const key = words("key", 2);
	if (key && key[0] === "" && key[1] === "") throw bad();
	let losses = 0;
	for (let loss = words("loss", 2); loss; loss = words("loss", 2)) {
		if (!integer(loss[0] as string)) throw bad();
		losses++;
	}
	for (let part = words("partition", 7); part; part = words("partition", 7)) {
		if (!integer(part[2] as string, 32) || !part.slice(3, 6).every((number) => integer(number)) || !digest(part[6] as string)) throw bad();
	}
	if (lines.length > 0) throw bad();
	return {
		name: name[0] as string,
		time: at,
		at: time?.[0] as string,
		cluster: cluster[0] as string,
		previous: previous[0] === "none" ? "" : previous[0],
		chains: BigInt(chains[0] as string),
		root: chains[1] as string,
		losses,
		...(key && { succession: { from: key[0] as string, to: key[1] as string } }),
	};
}

/** Reads a checkpoint that the key has signed. One that names a successor needs the signatures of both keys. */
export async function openCheckpoint(note: string, verifier: string): Promise<Checkpoint> {
	const checkpoint = parseCheckpoint(await open(note, verifier));
	const both = checkpoint.succession;
	if (!both) return checkpoint;
	if (verifier !== both.from && verifier !== both.to) throw new NotSigned(`it is a succession from ${both.from} to ${both.to}, and neither is ${verifier}`);
	for (const key of [both.from, both.to]) {
		await open(note, key).catch((error: NotSigned) => {
			throw new NotSigned(`the succession from ${both.from} to ${both.to} is not signed by both: ${error.message}`, error.other);
		});
	}
	return checkpoint;
}

/** The SHA-256 by which the next checkpoint names a note; "" for none. */
export const nameOf = (note: string): string => (note === "" ? "" : sha(note));

/** The keys of a log in the order in which they signed it. One is known; successions prove the others. */
export class Ring {
	private constructor(
		private readonly clusters: string[],
		readonly keys: string[],
	) {}

	/** The ring before the first of a log's notes: the earliest key from which successions lead to the known one. */
	static async before(notes: string[], clusters: string[], known: string): Promise<Ring> {
		let first = known;
		for (const note of notes.toReversed()) {
			const opened = await openCheckpoint(note, first).catch(() => undefined);
			if (opened?.succession?.to === first && clusters.includes(opened.cluster)) first = opened.succession.from;
		}
		return new Ring(clusters, [first]);
	}

	get current(): string {
		return this.keys.at(-1) as string;
	}

	/** Reads the next note of the log. After a succession the current key is the successor. */
	async open(note: string): Promise<Checkpoint> {
		const opened = await openCheckpoint(note, this.current).catch((error: NotSigned) => {
			throw error.other ? new NotSigned(`${error.message}, and no succession leads from that key to another`) : error;
		});
		if (!this.clusters.includes(opened.cluster)) throw new NotSigned(`it is of cluster ${opened.cluster}, this is ${this.clusters.at(-1)}`);
		if (opened.succession) this.keys.push(opened.succession.to);
		return opened;
	}

	/** Reads a note that any key of the ring has signed. */
	async openAny(note: string): Promise<Checkpoint> {
		let last: unknown;
		for (const key of this.keys.toReversed()) {
			try {
				return await openCheckpoint(note, key);
			} catch (error) {
				last = error;
			}
		}
		throw last;
	}
}

/** Why a proof does not lead to the root of a tree of a size (RFC 6962), "" if it does. */
export function wrongProof(proof: Proof, size: bigint, root: string): string {
	const head = hashOf(proof.hash);
	if ("error" in head) return head.error;
	const path: Uint8Array[] = [];
	for (const text of proof.path) {
		const sibling = hashOf(text);
		if ("error" in sibling) return sibling.error;
		path.push(unhex(text) as Uint8Array);
	}
	const zero = /^0+$/.test(head.hash) ? "" : head.hash;
	const leaf = sha256.create().update(Uint8Array.of(0));
	leaf.update(utf8(`${proof.stream} ${proof.partition} ${proof.sequence} ${zero}`));
	const top = proof.index >= 0n && proof.index < size ? follow(path, size, proof.index, leaf.digest()) : undefined;
	return top && hex(top) === root ? "" : `the proof of ${proof.stream} at sequence ${proof.sequence} does not lead to the checkpoint's root`;
}

function follow(path: Uint8Array[], size: bigint, index: bigint, leaf: Uint8Array): Uint8Array | undefined {
	// From the root down: at each level whether the leaf is to the right.
	const right: boolean[] = [];
	for (let [low, high] = [0n, size]; high - low > 1n; ) {
		const half = 1n << BigInt((high - low - 1n).toString(2).length - 1);
		right.push(index >= low + half);
		if (index < low + half) high = low + half;
		else low += half;
	}
	if (path.length !== right.length) return undefined;
	let node = leaf;
	for (const sibling of path) {
		const sum = sha256.create().update(Uint8Array.of(1));
		node = (right.pop() ? sum.update(sibling).update(node) : sum.update(node).update(sibling)).digest();
	}
	return node;
}
