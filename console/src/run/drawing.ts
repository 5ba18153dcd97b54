import { type RefObject, useEffect, useState } from "react";
import type { Rung } from "./fabricLayout";
import { type Failed, failed as told } from "./failure";

/** A frame, how long it took, and of the fabric in how much detail it is. */
export type Drawn = { type: "drawn"; frame: number; milliseconds: number; rung?: Rung };

/** What every worker that draws replies, besides what it says when it has loaded. */
export type Reply<Loaded> = ({ type: "loaded" } & Loaded) | Failed | Drawn | { type: "picked"; text: string };

/**
 * A worker that draws in an element: what it has replied, and how wide the element is. begin starts it,
 * and must be the same function until another picture is wanted.
 */
export function useDrawing<Loaded>(element: RefObject<HTMLElement | null>, begin: (within: HTMLElement) => Worker) {
	const [worker, setWorker] = useState<Worker>(); // another one is to be told again what to draw
	const [loaded, setLoaded] = useState<Loaded>();
	const [failed, setFailed] = useState<Error>();
	const [picked, setPicked] = useState("");
	const [drawn, setDrawn] = useState<Drawn>();
	const [width, setWidth] = useState(0);
	useEffect(() => {
		const within = element.current;
		if (!within) return;
		const own = begin(within);
		setFailed(undefined);
		setLoaded(undefined);
		own.onmessage = ({ data }: MessageEvent<Reply<Loaded>>) => {
			if (data.type === "loaded") setLoaded(data);
			else if (data.type === "failed") setFailed(told(data));
			else if (data.type === "picked") setPicked(data.text);
			else setDrawn(data);
		};
		own.onerror = () => setFailed(new Error("its worker cannot be started"));
		setWorker(own);
		const resized = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
		resized.observe(within);
		return () => {
			resized.disconnect();
			own.terminate();
		};
	}, [element, begin]);
	return { worker, loaded, failed, picked, drawn, width };
}

/** A new canvas as the only child of an element, for a worker: one that a worker has taken cannot be taken again. */
export function offscreen(within: Element | null): OffscreenCanvas {
	const canvas = document.createElement("canvas");
	within?.replaceChildren(canvas);
	return canvas.transferControlToOffscreen();
}
