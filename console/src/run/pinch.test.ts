import { expect, test } from "vitest";
import { pinched } from "./pinch";
import { zoomOf } from "./wheel";

const finger = (identifier: number, x: number, y = 0) => ({ identifier, x, y });

test("two fingers that move apart zoom in about the place between them, in any direction and order", () => {
	expect(pinched([finger(1, 100), finger(2, 200)], [finger(1, 50), finger(2, 250)])).toEqual({ by: 2, x: 150 });
	expect(pinched([finger(1, 100), finger(2, 100, 100)], [finger(2, 100, 50), finger(1, 100)])).toEqual({ by: 0.5, x: 100 });
});

test("a finger more, a finger less and another finger do nothing", () => {
	const two = [finger(1, 100), finger(2, 200)];
	for (const other of [[], [finger(1, 100)], [...two, finger(3, 0)], [finger(1, 100), finger(3, 200)]]) {
		expect(pinched(two, other)).toBeUndefined();
		expect(pinched(other, two)).toBeUndefined();
	}
});

test("fingers that touch do not zoom without end", () => {
	expect(pinched([finger(1, 100), finger(2, 100)], [finger(1, 92), finger(2, 108)])?.by).toBe(1);
});

test("a turn of the wheel away from the person zooms in", () => {
	expect(zoomOf({ deltaX: 0, deltaY: -300, shiftKey: false })).toBe(2);
});
