import { count } from "../lib/units";
import type { Fabric } from "./fabricData";
import { bucketOf, buckets, colour } from "./fabricHeat";
import { type Layout, type Pod, placed, type Rung, type Sum, strip, type sumUp, visible } from "./fabricLayout";
import type { View } from "./view";

/** What a frame shows. Loads are of 255, those of link i at 2i up and at 2i + 1 down. */
export type Picture = {
	fabric: Fabric;
	layout: Layout;
	percent: Uint8Array;
	sums: ReturnType<typeof sumUp>;
	rung: Rung;
	view: View;
	width: number;
	height: number;
	dark: boolean;
};

type Context = OffscreenCanvasRenderingContext2D;

const margin = 44;
const bar = 16; // the height of a tier

/** Where a tier is, from the top. */
export function rowOf(tiers: number, tier: number, height: number): number {
	return tiers === 1 ? height / 2 : margin / 2 + (tier * (height - margin)) / (tiers - 1);
}

/** The tier at a height, and whether the height is between it and the one above. */
export function tierAt(tiers: number, y: number, height: number): { tier: number; between: boolean } {
	const at = tiers === 1 ? 0 : ((y - margin / 2) * (tiers - 1)) / (height - margin);
	const nearest = Math.min(Math.max(Math.round(at), 0), tiers - 1);
	const within = Math.abs(y - rowOf(tiers, nearest, height)) <= bar || at < 0 || at > tiers - 1;
	return within ? { tier: nearest, between: false } : { tier: Math.ceil(at), between: true };
}

const ink = (dark: boolean) => (dark ? "#dde3ea" : "#27313c");
const paper = (dark: boolean) => (dark ? "#1c2229" : "#fff");

/**
 * Draws whole tiers, or the tiers of each pod: the links up from a tier are a strip, in which each node of it
 * has the colour of its busiest link.
 */
export function drawTiers(context: Context, picture: Picture): void {
	const { fabric, layout, sums, rung, view, width, height, dark } = picture;
	const tiers = fabric.tierNames.length;
	const row = (tier: number) => rowOf(tiers, tier, height);
	for (let tier = 1; tier < tiers; tier++) {
		const loads = strip(layout, { from: fabric.first[tier] as number, to: fabric.first[tier + 1] as number }, sums.busiest, view, width);
		const top = row(tier - 1) + bar / 2;
		const deep = row(tier) - bar / 2 - top;
		for (let x = 0; x < width; ) {
			const bucket = bucketOf(loads[x] as number);
			const begin = x;
			while (x < width && bucketOf(loads[x] as number) === bucket) x++;
			if (bucket < 0) continue;
			context.fillStyle = colour(bucket, dark);
			context.fillRect(begin, top, x - begin, deep);
		}
	}
	if (rung === "pod") gaps(context, picture);
	const whole: Pod = { name: "", from: view.from, to: view.from + 1 / view.scale, nodes: [] };
	const drawn = rung === "pod" ? layout.pods.map((pod, number) => ({ pod, sum: sums.pods[number] as Sum[] })) : [{ pod: whole, sum: sums.tiers }];
	const seen = drawn.filter(({ pod }) => pod.to > view.from && pod.from < whole.to);
	for (let tier = 0; tier < tiers; tier++) {
		const nodes = (fabric.first[tier + 1] as number) - (fabric.first[tier] as number);
		const name = fabric.tierNames[tier] as string;
		if (tier === 0) box(context, picture, row(tier), [0, width], `${count(nodes)} ${name}`);
		for (const { pod, sum } of seen) {
			const ends = [Math.max((pod.from - view.from) * view.scale * width, 0), Math.min((pod.to - view.from) * view.scale * width, width)] as [number, number];
			const own = `${count(rung === "pod" ? (pod.nodes[tier] as number) : nodes)} ${name}`;
			if (tier === 0) continue;
			if ((sum[tier] as Sum).links === 0) {
				if (tier === tiers - 1) label(context, picture, (row(tier - 1) + row(tier)) / 2 + 4, ends, "no hosts");
				continue;
			}
			box(context, picture, row(tier), ends, pod.name && tier === 1 ? `${pod.name}: ${own}` : own);
			figures(context, picture, (row(tier - 1) + row(tier)) / 2, ends, sum[tier] as Sum);
		}
	}
}

/** The paper between pods, below the highest tier. */
function gaps(context: Context, { fabric, layout, view, width, height, dark }: Picture): void {
	context.fillStyle = paper(dark);
	const top = rowOf(fabric.tierNames.length, 0, height) + bar / 2;
	for (const pod of layout.pods.slice(1)) context.fillRect((pod.from - view.from) * view.scale * width - 2, top, 4, height - top);
}

function box(context: Context, { dark }: Picture, y: number, [from, to]: [number, number], text: string): void {
	context.fillStyle = ink(dark);
	context.fillRect(from + 2, y - bar / 2, Math.max(to - from - 4, 1), bar);
	context.fillStyle = paper(dark);
	if (context.measureText(text).width < to - from - 8) context.fillText(text, (from + to) / 2, y + 4);
}

function figures(context: Context, picture: Picture, y: number, ends: [number, number], sum: Sum): void {
	const percent = (part: number) => `${Math.round(part * 100)} %`;
	const lines = [`mean ${percent(sum.mean)}`, `busiest ${percent(sum.busiest)}`];
	const wide = ends[1] - ends[0] > 260;
	(wide ? [`${count(sum.links)} links: ${lines.join(", ")}`] : lines).forEach((line, i) => {
		label(context, picture, y + 4 + (wide ? 0 : i * 15 - 7), ends, line);
	});
}

/** A text on paper, if there is room for it. */
function label(context: Context, { dark }: Picture, y: number, [from, to]: [number, number], text: string): void {
	const room = context.measureText(text).width + 8;
	if (room > to - from) return;
	context.fillStyle = paper(dark);
	context.fillRect((from + to - room) / 2, y - 11, room, 15);
	context.fillStyle = ink(dark);
	context.fillText(text, (from + to) / 2, y);
}

/**
 * Draws the nodes in view and their links up. Links between the same two pixels are one line, with the highest
 * load of them: so a frame takes as long as there are pixels, however many hosts there are.
 */
export function drawLinks(context: Context, picture: Picture): void {
	const { fabric, layout, percent, view, width, height, dark } = picture;
	const tiers = fabric.tierNames.length;
	const lines = new Map<number, number>();
	for (let node = 0; node < fabric.names.length; node++) {
		if (!visible(layout, node, view)) continue;
		const { x } = placed(layout, node, view, width);
		for (let at = layout.first[node] as number; at < (layout.first[node + 1] as number); at++) {
			const link = layout.links[at] as number;
			const upper = fabric.upper[link] as number;
			const end = placed(layout, upper, view, width).x;
			const load = Math.max(percent[2 * link] ?? 0, percent[2 * link + 1] ?? 0);
			// Half pixels, and the rows that the link joins.
			const clip = (value: number) => Math.min(Math.max(Math.round(value * 2), -32_768), 32_767) + 32_768;
			const key = ((clip(x) * 65_536 + clip(end)) * 16 + (layout.tier[node] as number)) * 16 + (layout.tier[upper] as number);
			if ((lines.get(key) ?? -1) < load) lines.set(key, load);
		}
	}
	const paths = Array.from({ length: buckets }, () => new Path2D());
	for (const [key, load] of lines) {
		const ends = Math.floor(key / 256);
		const path = paths[bucketOf(load)] as Path2D;
		path.moveTo((Math.floor(ends / 65_536) - 32_768) / 2, rowOf(tiers, Math.floor(key / 16) % 16, height));
		path.lineTo(((ends % 65_536) - 32_768) / 2, rowOf(tiers, key % 16, height));
	}
	paths.forEach((path, bucket) => {
		context.strokeStyle = colour(bucket, dark);
		context.lineWidth = 0.75 + bucket / buckets;
		context.stroke(path);
	});
	nodes(context, picture);
}

function nodes(context: Context, { fabric, layout, view, width, height, dark }: Picture): void {
	const tiers = fabric.tierNames.length;
	context.fillStyle = ink(dark);
	for (let node = 0; node < fabric.names.length; node++) {
		if (!visible(layout, node, view)) continue;
		const { x, each } = placed(layout, node, view, width);
		const tier = layout.tier[node] as number;
		const y = rowOf(tiers, tier, height);
		const size = Math.max(each < 3 ? each : Math.min(each - 2, 16), 0.5);
		context.fillRect(x - size / 2, y - 5, size, 10);
		if (each > 60) context.fillText(fabric.names[node] as string, x, y + (tier === 0 ? -8 : 17));
	}
	context.textAlign = "left";
	context.lineWidth = 4;
	context.strokeStyle = paper(dark);
	for (let tier = 0; tier < tiers; tier++) {
		const label = `${count((fabric.first[tier + 1] as number) - (fabric.first[tier] as number))} ${fabric.tierNames[tier]}`;
		const y = rowOf(tiers, tier, height) - 9;
		context.strokeText(label, 6, y);
		context.fillText(label, 6, y);
	}
}
