import type { Fabric } from "./fabricData";
import type { View } from "./view";

/** A part of a fabric that only its highest tier joins to the others: below two tiers of switches a pod, below one a rack. */
export type Pod = { name: string; from: number; to: number; nodes: number[] };

/**
 * Where nodes are across the picture, from 0 to 1. What is below a node is below it in the picture, too: each
 * rack switch has an equal part of the width, in which its hosts are, and a pod has that of its racks. Other
 * nodes share the width of their pod, and those of the highest tier all of it.
 */
export type Layout = {
	/** The pods from left to right, with how many nodes of each tier they have. */
	pods: Pod[];
	/** The tier of a node, and its pod, which is -1 in the highest tier. */
	tier: Uint8Array;
	pod: Int32Array;
	/** The width in which a node is, and its place in it, from 0 to 1, if so many share it. */
	from: Float64Array;
	to: Float64Array;
	place: Float64Array;
	sharing: Uint32Array;
	/** Links by their lower node: those of node n are links[first[n]] up to links[first[n + 1]]. */
	first: Uint32Array;
	links: Uint32Array;
};

/** In how much detail a fabric is drawn: whole tiers, the tiers of each pod, or each host with its links. */
export type Rung = "tier" | "pod" | "host";

const hostPixels = 1;
const podPixels = 120; // what its figures need

/** The rung that the width of a picture has room for. */
export function rungOf(fabric: Fabric, { pods }: Layout, view: View, width: number): Rung {
	const tiers = fabric.tierNames.length;
	const hosts = (fabric.first[tiers] as number) - (fabric.first[tiers - 1] as number);
	const whole = view.scale * width;
	if (tiers < 3 || whole >= hosts * hostPixels) return "host";
	return whole >= pods.length * podPixels ? "pod" : "tier";
}

export function layOut(fabric: Fabric): Layout {
	const nodes = fabric.names.length;
	const tiers = fabric.tierNames.length;
	const tier = new Uint8Array(nodes);
	for (let t = 0; t < tiers; t++) tier.fill(t, fabric.first[t], fabric.first[t + 1]);
	const { first, links } = byLower(fabric);
	const { pod, count } = podsOf(fabric, tier);

	// The columns of the picture: rack switches, and hosts that are below none.
	const rack = Math.max(tiers - 2, 0);
	const above = (node: number) => (first[node] === first[node + 1] ? -1 : (fabric.upper[links[first[node] as number] as number] as number));
	const columns: number[][] = Array.from({ length: count }, () => []);
	const hosts = new Map<number, number[]>();
	const others = new Map<string, number[]>();
	for (let node = 0; node < nodes; node++) {
		const [t, p] = [tier[node] as number, pod[node] as number];
		const parent = above(node);
		if (t < rack) grouped(others, `${p} ${t}`).push(node);
		else if (t === rack || tier[parent] !== rack) columns[p]?.push(node);
		else grouped(hosts, parent).push(node);
	}

	const from = new Float64Array(nodes);
	const to = new Float64Array(nodes);
	const place = new Float64Array(nodes);
	const sharing = new Uint32Array(nodes);
	const spread = (list: number[], begin: number, end: number, share: boolean) =>
		list.forEach((node, i) => {
			const part = (end - begin) / list.length;
			from[node] = share ? begin : begin + i * part;
			to[node] = share ? end : begin + (i + 1) * part;
			place[node] = share ? (i + 0.5) / list.length : 0.5;
			sharing[node] = share ? list.length : 1;
		});
	const whole = columns.reduce((sum, list) => sum + Math.max(list.length, 1), 0);
	let at = 0;
	const pods = columns.map((list, number): Pod => {
		const begin = at / whole;
		at += Math.max(list.length, 1);
		spread(list, begin, at / whole, false);
		const name = list.length === 1 ? (fabric.names[list[0] as number] as string) : `pod ${number}`;
		return { name, from: begin, to: at / whole, nodes: fabric.tierNames.map(() => 0) };
	});
	for (const [parent, list] of hosts) spread(list, from[parent] as number, to[parent] as number, false);
	for (const list of others.values()) {
		const own = pods[pod[list[0] as number] as number];
		spread(list, own?.from ?? 0, own?.to ?? 1, true);
	}
	for (let node = 0; node < nodes; node++) {
		const counts = pods[pod[node] as number]?.nodes;
		if (counts) counts[tier[node] as number] = (counts[tier[node] as number] ?? 0) + 1;
	}
	return { pods, tier, pod, from, to, place, sharing, first, links };
}

function grouped<Key>(groups: Map<Key, number[]>, key: Key): number[] {
	const list = groups.get(key) ?? [];
	groups.set(key, list);
	return list;
}

function byLower({ names, lower }: Fabric): { first: Uint32Array; links: Uint32Array } {
	const first = new Uint32Array(names.length + 1);
	for (const node of lower) first[node + 1] = (first[node + 1] as number) + 1;
	for (let node = 0; node < names.length; node++) first[node + 1] = (first[node + 1] as number) + (first[node] as number);
	const next = first.slice();
	const links = new Uint32Array(lower.length);
	lower.forEach((node, link) => {
		const at = next[node] as number;
		links[at] = link;
		next[node] = at + 1;
	});
	return { first, links };
}

/** The pods, in the order of their first rack. A fabric without a tier above that of the racks is one. */
function podsOf({ names, lower, upper, tierNames }: Fabric, tier: Uint8Array): { pod: Int32Array; count: number } {
	const pod = new Int32Array(names.length);
	if (tierNames.length < 3) return { pod, count: 1 };
	const root = Int32Array.from(names, (_name, node) => node);
	const find = (node: number): number => {
		let at = node;
		while (root[at] !== at) {
			root[at] = root[root[at] as number] as number;
			at = root[at] as number;
		}
		return at;
	};
	lower.forEach((node, link) => {
		if (tier[node] !== 0 && tier[upper[link] as number] !== 0) root[find(node)] = find(upper[link] as number);
	});
	const numbers = new Map<number, number>();
	const numbered = (node: number) => {
		const at = find(node);
		const number = numbers.get(at) ?? numbers.size;
		numbers.set(at, number);
		return number;
	};
	for (let node = 0; node < names.length; node++) {
		if (tier[node] === tierNames.length - 2) numbered(node);
	}
	for (let node = 0; node < names.length; node++) pod[node] = tier[node] === 0 ? -1 : numbered(node);
	return { pod, count: numbers.size };
}

/** Whether some of the width of a node is in view. */
export function visible({ from, to }: Layout, node: number, view: View): boolean {
	return (to[node] as number) > view.from && (from[node] as number) < view.from + 1 / view.scale;
}

/** Where a node is, and how wide it may be, in pixels: within that part of its width that is in view, if any is. */
export function placed(layout: Layout, node: number, view: View, width: number): { x: number; each: number } {
	const [from, to] = [layout.from[node] as number, layout.to[node] as number];
	const seen = visible(layout, node, view);
	const begin = seen ? Math.max(from, view.from) : from;
	const end = seen ? Math.min(to, view.from + 1 / view.scale) : to;
	const all = view.scale * width;
	return { x: (begin + (layout.place[node] as number) * (end - begin) - view.from) * all, each: ((end - begin) * all) / (layout.sharing[node] as number) };
}

/** The pod at a place across the picture, from 0 to 1. */
export function podAt({ pods }: Layout, across: number): number {
	const at = pods.findIndex(({ to }) => across < to);
	return at < 0 ? pods.length - 1 : at;
}

/** The node of a tier that is the nearest to a place in pixels, of those in view. */
export function nearest(layout: Layout, nodes: { from: number; to: number }, view: View, width: number, x: number): number | undefined {
	let found: number | undefined;
	let least = Number.POSITIVE_INFINITY;
	for (let node = nodes.from; node < nodes.to; node++) {
		if (!visible(layout, node, view)) continue;
		const away = Math.abs(placed(layout, node, view, width).x - x);
		if (away < least) [found, least] = [node, away];
	}
	return found;
}

/** What some links carry: rates in Gbit/s in each direction, and parts of the rate of the busier directions. */
export type Sum = { links: number; rate: number; up: number; down: number; mean: number; busiest: number };

/** The links up from each tier, of all and of each pod, and for each node the most that a link up from it carries, of 255. */
export function sumUp(fabric: Fabric, layout: Layout, percent: Uint8Array): { tiers: Sum[]; pods: Sum[][]; busiest: Uint8Array } {
	const none = () => fabric.tierNames.map((): Sum => ({ links: 0, rate: 0, up: 0, down: 0, mean: 0, busiest: 0 }));
	const tiers = none();
	const pods = layout.pods.map(none);
	const busiest = new Uint8Array(fabric.names.length);
	fabric.lower.forEach((node, link) => {
		const [up, down] = [percent[2 * link] ?? 0, percent[2 * link + 1] ?? 0];
		const rate = fabric.rate[link] as number;
		const most = Math.max(up, down);
		const tier = layout.tier[node] as number;
		for (const sum of [tiers[tier], pods[layout.pod[node] as number]?.[tier]]) {
			if (!sum) continue;
			sum.links++;
			sum.rate += rate;
			sum.up += (rate * up) / 255;
			sum.down += (rate * down) / 255;
			sum.mean += (most / 255 - sum.mean) / sum.links;
			sum.busiest = Math.max(sum.busiest, most / 255);
		}
		busiest[node] = Math.max(busiest[node] as number, most);
	});
	return { tiers, pods, busiest };
}

/** The highest load in each pixel of a row: of the nodes of a tier whose cells are there. -1 where there is none. */
export function strip(layout: Layout, nodes: { from: number; to: number }, busiest: Uint8Array, view: View, width: number): Int16Array {
	const row = new Int16Array(width).fill(-1);
	const all = view.scale * width;
	for (let node = nodes.from; node < nodes.to; node++) {
		const [from, to, share] = [layout.from[node] as number, layout.to[node] as number, layout.sharing[node] as number];
		const half = (to - from) / share / 2;
		const middle = from + (layout.place[node] as number) * (to - from);
		const begin = Math.floor((middle - half - view.from) * all);
		const end = Math.max(Math.floor((middle + half - view.from) * all), begin + 1);
		for (let x = Math.max(begin, 0); x < Math.min(end, width); x++) row[x] = Math.max(row[x] as number, busiest[node] as number);
	}
	return row;
}
