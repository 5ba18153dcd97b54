import type { Fabric, Loads } from "./fabricData";

export const buckets = 16;

/** From idle to full in 16 steps: the bucket of a load, and its colour. */
export const bucketOf = (load: number) => Math.min(Math.floor((load * buckets) / 256), buckets - 1);

export function colour(bucket: number, dark: boolean): string {
	const part = bucket / (buckets - 1);
	return `hsl(${Math.round(210 - 200 * part)} ${Math.round(20 + 70 * part)}% ${Math.round(dark ? 32 + 28 * part : 80 - 32 * part)}%)`;
}

type Band = { name: string; links: number[] };

/** The links by the tiers that they join, the highest first; those of one band in the order of the file. */
export function bands(of: Fabric, tier: Uint8Array): Band[] {
	const found = new Map<string, Band & { order: number }>();
	for (let link = 0; link < of.lower.length; link++) {
		const upper = tier[of.upper[link] as number] as number;
		const lower = tier[of.lower[link] as number] as number;
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
export function drawHeat(heat: OffscreenCanvas, all: Band[], loads: Loads, dark: boolean): void {
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
				context.fillStyle = colour(bucketOf(load), dark);
				context.fillRect(interval, from, 1, to - from);
			}
		});
	});
}
