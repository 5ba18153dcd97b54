import { stored } from "../api/refusal";
import { bytes, picoseconds } from "../lib/units";
import type { Reply } from "./drawing";
import { failure } from "./failure";
import { kindOf } from "./kinds";
import { coverage, firstAfter, rowHeight, type Trace, TraceReader } from "./trace";
import type { View } from "./view";

/** What the page asks of the worker. The row is that of the first lane in view. */
export type Asked =
	| { type: "load"; canvas: OffscreenCanvas; trace: string }
	| { type: "draw"; width: number; height: number; ratio: number; dark: boolean; view: View; row: number }
	| { type: "pick"; x: number; y: number };

/** What it says when it has loaded. The owners are those of the lanes, each with the row at which it begins. */
export type Loaded = { spans: number; lanes: number; until: number; owners: { name: string; row: number }[] };

const reply = (message: Reply<Loaded>) => postMessage(message);
let trace: Trace | undefined;
let canvas: OffscreenCanvas;
let last: Extract<Asked, { type: "draw" }> | undefined;
let frames = 0;

addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
	try {
		if (data.type === "load") await load(data);
		else if (data.type === "draw") {
			last = data;
			draw();
		} else reply({ type: "picked", text: spanAt(data.x, data.y) });
	} catch (error) {
		reply(failure(error));
	}
});

async function load(asked: Extract<Asked, { type: "load" }>): Promise<void> {
	canvas = asked.canvas;
	const { body } = await stored(asked.trace);
	if (!body) throw new Error("the trace is empty");
	const reader = new TraceReader();
	const pieces = body.pipeThrough(new DecompressionStream("gzip")).getReader();
	for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) reader.push(piece.value);
	trace = reader.finish();
	const owners = trace.lanes.flatMap(({ owner }, row, all) => (all[row - 1]?.owner === owner ? [] : [{ name: owner, row }]));
	reply({ type: "loaded", spans: trace.start.length, lanes: trace.lanes.length, until: trace.until, owners });
	draw();
}

/** Draws the lanes in view into one picture: a frame takes as long as there are pixels, however many spans there are. */
function draw(): void {
	if (!trace || !last) return;
	const { ratio, dark, row } = last;
	const began = performance.now();
	const width = Math.max(1, Math.round(last.width * ratio));
	const height = Math.max(1, Math.round(last.height * ratio));
	canvas.width = width;
	canvas.height = height;
	const context = canvas.getContext("2d");
	if (!context) throw new Error("this browser has no canvas");
	const picture = context.createImageData(width, height);
	const pixels = new Uint32Array(picture.data.buffer);
	const page: [number, number, number] = dark ? [28, 34, 41] : [255, 255, 255];
	pixels.fill(pixel(page));
	const { from, each } = times(last, trace);
	const covered = new Float32Array(width);
	const line = new Uint32Array(width);
	const tall = rowHeight * ratio;
	for (let y = 0; y * tall < height; y++) {
		const lane = trace.lanes[row + y];
		if (!lane) break;
		coverage(trace, lane, from, each / ratio, covered);
		const shades = shadesOf(parts(kindOf(lane.kind).colour), page);
		for (let x = 0; x < width; x++) {
			const part = covered[x] as number;
			line[x] = part === 0 ? (shades[0] as number) : (shades[Math.min(Math.ceil(part * 16), 16)] as number);
		}
		for (let at = Math.round(y * tall); at < Math.min(Math.round((y + 1) * tall) - 1, height); at++) pixels.set(line, at * width);
	}
	context.putImageData(picture, 0, 0);
	names(context, dark);
	reply({ type: "drawn", frame: ++frames, milliseconds: performance.now() - began });
}

/** The time at the left of the view, and that of a column, in ns. */
function times({ view, width }: Extract<Asked, { type: "draw" }>, { until }: Trace): { from: number; each: number } {
	return { from: view.from * until, each: until / view.scale / width };
}

/** Writes the names of spans that are wide enough. */
function names(context: OffscreenCanvasRenderingContext2D, dark: boolean): void {
	if (!trace || !last) return;
	const { width, height, ratio, row } = last;
	const { from, each } = times(last, trace);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.font = "11px system-ui, sans-serif";
	context.fillStyle = dark ? "#0c1522" : "#10161d";
	for (let y = 0; y * rowHeight < height; y++) {
		const lane = trace.lanes[row + y];
		if (!lane) return;
		const end = firstAfter(trace, lane.first, lane.end, from + each * width);
		// As many names as fit beside each other, at most.
		for (let at = firstAfter(trace, lane.first, lane.end, from); at <= end && at < lane.end; ) {
			const left = Math.max(((trace.start[at] as number) - from) / each, 0);
			const right = Math.min(((trace.end[at] as number) - from) / each, width);
			if (right - left > 48) context.fillText(words(at), left + 3, y * rowHeight + 10, right - left - 6);
			at = right - left > 1 ? at + 1 : Math.max(at + 1, firstAfter(trace, at, lane.end, from + (left + 1) * each));
		}
	}
	context.setTransform(1, 0, 0, 1, 0, 0);
}

const words = (at: number) => trace?.names[trace.name[at] as number] ?? "";

/** From nothing of a column to all of it in 16 steps, of which the first can be seen. */
function shadesOf(colour: number[], page: number[]): number[] {
	return Array.from({ length: 17 }, (_shade, step) => {
		const part = step === 0 ? 0.06 : 0.3 + (0.7 * step) / 16;
		return pixel([0, 1, 2].map((i) => Math.round((colour[i] as number) * part + (page[i] as number) * (1 - part))));
	});
}

/** Red, green and blue of a colour as style sheets write it. */
function parts(colour: string): number[] {
	return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

/** A pixel of a picture, whose bytes are red, green, blue and alpha. */
function pixel([red, green, blue]: number[]): number {
	return (255 << 24) | ((blue as number) << 16) | ((green as number) << 8) | (red as number);
}

/** Says what is at a point of the picture. */
function spanAt(x: number, y: number): string {
	const lane = trace?.lanes[(last?.row ?? 0) + Math.floor(y / rowHeight)];
	if (!trace || !last || !lane) return "";
	const { from, each } = times(last, trace);
	const time = from + x * each;
	const at = firstAfter(trace, lane.first, lane.end, time);
	const start = trace.start[at] as number;
	const who = `${lane.owner}, ${kindOf(lane.kind).text}`;
	if (at >= lane.end || start > time) return `${who}: nothing at ${picoseconds(Math.round(time * 1000))}`;
	const end = trace.end[at] as number;
	const collective = trace.collective[at] as number;
	const facts = [
		words(at) !== lane.kind && words(at),
		(trace.to[at] as number) >= 0 && `to rank ${trace.to[at]}`,
		(trace.bytes[at] as number) >= 0 && bytes(trace.bytes[at] as number),
		collective >= 0 && `collective ${collective}`,
		`from ${picoseconds(start * 1000)} to ${picoseconds(end * 1000)}`,
		`lasts ${picoseconds((end - start) * 1000)}`,
	];
	return `${who}: ${facts.filter(Boolean).join(", ")}`;
}
