import { useEffect, useRef } from "react";
import { type Finger, pinched } from "./pinch";

/** What turns a picture: a wheel, or two fingers. */
export type Turn = Pick<WheelEvent, "deltaX" | "deltaY" | "shiftKey">;

/**
 * Calls back with the turns of a wheel over an element, and with two fingers that move apart or together as
 * turns of the same effect. React listens passively, and the page must neither scroll nor zoom.
 */
export function useWheel(element: { current: HTMLElement | null }, turned: (event: Turn, about: number) => void) {
	const call = useRef(turned);
	call.current = turned;
	useEffect(() => {
		const over = element.current;
		if (!over) return;
		const listen = (event: WheelEvent) => {
			const box = over.getBoundingClientRect();
			event.preventDefault();
			call.current(event, (event.clientX - box.left) / box.width);
		};
		let before: Finger[] = [];
		let pinching = false;
		const touch = (event: TouchEvent) => {
			const fingers = [...event.targetTouches].map(({ identifier, clientX, clientY }) => ({ identifier, x: clientX, y: clientY }));
			if (fingers.length === 2) {
				const box = over.getBoundingClientRect();
				const pinch = pinched(before, fingers);
				pinching = true;
				if (event.cancelable) event.preventDefault();
				if (pinch) call.current({ deltaX: 0, deltaY: turnOf(pinch.by), shiftKey: false }, (pinch.x - box.left) / box.width);
			}
			// The finger that stays longest would drag from where it began.
			if (fingers.length === 0) pinching = false;
			before = fingers;
		};
		const drag = (event: PointerEvent) => pinching && event.stopPropagation();
		const touches = ["touchstart", "touchmove", "touchend", "touchcancel"] as const;
		over.addEventListener("wheel", listen, { passive: false });
		for (const name of touches) over.addEventListener(name, touch, { passive: false });
		over.addEventListener("pointermove", drag);
		return () => {
			over.removeEventListener("wheel", listen);
			for (const name of touches) over.removeEventListener(name, touch);
			over.removeEventListener("pointermove", drag);
		};
	}, [element]);
}

/** By how much a turn of the wheel zooms. */
export const zoomOf = ({ deltaY }: Turn) => 2 ** (-deltaY / 300);

/** The turn of the wheel that zooms by as much. */
const turnOf = (by: number) => -300 * Math.log2(by);
