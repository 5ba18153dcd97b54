import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { call } from "../api/client";
import type { Simulation } from "../api/contract";
import { useDark } from "../lib/dark";
import { useDebounced } from "../lib/debounced";
import { count, picoseconds } from "../lib/units";
import { type RunSearch, runRoute } from "../router";
import { Choice } from "../ui/filters";
import { Failure, Loading, TimeAxis } from "../ui/parts";
import { useDrag } from "./drag";
import { offscreen, useDrawing } from "./drawing";
import { kinds } from "./kinds";
import type { Asked, Loaded } from "./spans.worker";
import { rowHeight } from "./trace";
import { byKey, clamped, readView, type View, writeView, zoomed } from "./view";
import { useWheel, zoomOf } from "./wheel";
import { Zoom } from "./zoom";

const height = 30 * rowHeight;
const most = 1e9; // a nanosecond of a second is as wide as the picture

/** Every computation, transfer and wait of a run, as the trace for Perfetto has them. */
export function Spans({ run }: { run: Simulation }) {
	const trace = useQuery({
		queryKey: ["results", run.id, "trace"],
		queryFn: async ({ signal }) => (await call("GetResultData", { path: { sim_id: run.id }, query: { metric: "timeline", mode: "perfetto" } }, signal)).file,
		structuralSharing: false, // as in Fabric
		staleTime: 600_000,
		retry: false,
	});
	if (trace.error) return <Failure of="The trace cannot be made" error={trace.error} />;
	if (!trace.data) return <Loading of="the trace" />;
	return <Picture key={run.id} trace={trace.data} again={trace.refetch} />;
}

function Picture({ trace, again }: { trace: { downloadUrl: string }; again: () => void }) {
	const search = runRoute.useSearch();
	const navigate = useNavigate({ from: "/simulations/$id" });
	const [view, setView] = useState<View>(() => readView(search.zoom, most));
	const [row, setRow] = useState(() => Math.max(Math.floor(Number(search.row ?? 0)) || 0, 0));
	const dark = useDark();
	const element = useRef<HTMLDivElement>(null);
	const begin = useCallback(
		(within: HTMLElement) => {
			const own = new Worker(new URL("./spans.worker.ts", import.meta.url), { type: "module", name: "spans" });
			const canvas = offscreen(within);
			own.postMessage({ type: "load", canvas, trace: trace.downloadUrl } satisfies Asked, [canvas]);
			return own;
		},
		[trace],
	);
	const { worker, loaded, failed, picked, drawn, width } = useDrawing<Loaded>(element, begin);
	const lastRow = Math.max((loaded?.lanes ?? 0) - height / rowHeight, 0);
	const move = (by: number) => setRow((old) => Math.min(Math.max(old + by, 0), lastRow));

	useEffect(() => {
		if (width > 0) worker?.postMessage({ type: "draw", width, height, ratio: devicePixelRatio, dark, view, row } satisfies Asked);
	}, [worker, width, dark, view, row]);

	const settled = useDebounced(`${writeView(view)};${row}`, 300);
	useEffect(() => {
		const [zoom = "", row] = settled.split(";");
		navigate({ search: (old: RunSearch) => ({ ...old, zoom, row: row === "0" ? "" : (row ?? "") }), replace: true });
	}, [settled, navigate]);

	useWheel(element, (event, about) => {
		if (event.shiftKey) move(Math.sign(event.deltaY || event.deltaX) * 3);
		else setView((old) => zoomed(old, zoomOf(event), about, most));
	});
	const pointer = useDrag({
		read: (at) => worker?.postMessage({ type: "pick", ...at } satisfies Asked),
		held: () => ({ left: view.from, top: row }),
		dragged: ({ left, top }, by) => {
			setView(({ scale }) => clamped({ scale, from: left - by.x / width / scale }, most));
			setRow(Math.min(Math.max(top - Math.round(by.y / rowHeight), 0), lastRow));
		},
	});
	const key = (event: KeyboardEvent) => {
		const next = byKey(view, event.key, most);
		const rows = { ArrowUp: -1, ArrowDown: 1, PageUp: -height / rowHeight, PageDown: height / rowHeight }[event.key];
		if (next) setView(next);
		else if (rows) move(rows);
		else return;
		event.preventDefault();
	};
	const from = view.from * (loaded?.until ?? 0);
	const until = from + (loaded?.until ?? 0) / view.scale;
	return (
		<>
			{failed && <Failure of="The trace cannot be drawn" error={failed} retry={again} />}
			{loaded ? (
				<div className="filters">
					<p>
						{count(loaded.spans)} spans in {count(loaded.lanes)} rows; {picoseconds(Math.round(from * 1000))} to {picoseconds(Math.round(until * 1000))}.
					</p>
					<Choice
						name="First row"
						value={String(loaded.owners.findLast((owner) => owner.row <= row)?.row ?? 0)}
						values={loaded.owners.map((owner) => [String(owner.row), owner.name])}
						set={(first) => setRow(Math.min(Number(first), lastRow))}
					/>
					<Zoom view={view} set={setView} most={most} rows={{ up: row > 0, down: row < lastRow, move: (pages) => move((pages * height) / rowHeight) }} />
				</div>
			) : (
				!failed && <Loading of="the trace" />
			)}
			<p className="legend">
				{Object.entries(kinds).map(([kind, { colour, text }]) => (
					<span key={kind}>
						<span className="swatch" style={{ background: colour }} /> {text}
					</span>
				))}
				<span>A rank has a row for each kind, and more for transfers that overlap.</span>
			</p>
			<div className="read">
				<div className="plot spans">
					<div className="rows" style={{ height }} aria-hidden="true">
						{loaded?.owners
							.filter((owner) => owner.row >= row && owner.row < row + height / rowHeight)
							.map((owner) => (
								<span key={owner.row} style={{ top: (owner.row - row) * rowHeight }}>
									{owner.name}
								</span>
							))}
					</div>
					<div
						ref={element}
						className="canvas"
						style={{ height }}
						role="application"
						aria-label="Every span. Plus and minus zoom, left and right move in time, up and down by a row, 0 shows all of the time."
						tabIndex={0}
						onKeyDown={key}
						{...pointer}
					/>
					{loaded && <TimeAxis start={Math.round(from * 1000)} end={Math.round(until * 1000)} />}
				</div>
				<p className={picked ? "quiet picked" : "quiet"} role="status" data-frame={drawn?.frame} data-milliseconds={drawn?.milliseconds}>
					{picked || "Point at a span, or tap it, to read it. The wheel and two fingers zoom; with Shift the wheel moves the rows."}
				</p>
			</div>
		</>
	);
}
