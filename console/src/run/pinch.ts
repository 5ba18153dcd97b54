/** A finger on the screen, in pixels. */
export type Finger = { identifier: number; x: number; y: number };

/** Fingers that are nearer to each other than this say nothing of how much they mean. */
const nearest = 16;

/** By how much the same two fingers moved apart, below 1 together, and the place between them. Nothing for other fingers than before. */
export function pinched(before: Finger[], after: Finger[]): { by: number; x: number } | undefined {
	const [a, b] = after;
	const [from, to] = [a, b].map((finger) => before.find(({ identifier }) => identifier === finger?.identifier));
	if (!a || !b || !from || !to || before.length !== 2 || after.length !== 2) return undefined;
	const apart = (one: Finger, other: Finger) => Math.max(Math.hypot(one.x - other.x, one.y - other.y), nearest);
	return { by: apart(a, b) / apart(from, to), x: (a.x + b.x) / 2 };
}
