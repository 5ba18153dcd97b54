import { Books } from "./books";
import { order, quoted } from "./bytes";
import type { Ring } from "./checkpoint";
import { type Fact, factOf } from "./frame";
import { type CheckpointLine, type CostLine, Digests, type EventLine, format, type Header, kinds, type Line, readLine, type TotalLine } from "./lines";
import type { Rerated } from "./rerate";

/** What the reader of a bundle expects, as the options of netsim audit verify. */
export type Wanted = {
	key: string; // a public key of the log; "" trusts the bundle's own
	account: string; // "" is any
	from: string; // days that the period must include; "" is any
	to: string;
	notes: string[]; // signed checkpoints that the reader holds
	preliminary: boolean; // accept a period that had not ended
	strict: boolean; // no loss of records may have been accepted
};

export type Problem = { line: number; what: string };

/** A stream in one partition, up to its last event here. */
export type Chain = { stream: string; partition: number; hashes: string[]; lines: number[]; began: bigint };

/** What the verification of a bundle found. */
export type Report = {
	account: string;
	from: string;
	to: string;
	covered: string;
	verifier: string;
	lines: number;
	events: number;
	costs: number;
	checkpoints: number;
	chains: { stream: string; partition: number; events: number }[];
	losses: number;
	totals: string[];
	rated: Rerated;
	problems: Problem[];
};

const ordered: string[] = [...kinds, "seal"];

/** A bundle under verification: the state after the lines so far. It keeps no text of an event. */
export class Bundle {
	header: Header = { format: "", account: "", platform: "", from: "", to: "", coveredUntil: "", cluster: "", movedFrom: [], verifier: "", successions: [] };
	readonly books = new Books();
	readonly chains = new Map<string, Chain>();
	readonly costs: { line: number; body: CostLine }[] = [];
	readonly totals: { line: number; body: TotalLine }[] = [];
	readonly notes: { line: number; body: CheckpointLine }[] = [];
	readonly seals: { line: number; seal: string; signs: (account: string) => string }[] = [];
	readonly problems: Problem[] = [];
	/** The first line of each kind. */
	readonly firstOf = new Map<string, number>();
	lines = 0;
	events = 0;
	keys!: Ring;
	private readonly digests = new Digests();
	private next = 1n;
	private kindAt = 0;

	problem(line: number, what: string): void {
		this.problems.push({ line, what });
	}

	/** Verifies one line, with its line feed. */
	line(bytes: Uint8Array): void {
		this.take(readLine(bytes), bytes);
	}

	/** Counts a line that is too long to be one. */
	tooLong(limit: number): void {
		this.take({ number: 0n, kind: "", error: `it is longer than ${limit} bytes` }, new Uint8Array());
	}

	private take(line: Line, bytes: Uint8Array): void {
		const at = ++this.lines;
		const { number, kind, body, error } = line;
		if (number > this.next) this.problem(at, `it is numbered ${number}: lines ${this.next} to ${number - 1n} are missing before it, or it was moved`);
		else if (number < this.next && kind !== "") this.problem(at, `it is numbered ${number}, after ${this.next - 1n}: it is there twice, or was moved`);
		if (number >= this.next) this.next = number;
		if (error) this.problem(at, error + nameOf(line));
		const rank = ordered.indexOf(kind);
		if (rank >= 0) {
			if (rank < this.kindAt || (rank === 0) !== (at === 1) || this.seals.length > 0) this.problem(at, `a line of kind ${kind} is in the wrong position`);
			this.kindAt = Math.max(this.kindAt, rank);
		}
		switch (body?.kind) {
			case "header":
				this.header = body.body;
				if (body.body.format !== format) this.problem(at, `format ${quoted(body.body.format)} is not ${format}`);
				break;
			case "event":
				this.event(at, body.body);
				break;
			case "cost":
				this.costs.push({ line: at, body: body.body });
				break;
			case "total":
				this.totals.push({ line: at, body: body.body });
				break;
			case "checkpoint":
				this.notes.push({ line: at, body: body.body });
				break;
			case "seal":
				this.seals.push({ line: at, seal: body.body.seal, signs: this.digests.text() });
		}
		if (!this.firstOf.has(kind)) this.firstOf.set(kind, at);
		this.digests.add(kind, bytes);
		this.next++;
	}

	/** Appends an event to its chain and folds it. */
	private event(at: number, line: EventLine): void {
		const fact = factOf(line);
		if (typeof fact === "string") {
			this.problem(at, `the event cannot be read: ${fact}${frameName(line)}`);
			return;
		}
		const name = `event ${fact.sequence} of ${fact.stream}`;
		if (fact.hash !== line.hash) this.problem(at, `${name} was changed: its hash is ${fact.hash}, not ${line.hash}`);
		if (fact.stream !== this.header.account && fact.stream !== this.header.platform) this.problem(at, `${name} belongs to neither chain`);
		if (!this.append(at, name, line.partition, fact)) return;
		this.events++;
		if (fact.value) this.books.fold(fact, at);
	}

	private append(at: number, name: string, partition: number, { stream, sequence, previousHash, hash, time }: Fact): boolean {
		const id = chainId(stream, partition);
		let chain = this.chains.get(id);
		if (!chain) {
			chain = { stream, partition, hashes: [], lines: [], began: time };
			this.chains.set(id, chain);
		}
		const head = chain.hashes.length;
		if (sequence > head + 1) {
			this.problem(at, `${name} does not follow event ${head}: what was between them is missing`);
			return false;
		}
		if (sequence <= head) {
			this.problem(at, `${name} comes after event ${head}: it is there twice, or was moved`);
			return false;
		}
		if (previousHash !== (chain.hashes.at(-1) ?? "")) this.problem(at, `${name} does not follow the event ${head} that stands before it: one of them was changed`);
		chain.hashes.push(hash);
		chain.lines.push(at);
		return true;
	}

	report(rated: Rerated, checkpoints: number, losses: number, totals: string[]): Report {
		const { account, from, to, coveredUntil } = this.header;
		const chains = [...this.chains.values()].filter(({ hashes }) => hashes.length > 0).sort((a, b) => order(a.stream, b.stream) || a.partition - b.partition);
		return {
			account,
			from,
			to,
			covered: coveredUntil,
			verifier: this.keys.current,
			lines: this.lines,
			events: this.events,
			costs: this.costs.length,
			checkpoints,
			chains: chains.map(({ stream, partition, hashes }) => ({ stream, partition, events: hashes.length })),
			losses,
			totals,
			rated,
			problems: this.problems.sort((a, b) => a.line - b.line),
		};
	}
}

export const chainId = (stream: string, partition: number): string => `${partition} ${stream}`;

/** The event of a line, as far as it can be read, for a message. */
function nameOf({ body }: Line): string {
	if (body?.kind === "event") return frameName(body.body);
	return body?.kind === "cost" ? ` (daily cost ${body.body.dailyCostId}, event ${body.body.sequence})` : "";
}

const frameName = ({ frame }: EventLine): string => (frame.length > 5 ? ` (event ${frame[5]} of ${frame[3]})` : "");
