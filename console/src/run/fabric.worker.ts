import { stored } from "../api/refusal";
import { bitRate, count, rounded } from "../lib/units";
import type { Reply } from "./drawing";
import { type Fabric, type Loads, meanLoads, readFabric, readLoads } from "./fabricData";
import { drawLinks, drawTiers, type Picture, tierAt } from "./fabricDraw";
import { bands, drawHeat } from "./fabricHeat";
import { type Layout, layOut, nearest, podAt, rungOf, type Sum, sumUp } from "./fabricLayout";
import { failure } from "./failure";
import type { View } from "./view";

/** What the page asks of the worker. */
export type Asked =
	| { type: "load"; canvas: OffscreenCanvas; heat: OffscreenCanvas; topology: string[]; loads: string[] }
	| { type: "draw"; width: number; height: number; ratio: number; dark: boolean; view: View; interval: number }
	| { type: "pick"; x: number; y: number };

/** What it says when it has loaded. Interval -1 is the mean of all. */
export type Loaded = { tiers: { name: string; count: number }[]; links: number; times: number[]; bands: string[] };

const reply = (message: Reply<Loaded>) => postMessage(message);

let fabric: Fabric;
let layout: Layout;
let loads: Loads;
let mean: Uint8Array;
let canvas: OffscreenCanvas;
let heat: OffscreenCanvas;
let last: Extract<Asked, { type: "draw" }> | undefined;
let shown: Picture | undefined;
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
		reply(failure(error));
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
	layout = layOut(read);
	fabric = read;
	reply({
		type: "loaded",
		tiers: read.tierNames.map((name, tier) => ({ name, count: (read.first[tier + 1] as number) - (read.first[tier] as number) })),
		links: read.lower.length,
		times: loads.times,
		bands: bands(read, layout.tier).map((band) => band.name),
	});
	if (last) draw(last);
}

async function text(link: string): Promise<string> {
	return (await stored(link)).text();
}

function draw({ width, height, ratio, dark, view, interval }: Extract<Asked, { type: "draw" }>): void {
	const began = performance.now();
	const context = canvas.getContext("2d");
	if (!context) throw new Error("this browser has no canvas");
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	context.font = "11px system-ui, sans-serif";
	context.textAlign = "center";
	const percent = loads.percent[interval] ?? mean;
	const sums = shown?.percent === percent ? shown.sums : sumUp(fabric, layout, percent);
	const rung = rungOf(fabric, layout, view, width);
	shown = { fabric, layout, percent, sums, rung, view, width, height, dark };
	(rung === "host" ? drawLinks : drawTiers)(context, shown);
	if (heatDrawn !== String(dark) && loads.times.length > 0) {
		heatDrawn = String(dark);
		drawHeat(heat, bands(fabric, layout.tier), loads, dark);
	}
	reply({ type: "drawn", frame: ++frames, milliseconds: performance.now() - began, rung });
}

/** Names what is at a point of the picture, with its load. */
function pick(x: number, y: number): void {
	if (!shown) return;
	const { rung, view, width, height, sums } = shown;
	const at = tierAt(fabric.tierNames.length, y, height);
	const across = view.from + x / width / view.scale;
	if (rung === "host") {
		pickNode(at.tier, x);
		return;
	}
	const tier = Math.max(at.tier, 1); // the links of the highest tier are those up from the next
	const pod = rung === "pod" && at.tier > 0 ? podAt(layout, across) : undefined;
	const sum = (pod === undefined ? sums.tiers : sums.pods[pod])?.[tier];
	const of = pod === undefined ? "" : ` of ${layout.pods[pod]?.name}`;
	if (sum) reply({ type: "picked", text: `${fabric.tierNames[tier - 1]} – ${fabric.tierNames[tier]}${of}: ${carried(sum)}` });
}

function carried({ links, rate, up, down, mean: part, busiest }: Sum): string {
	const words = (gbit: number) => rounded(bitRate(Math.round(gbit * 1e9)), 3);
	const share = (load: number) => `${Math.round(load * 100)} %`;
	return `${count(links)} links of ${words(rate)} together carry ${words(up)} up and ${words(down)} down; their busier directions have ${share(part)} of the rate on average, the busiest ${share(busiest)}`;
}

function pickNode(tier: number, x: number): void {
	const { view, width, percent } = shown as Picture;
	const node = nearest(layout, { from: fabric.first[tier] as number, to: fabric.first[tier + 1] as number }, view, width, x);
	if (node === undefined) return;
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
