import { type Bundle, type Chain, chainId, type Report, type Wanted } from "./bundle";
import { type Checkpoint, nameOf, Ring, wrongProof } from "./checkpoint";
import { dateOf, dayOf, parseDate } from "./days";
import { exists, millis } from "./json";
import { type CostLine, kinds, type TotalLine } from "./lines";
import { type NotSigned, open } from "./note";
import { type Rerated, rerate } from "./rerate";

const hour = 3_600_000_000_000n;

/** Why no bundle can meet expectations, "" if one can. */
export function wrongWanted({ account, from, to }: Wanted): string {
	if (account !== "" && !/^acct_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(account)) return `account "${account}" is not an account id`;
	for (const day of [from, to]) {
		if (day !== "" && parseDate(day) === undefined) return `"${day}" is not a date such as 2026-11-20`;
	}
	return from !== "" && to !== "" && to < from ? `to ${to} is before from ${from}` : "";
}

/** Verifies what the lines of a bundle say together, after the last line. The callback is told how much is done. */
export async function finish(bundle: Bundle, wanted: Wanted, progress: (done: number) => void = () => {}): Promise<Report> {
	if (bundle.seals.length === 0) bundle.problem(bundle.lines + 1, "the seal is missing: the end was cut off");
	period(bundle, wanted);
	await follow(bundle, wanted);
	const { opened, losses } = await checkpoints(bundle, wanted);
	await sealer(bundle, wanted);
	await held(bundle, wanted);
	const totals = compareCosts(bundle);
	return bundle.report(rateAgain(bundle, progress), opened, losses, totals);
}

/** Compares the bundle's account and days with the wanted ones. */
function period(bundle: Bundle, wanted: Wanted): void {
	const { account, from, to, coveredUntil } = bundle.header;
	if (wanted.account !== "" && account !== wanted.account) bundle.problem(1, `the bundle is of account ${account}, not of ${wanted.account}`);
	const [first, last, covered] = [parseDate(from), parseDate(to), coveredTime(coveredUntil)];
	if (first === undefined || last === undefined || covered === undefined || last < first) {
		bundle.problem(1, `from ${JSON.stringify(from)} to ${JSON.stringify(to)}, coveredUntil ${JSON.stringify(coveredUntil)}: that is not a period`);
		return;
	}
	if ((wanted.from !== "" && wanted.from < from) || (wanted.to !== "" && wanted.to > to)) {
		bundle.problem(1, `the bundle is of the days from ${from} to ${to}, not from ${wanted.from || from} to ${wanted.to || to}`);
	}
	if (dayOf(covered) <= last && !wanted.preliminary) {
		bundle.problem(1, `the period ends at ${dateOf(last + 1)}T00:00:00.000Z and is covered until ${coveredUntil} only: it had not ended`);
	}
}

/** Reads the time of the header as Go's time package does, which takes a comma and an hour of one digit. */
function coveredTime(text: string): bigint | undefined {
	const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)[.,](\d{3})Z$/.exec(text);
	const [year = 0, month = 0, day = 0, hours = 0, minute = 0, second = 0, milli = 0] = (match ?? []).slice(1).map(Number);
	if (!match || !exists(year, month, day) || hours > 23 || minute > 59 || second > 59) return undefined;
	return BigInt(millis(year, month, day, hours, minute, second) + milli) * 1_000_000n;
}

/** Sets the keys of the log up to the one that signs the bundle's first checkpoint. */
async function follow(bundle: Bundle, wanted: Wanted): Promise<void> {
	const { header } = bundle;
	const notes = [...header.successions, ...bundle.notes.map(({ body }) => body.note)];
	bundle.keys = await Ring.before(notes, [...header.movedFrom, header.cluster], wanted.key || header.verifier);
	for (const note of header.successions) {
		await bundle.keys.open(note).catch((error: NotSigned) => bundle.problem(1, `a succession of the log's keys: ${error.message}`));
	}
}

/** Verifies the checkpoints, the proofs that the chains are in them, and that the last one covers every event. */
async function checkpoints(bundle: Bundle, wanted: Wanted): Promise<{ opened: number; losses: number }> {
	let [previous, opened, losses] = ["", 0, 0];
	let proven = new Map<string, number>();
	for (const [at, { line, body }] of bundle.notes.entries()) {
		const checkpoint = await bundle.keys.open(body.note).catch((error: NotSigned) => bundle.problem(line, `the checkpoint: ${error.message}`));
		if (!checkpoint) continue;
		opened++;
		const { name } = checkpoint;
		if (wanted.strict && checkpoint.losses > losses) bundle.problem(line, `checkpoint ${name} names ${checkpoint.losses} losses of the log that operators accepted`);
		losses = Math.max(losses, checkpoint.losses);
		if (at > 0 && checkpoint.previous !== nameOf(previous)) bundle.problem(line, `checkpoint ${name} does not follow the one before it: one was removed or changed`);
		previous = body.note;
		const before = proven;
		proven = proofs(bundle, line, checkpoint, body.proofs);
		for (const [id, chain] of bundle.chains) {
			const [now, then] = [proven.get(id) ?? 0, before.get(id) ?? 0];
			if (now < then) bundle.problem(line, `checkpoint ${name} proves event ${now} of ${chain.stream}, the one before it event ${then}`);
			else if (now === 0 && checkpoint.time - chain.began > hour) bundle.problem(line, `the proof of ${chain.stream} at checkpoint ${name} is missing`);
		}
		if (at === bundle.notes.length - 1 && bundle.header.coveredUntil !== checkpoint.at) {
			bundle.problem(line, `the last checkpoint was made at ${checkpoint.at}, the header says ${bundle.header.coveredUntil}`);
		}
	}
	for (const [id, { stream, hashes, lines }] of bundle.chains) {
		const end = proven.get(id) ?? 0;
		if (hashes.length > end) bundle.problem(lines[end] as number, `event ${end + 1} of ${stream} is after what the last checkpoint has seen`);
	}
	if (bundle.notes.length === 0) bundle.problem(bundle.lines, "there is no checkpoint: nothing says that the events are those of the log");
	return { opened, losses };
}

/** Checks the proofs of a checkpoint, and returns how many events of each chain they prove. */
function proofs(bundle: Bundle, line: number, { name, chains, root }: Checkpoint, list: Parameters<typeof wrongProof>[0][]): Map<string, number> {
	const proven = new Map<string, number>();
	for (const proof of list) {
		const wrong = wrongProof(proof, chains, root);
		if (wrong) {
			bundle.problem(line, `checkpoint ${name}: ${wrong}`);
			continue;
		}
		const id = chainId(proof.stream, proof.partition);
		const sequence = Number(proof.sequence);
		proven.set(id, Math.max(sequence, 0));
		const chain = bundle.chains.get(id);
		const hash = chain?.hashes[sequence - 1];
		if (!chain || hash === undefined) bundle.problem(endOf(chain, line), `after this line event ${proof.sequence} of ${proof.stream} is missing, which checkpoint ${name} has seen`);
		else if (hash !== proof.hash) bundle.problem(chain.lines[sequence - 1] as number, `event ${proof.sequence} of ${proof.stream} is not the one that checkpoint ${name} has seen`);
	}
	return proven;
}

const endOf = (chain: Chain | undefined, otherwise: number) => chain?.lines.at(-1) ?? otherwise;

/** Verifies that the bundle is sealed by the log's key as of the last checkpoint. */
async function sealer(bundle: Bundle, wanted: Wanted): Promise<void> {
	const { header, keys } = bundle;
	const known = wanted.key || header.verifier;
	if (header.verifier !== keys.current || !keys.keys.includes(known)) {
		bundle.problem(1, `the bundle was sealed with the key ${header.verifier}, which is not the one given, ${known}, nor the last of its signed successors`);
	}
	for (const { line, seal, signs } of bundle.seals) {
		try {
			const text = await open(seal, keys.current);
			if (text.startsWith("netsim bundle v1\n")) compareSeal(bundle, line, text, signs(header.account));
			else bundle.problem(line, "the seal is not that of a bundle");
		} catch (error) {
			bundle.problem(line, `the seal: ${(error as NotSigned).message}`);
		}
	}
}

function compareSeal(bundle: Bundle, line: number, text: string, here: string): void {
	if (text === here) return;
	bundle.problem(line, "the seal is over other lines than these");
	const found = here.split("\n");
	for (const sealed of text.split("\n")) {
		const [kind = "", count = ""] = sealed.split(" ");
		if (!kinds.some((one) => one === kind) || found.includes(sealed)) continue;
		bundle.problem(bundle.firstOf.get(kind) ?? line, `the lines of kind ${kind}, from here on, are not the ${count} that were sealed`);
	}
}

/** Reports the reader's checkpoints that are not in the bundle. */
async function held(bundle: Bundle, wanted: Wanted): Promise<void> {
	for (const [at, note] of wanted.notes.entries()) {
		try {
			const { name, at: time } = await bundle.keys.openAny(note);
			if (bundle.notes.some(({ body }) => body.note === note)) continue;
			bundle.problem(bundle.lines, `the bundle has no checkpoint ${name} of ${time}, which you hold: it was made from another log or one whose end was cut off, or its period begins later`);
		} catch (error) {
			bundle.problem(bundle.lines, `note ${at + 1} that you hold: ${(error as NotSigned).message}`);
		}
	}
}

const same = <T extends object>(a: T | undefined, b: T | undefined): boolean => a !== undefined && b !== undefined && Object.keys(a).every((name) => a[name as keyof T] === b[name as keyof T]);

/** Compares the costs and totals with those that follow from the events, and returns these totals. */
function compareCosts(bundle: Bundle): string[] {
	const { account, from, to } = bundle.header;
	const { costs, totals } = bundle.books.costsOf(account, from, to);
	let at = bundle.lines;
	for (let n = 0; n < Math.max(costs.length, bundle.costs.length); n++) {
		const got = bundle.costs[n];
		at = got?.line ?? at;
		if (same(costs[n], got?.body)) continue;
		bundle.problem(at, costDifference(costs[n], got?.body));
		if (costs.length !== bundle.costs.length) break; // the others are shifted by one
	}
	for (let n = 0; n < Math.max(totals.length, bundle.totals.length); n++) {
		const [want, got] = [totals[n], bundle.totals[n]];
		if (!got) bundle.problem(at, `the total of ${want?.rateName} is missing: ${want?.total} ${want?.currency}`);
		else if (!same(want, got.body)) bundle.problem(got.line, `the total of ${totalText(got.body, ",")}, is not what its costs add up to`);
	}
	return totals.map((total) => totalText(total));
}

const totalText = ({ rateName, total, currency }: TotalLine, comma = "") => `${rateName}${comma} ${total} ${currency}`;

function costDifference(want: CostLine | undefined, got: CostLine | undefined): string {
	if (!got) return `daily cost ${want?.dailyCostId}, of event ${want?.sequence}, is missing`;
	if (!want) return `daily cost ${got.dailyCostId} has no event here in the period`;
	return `daily cost ${got.dailyCostId} is not as its event says: ${members(got)}, event ${want.sequence} says ${members(want)}`;
}

const names: [keyof CostLine, string][] = [
	["dailyCostId", "DailyCostID"],
	["billingItemId", "BillingItemID"],
	["itemName", "ItemName"],
	["date", "Date"],
	["rateId", "RateID"],
	["rateName", "RateName"],
	["cost", "Cost"],
	["currency", "Currency"],
	["correctionOf", "CorrectionOf"],
	["sequence", "Sequence"],
];
const members = (cost: CostLine) => `{${names.map(([name, shown]) => `${shown}:${cost[name]}`).join(" ")}}`;

function rateAgain(bundle: Bundle, progress: (done: number) => void): Rerated {
	const until = coveredTime(bundle.header.coveredUntil);
	if (until === undefined) return { days: 0, pending: 0, unrated: 0, first: "" }; // period has reported it
	const rated = rerate(bundle.books, until, dayOf(until - hour), progress);
	for (const { line, what } of bundle.books.found) bundle.problem(Math.max(line, 1), what);
	return rated;
}
