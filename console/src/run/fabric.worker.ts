import type { Reply } from "./drawing";
import { across, type Fabric, type Loads, meanLoads, readFabric, readLoads } from "./fabricData";
import type { View } from "./view";

/** What the page asks of the worker. */
export type Asked =
	| { type: "load"; canvas: OffscreenCanvas; heat: OffscreenCanvas; topology: string[]; loads: string[] }
	| { type: "draw"; width: number; height: number; ratio: number; dark: boolean; view: View; interval: number }
	| { type: "pick"; x: number; y: number };

/** What it says when it has loaded. Interval -1 is the mean of all. */
export type Loaded = { tiers: { name: string; count: number }[]; links: number; times: number[]; bands: string[] };

const reply = (message: Reply<Loaded>) => postMessage(message);
const buckets = 16;
const margin = 44;

let fabric: Fabric;
let loads: Loads;
let mean: Uint8Array;
let positions: Float64Array;
let canvas: OffscreenCanvas;
let heat: OffscreenCanvas;
let last: Extract<Asked, { type: "draw" }> | undefined;
let frames = 0;
let heatDrawn = "";

addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
	try {
		if (data.type === "load") await load(data);
		else if (data.type === "draw") {
			last = data;
			if (fabric) draw(data);
		} else pick(data.x, data.y);
	} catch (error) {
		reply({ type: "failed", message: error instanceof Error ? error.message : String(error) });
	}
});

async function load(asked: Extract<Asked, { type: "load" }>): Promise<void> {
	canvas = asked.canvas;
	heat = asked.heat;
	const texts = (links: string[]) => Promise.all(links.map(text));
	const [topology, shards] = await Promise.all([texts(asked.topology), texts(asked.loads)]);
	const read = readFabric(topology.join(""));
	loads = readLoads(read, shards);
	mean = meanLoads(read, loads);
	positions = Float64Array.from(read.names, (_name, node) => across(read, node));
	fabric = read;
	reply({
		type: "loaded",
		tiers: read.tierNames.map((name, tier) => ({ name, count: (read.first[tier + 1] as number) - (read.first[tier] as number) })),
		links: read.lower.length,
		times: loads.times,
		bands: bands(read).map((band) => band.name),
	});
	if (last) draw(last);
}

async function text(link: string): Promise<string> {
	const response = await fetch(link, { credentials: "omit" });
	if (!response.ok) throw new Error(`the object store replies ${response.status}`);
	return response.text();
}

/** From idle to full in 16 steps. */
function colour(bucket: number, dark: boolean): string {
	const part = bucket / (buckets - 1);
	return `hsl(${Math.round(210 - 200 * part)} ${Math.round(20 + 70 * part)}% ${Math.round(dark ? 32 + 28 * part : 80 - 32 * part)}%)`;
}

function tierOf(node: number, of: Fabric = fabric): number {
	let tier = 0;
	while (node >= (of.first[tier + 1] as number)) tier++;
	return tier;
}

function tierLabel(of: Fabric, tier: number): string {
	return `${(of.first[tier + 1] as number) - (of.first[tier] as number)} ${of.tierNames[tier]}`;
}

function rowOf(tier: number, height: number): number {
	const tiers = fabric.tierNames.length;
	return tiers === 1 ? height / 2 : margin / 2 + (tier * (height - margin)) / (tiers - 1);
}

/**
 * Draws the links in view. Links between the same two pixels are one line, with the highest
 * load of them: so a frame takes as long as there are pixels, however many hosts there are.
 */
function draw({ width, height, ratio, dark, view, interval }: Extract<Asked, { type: "draw" }>): void {
	const began = performance.now();
	const context = canvas.getContext("2d");
	if (!context) throw new Error("this browser has no canvas");
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	const percent = loads.percent[interval] ?? mean;
	const at = (node: number) => ((positions[node] as number) - view.from) * view.scale * width;
	const lines = new Map<number, number>();
	for (let link = 0; link < fabric.lower.length; link++) {
		const lower = fabric.lower[link] as number;
		const upper = fabric.upper[link] as number;
		const x = at(lower);
		const y = at(upper);
		if ((x < 0 && y < 0) || (x > width && y > width)) continue;
		const load = Math.max(percent[2 * link] ?? 0, percent[2 * link + 1] ?? 0);
		// Half pixels, and the rows that the link joins.
		const clip = (value: number) => Math.min(Math.max(Math.round(value * 2), -32_768), 32_767) + 32_768;
		const key = (clip(x) * 65_536 + clip(y)) * 16 + tierOf(lower) * 4 + tierOf(upper);
		if ((lines.get(key) ?? -1) < load) lines.set(key, load);
	}
	const paths = Array.from({ length: buckets }, () => new Path2D());
	for (const [key, load] of lines) {
		const rows = key % 16;
		const ends = Math.floor(key / 16);
		const path = paths[Math.min(Math.floor((load * buckets) / 256), buckets - 1)] as Path2D;
		path.moveTo((Math.floor(ends / 65_536) - 32_768) / 2, rowOf(Math.floor(rows / 4), height));
		path.lineTo(((ends % 65_536) - 32_768) / 2, rowOf(rows % 4, height));
	}
	paths.forEach((path, bucket) => {
		context.strokeStyle = colour(bucket, dark);
		context.lineWidth = 0.75 + bucket / buckets;
		context.stroke(path);
	});
	nodes(context, width, height, dark, view);
	picture(dark);
	reply({ type: "drawn", frame: ++frames, milliseconds: performance.now() - began });
}

function nodes(context: OffscreenCanvasRenderingContext2D, width: number, height: number, dark: boolean, view: View): void {
	context.fillStyle = dark ? "#dde3ea" : "#27313c";
	context.font = "11px system-ui, sans-serif";
	context.textAlign = "center";
	for (let tier = 0; tier < fabric.tierNames.length; tier++) {
		const first = fabric.first[tier] as number;
		const end = fabric.first[tier + 1] as number;
		const each = (view.scale * width) / (end - first);
		const y = rowOf(tier, height);
		const from = Math.max(first, first + Math.floor(view.from * (end - first)));
		const to = Math.min(end, first + Math.ceil((view.from + 1 / view.scale) * (end - first)));
		if (each < 3) {
			context.fillRect(0, y - 3, width, 6);
			continue;
		}
		for (let node = from; node < to; node++) {
			const x = ((positions[node] as number) - view.from) * view.scale * width;
			const size = Math.min(each - 2, 16);
			context.fillRect(x - size / 2, y - 5, size, 10);
			if (each > 60) context.fillText(fabric.names[node] as string, x, y + (tier === 0 ? -8 : 17));
		}
	}
	context.textAlign = "left";
	context.lineWidth = 4;
	context.strokeStyle = dark ? "#1c2229" : "#fff";
	for (let tier = 0; tier < fabric.tierNames.length; tier++) {
		const label = tierLabel(fabric, tier);
		const y = rowOf(tier, height) - 9;
		context.strokeText(label, 6, y);
		context.fillText(label, 6, y);
	}
}

type Band = { name: string; links: number[] };

/** The links by the tiers that they join, the highest first; those of one band in the order of the file. */
function bands(of: Fabric): Band[] {
	const found = new Map<string, Band & { order: number }>();
	for (let link = 0; link < of.lower.length; link++) {
		const upper = tierOf(of.upper[link] as number, of);
		const lower = tierOf(of.lower[link] as number, of);
		const name = `${of.tierNames[upper]} – ${of.tierNames[lower]}`;
		const band = found.get(name) ?? { name, links: [], order: upper * 16 + lower };
		band.links.push(link);
		found.set(name, band);
	}
	return [...found.values()].sort((a, b) => a.order - b.order);
}

const bandHeight = 160;

/**
 * The heat over time: each band of links has the same height, because the highest tiers have few
 * links. Its rows are interfaces, of which those that share a row show the highest load; columns
 * are intervals.
 */
function picture(dark: boolean): void {
	if (heatDrawn === String(dark) || loads.times.length === 0) return;
	heatDrawn = String(dark);
	const all = bands(fabric);
	heat.width = loads.times.length;
	heat.height = all.length * bandHeight;
	const context = heat.getContext("2d");
	if (!context) return;
	loads.percent.forEach((percent, interval) => {
		all.forEach(({ links }, band) => {
			const ends = links.length * 2;
			const height = Math.min(ends, bandHeight);
			for (let y = 0; y < height; y++) {
				let load = 0;
				for (let row = Math.floor((y * ends) / height); row < Math.floor(((y + 1) * ends) / height); row++) {
					load = Math.max(load, percent[2 * (links[row >> 1] as number) + (row & 1)] ?? 0);
				}
				const from = band * bandHeight + Math.floor((y * (bandHeight - 4)) / height);
				const to = band * bandHeight + Math.floor(((y + 1) * (bandHeight - 4)) / height);
				context.fillStyle = colour(Math.min(Math.floor((load * buckets) / 256), buckets - 1), dark);
				context.fillRect(interval, from, 1, to - from);
			}
		});
	});
}

/** Names the node at a point of the picture, and its busiest link. */
function pick(x: number, y: number): void {
	if (!fabric || !last) return;
	const { width, height, view, interval } = last;
	const tiers = fabric.tierNames.length;
	const tier = Math.min(Math.max(Math.round(((y - margin / 2) * (tiers - 1)) / (height - margin)), 0), tiers - 1);
	const first = fabric.first[tier] as number;
	const end = fabric.first[tier + 1] as number;
	const node = Math.min(Math.max(first + Math.floor((view.from + x / width / view.scale) * (end - first)), first), end - 1);
	const percent = loads.percent[interval] ?? mean;
	let sent = 0;
	let received = 0;
	let links = 0;
	for (let link = 0; link < fabric.lower.length; link++) {
		const lower = fabric.lower[link] === node;
		if (!lower && fabric.upper[link] !== node) continue;
		links++;
		sent = Math.max(sent, percent[2 * link + (lower ? 0 : 1)] ?? 0);
		received = Math.max(received, percent[2 * link + (lower ? 1 : 0)] ?? 0);
	}
	const share = (load: number) => `${Math.round(load / 2.55)} %`;
	reply({ type: "picked", text: `${fabric.names[node]}: ${links} links; the busiest sends ${share(sent)} and receives ${share(received)} of its rate` });
}
