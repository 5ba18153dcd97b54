import { type PointerEvent, useRef } from "react";

type Place = { x: number; y: number };

/**
 * The handlers of a picture that a pointer reads and drags. Where it is pressed, or moves without being pressed,
 * is read, in pixels of the picture. While it is pressed it drags: held says what it then took hold of, and
 * dragged is called with that and with the way from there.
 */
export function useDrag<Held>({ read, held, dragged }: { read: (at: Place) => void; held: () => Held; dragged: (from: Held, by: Place) => void }) {
	const pressed = useRef<Place & { from: Held }>(undefined);
	const readAt = ({ currentTarget, clientX, clientY }: PointerEvent) => {
		const box = currentTarget.getBoundingClientRect();
		read({ x: clientX - box.left, y: clientY - box.top });
	};
	const release = () => {
		pressed.current = undefined;
	};
	return {
		onPointerDown: (event: PointerEvent) => {
			event.currentTarget.setPointerCapture(event.pointerId);
			readAt(event);
			pressed.current = { x: event.clientX, y: event.clientY, from: held() };
		},
		onPointerMove: (event: PointerEvent) => {
			const began = pressed.current;
			if (began) dragged(began.from, { x: event.clientX - began.x, y: event.clientY - began.y });
			else readAt(event);
		},
		onPointerCancel: release,
		onPointerUp: release,
	};
}
