import { useEffect, useRef } from "react";

/** Calls back with the turns of a wheel over an element. React listens passively, and the page must not scroll. */
export function useWheel(element: { current: HTMLElement | null }, turned: (event: WheelEvent, about: number) => void) {
	const call = useRef(turned);
	call.current = turned;
	useEffect(() => {
		const over = element.current;
		const listen = (event: WheelEvent) => {
			const box = (over as HTMLElement).getBoundingClientRect();
			event.preventDefault();
			call.current(event, (event.clientX - box.left) / box.width);
		};
		over?.addEventListener("wheel", listen, { passive: false });
		return () => over?.removeEventListener("wheel", listen);
	}, [element]);
}

/** By how much a turn of the wheel zooms. */
export const zoomOf = ({ deltaY }: WheelEvent) => 2 ** (-deltaY / 300);
