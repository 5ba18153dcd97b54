import type { Cost } from "./books";
import { type Bundle, type Chain, chainId } from "./bundle";
import { parseCheckpoint } from "./checkpoint";
import type { CostLine } from "./lines";

/** An event of the log, and its line in the bundle. */
export type Ref = { line: number; sequence: number; stream: string; hash: string };

/** A cost line, for a list. All digits stay: identifiers and amounts are texts. */
export type Row = { line: number; date: string; item: string; itemId: string; rate: string; cost: string; currency: string; correction: boolean };

/** From what a cost follows, down to the log and up to the checkpoint that covers it. */
export type Explained = {
	row: Row;
	booked?: Ref; // the event that booked it
	rate?: Ref;
	price: string; // such as 10.00 CREDIT an hour
	dayPrice: string;
	unitDays: string;
	rule: string;
	segments: { from: string; to: string; units: string; fraction: string; count: string }[];
	usage: (Ref & { at: string; action: string; units: string })[];
	checkpoint?: { line: number; name: string; at: string; sequence: string; index: string; chains: string; root: string };
};

export function rows(bundle: Bundle): Row[] {
	return bundle.costs.map(({ line, body }) => rowOf(line, body));
}

const rowOf = (line: number, { date, itemName, billingItemId, rateName, cost, currency, correctionOf }: CostLine): Row => ({
	line,
	date,
	item: itemName,
	itemId: String(billingItemId),
	rate: rateName,
	cost,
	currency,
	correction: correctionOf !== 0n,
});

const time = (at: bigint) => new Date(Number(at / 1_000_000n)).toISOString();

/** Explains the cost of a line, if it is one. */
export function explain(bundle: Bundle, line: number): Explained | undefined {
	const found = bundle.costs.find((cost) => cost.line === line);
	if (!found) return undefined;
	const { body } = found;
	const chain = [...bundle.chains.values()].find(({ stream }) => stream === bundle.header.account);
	const sequence = Number(body.sequence);
	const cost = bookedCost(bundle, body);
	const item = bundle.books.accounts.get(bundle.header.account)?.items.get(body.billingItemId);
	// The events that determine the day, which the cost names.
	const used = (item?.used ?? []).filter(({ usage }) => cost && usage.billingEventId >= cost.firstEventId && usage.billingEventId <= cost.lastEventId);
	const rateLine = bundle.books.rateLines.get(body.rateId);
	const booked = chain && refOf(chain, sequence);
	const rate = rateLine === undefined ? undefined : refAt(bundle, rateLine);
	const checkpoint = chain && covering(bundle, chain, sequence);
	return {
		row: rowOf(line, body),
		...(booked && { booked }),
		...(rate && { rate }),
		price: cost ? `${cost.rateAmount} ${body.currency} ${cost.period === "hour" ? "an" : "a"} ${cost.period}` : "",
		dayPrice: cost?.dayPrice ?? "",
		unitDays: cost?.unitDays ?? "",
		rule: cost?.engineVersion ?? "",
		segments: (cost?.segments ?? []).map(({ from, to, units, fraction, count }) => ({ from: time(from), to: time(to), units: String(units), fraction, count: String(count) })),
		usage: used.flatMap(({ usage, sequence: at }) => {
			const ref = chain && refOf(chain, at);
			return ref ? [{ ...ref, at: time(usage.occurredAt), action: usage.eventAction, units: String(usage.currentCount) }] : [];
		}),
		...(checkpoint && { checkpoint }),
	};
}

function bookedCost(bundle: Bundle, body: CostLine): Cost | undefined {
	const account = bundle.books.accounts.get(bundle.header.account);
	const costs = [...(account?.fixes ?? []), ...(account?.items.get(body.billingItemId)?.costs ?? [])];
	return costs.find((cost) => cost.at === Number(body.sequence));
}

function refOf({ stream, hashes, lines }: Chain, sequence: number): Ref | undefined {
	const [hash, line] = [hashes[sequence - 1], lines[sequence - 1]];
	return hash !== undefined && line !== undefined ? { line, sequence, stream, hash } : undefined;
}

function refAt(bundle: Bundle, line: number): Ref | undefined {
	for (const chain of bundle.chains.values()) {
		const at = chain.lines.indexOf(line);
		if (at >= 0) return refOf(chain, at + 1);
	}
	return undefined;
}

/** The first checkpoint with a proof of an event of a chain. */
function covering(bundle: Bundle, chain: Chain, sequence: number): Explained["checkpoint"] {
	for (const { line, body } of bundle.notes) {
		const proof = body.proofs.find((one) => chainId(one.stream, one.partition) === chainId(chain.stream, chain.partition) && Number(one.sequence) >= sequence);
		if (!proof) continue;
		try {
			const { name, at, chains, root } = parseCheckpoint(body.note.slice(0, body.note.lastIndexOf("\n\n") + 1));
			return { line, name, at, sequence: String(proof.sequence), index: String(proof.index), chains: String(chains), root };
		} catch {
			return undefined; // the verification has reported it
		}
	}
	return undefined;
}
