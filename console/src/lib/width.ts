import { useCallback, useState } from "react";

/** The width of an element in pixels, by its ref. A drawing that is as wide has texts of the size of the page, on a phone too. */
export function useWidth(usual: number) {
	const [width, setWidth] = useState(usual);
	const ref = useCallback((element: Element | null) => {
		if (!element) return;
		const resized = new ResizeObserver(([entry]) => entry && setWidth(Math.max(Math.round(entry.contentRect.width), 1)));
		resized.observe(element);
		return () => resized.disconnect();
	}, []);
	return [ref, width] as const;
}
