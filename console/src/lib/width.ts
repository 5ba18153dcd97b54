import { useCallback, useState } from "react";

/** The width of an element in pixels, by its ref. A drawing that is as wide has texts of the size of the page, on a phone too. */
export function useWidth(usual: number) {
	const [width, setWidth] = useState(usual);
	const ref = useCallback((element: Element | null) => {
		if (!element) return;
		const resized = new ResizeObserver(([entry]) => {
			const shown = Math.round(entry?.contentRect.width ?? 0);
			if (shown > 0) setWidth(shown); // it is 0 while the element is hidden
		});
		resized.observe(element);
		return () => resized.disconnect();
	}, []);
	return [ref, width] as const;
}
