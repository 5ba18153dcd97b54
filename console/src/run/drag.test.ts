import { createElement, type PointerEvent } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { useDrag } from "./drag";

test("a pointer reads until it is pressed, and drags from where it was pressed until it is released", () => {
	const seen: unknown[] = [];
	let from = 5;
	let handlers: Partial<ReturnType<typeof useDrag>> = {};
	const Picture = () => {
		handlers = useDrag({ read: (at) => seen.push(at), held: () => from, dragged: (held, by) => seen.push([held, by]) });
		return null;
	};
	renderToStaticMarkup(createElement(Picture));
	const at = (clientX: number, clientY: number) =>
		({
			clientX,
			clientY,
			pointerId: 1,
			currentTarget: { setPointerCapture: (id: number) => seen.push(`captured ${id}`), getBoundingClientRect: () => ({ left: 100, top: 10 }) },
		}) as unknown as PointerEvent;
	const after = (act: () => void) => {
		seen.length = 0;
		act();
		return [...seen];
	};
	expect(after(() => handlers.onPointerMove?.(at(103, 14)))).toEqual([{ x: 3, y: 4 }]);
	for (const release of ["onPointerUp", "onPointerCancel"] as const) {
		expect(after(() => handlers.onPointerDown?.(at(110, 20)))).toEqual(["captured 1", { x: 10, y: 10 }]);
		from = 6; // the picture moves under it
		expect(after(() => handlers.onPointerMove?.(at(113, 16)))).toEqual([[release === "onPointerUp" ? 5 : 6, { x: 3, y: -4 }]]);
		expect(after(() => handlers.onPointerMove?.(at(108, 20)))).toEqual([[release === "onPointerUp" ? 5 : 6, { x: -2, y: 0 }]]);
		handlers[release]?.();
		expect(after(() => handlers.onPointerMove?.(at(100, 10)))).toEqual([{ x: 0, y: 0 }]);
	}
});
