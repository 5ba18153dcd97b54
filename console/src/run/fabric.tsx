import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { call } from "../api/client";
import type { Simulation } from "../api/contract";
import { useDark } from "../lib/dark";
import { useDebounced } from "../lib/debounced";
import { tierName } from "../lib/tiers";
import { count, picoseconds } from "../lib/units";
import { type RunSearch, runRoute } from "../router";
import { Failure, Loading, Tiers, TimeAxis } from "../ui/parts";
import { useDrag } from "./drag";
import { offscreen, useDrawing } from "./drawing";
import type { Asked, Loaded } from "./fabric.worker";
import type { Rung } from "./fabricLayout";
import { byKey, clamped, readView, type View, writeView, zoomed } from "./view";
import { useWheel, zoomOf } from "./wheel";
import { Zoom } from "./zoom";

/** The links to the files of a record. */
function useFiles(id: string, record: string) {
	return useQuery({
		queryKey: ["results", id, "files", record],
		queryFn: async ({ signal }) => (await call("GetResults", { path: { sim_id: id }, query: { metrics: record, limit: 100 } }, signal)).files.map((file) => file.downloadUrl),
		retry: false,
		structuralSharing: false, // links of the same second are equal, and a second try is to begin a new picture all the same
		staleTime: 600_000,
	});
}

export function Fabric({ run }: { run: Simulation }) {
	const topology = useFiles(run.id, "topology-report");
	const loads = useFiles(run.id, "nd-stats");
	const error = topology.error ?? loads.error;
	if (error) return <Failure of="The fabric needs the files of the results" error={error} />;
	if (!topology.data || !loads.data) return <Loading of="the fabric" />;
	if (topology.data.length === 0) return <p>The results of this run have no record of its fabric. Runs of remote engines need not have one.</p>;
	return <Picture key={run.id} topology={topology.data} loads={loads.data} again={() => [topology, loads].map((files) => files.refetch())} />;
}

function Picture({ topology, loads, again }: { topology: string[]; loads: string[]; again: () => void }) {
	const search = runRoute.useSearch();
	const navigate = useNavigate({ from: "/simulations/$id" });
	const [view, setView] = useState<View>(() => readView(search.zoom));
	const dark = useDark();
	const element = useRef<HTMLDivElement>(null);
	const links = useRef<HTMLDivElement>(null);
	const begin = useCallback(
		(within: HTMLElement) => {
			const own = new Worker(new URL("./fabric.worker.ts", import.meta.url), { type: "module", name: "fabric" });
			const pictures = [offscreen(links.current), offscreen(within.querySelector(".heat"))] as const;
			own.postMessage({ type: "load", canvas: pictures[0], heat: pictures[1], topology, loads } satisfies Asked, [...pictures]);
			return own;
		},
		[topology, loads],
	);
	const { worker, loaded, failed, picked, drawn, width } = useDrawing<Loaded>(element, begin);
	const interval = Math.min(Number(search.t ?? -1), (loaded?.times.length ?? 0) - 1);

	useEffect(() => {
		if (width > 0) worker?.postMessage({ type: "draw", width, height: 360, ratio: devicePixelRatio, dark, view, interval } satisfies Asked);
	}, [worker, width, dark, view, interval]);

	const settled = useDebounced(view, 300);
	useEffect(() => {
		navigate({ search: (old: RunSearch) => ({ ...old, zoom: writeView(settled) }), replace: true });
	}, [settled, navigate]);

	const pointer = useDrag({
		read: (at) => worker?.postMessage({ type: "pick", ...at } satisfies Asked),
		held: () => view.from,
		dragged: (from, by) => setView(({ scale }) => clamped({ scale, from: from - by.x / width / scale })),
	});
	useWheel(links, (event, about) => setView((old) => zoomed(old, zoomOf(event), about)));
	const key = (event: KeyboardEvent) => {
		const next = byKey(view, event.key);
		if (!next) return;
		setView(next);
		event.preventDefault();
	};
	return (
		<section aria-label="Fabric">
			{failed && <Failure of="The fabric cannot be drawn" error={failed} retry={again} />}
			{loaded ? (
				<p>
					{loaded.tiers.map(({ name, count: nodes }) => `${count(nodes)} ${tierName(name) === name ? name : `${tierName(name, nodes)} (${name})`}`).join(", ")}; {count(loaded.links)} links. A link has
					the colour of its busier direction: <Scale /> of its rate.
				</p>
			) : (
				!failed && <Loading of="the fabric" />
			)}
			<div ref={element} className="fabric">
				<div ref={links} className="links" role="application" aria-label="The fabric. Plus and minus zoom, the arrows move, 0 shows all." tabIndex={0} onKeyDown={key} {...pointer} />
				<p className={picked ? "quiet picked" : "quiet"} role="status" data-frame={drawn?.frame} data-milliseconds={drawn?.milliseconds} data-rung={drawn?.rung}>
					{picked || "Point at the fabric, or tap it, to read a load."}
				</p>
				<Zoom view={view} set={setView} />
				{drawn?.rung && (
					<p className="quiet">
						{rungWords[drawn.rung]}
						{drawn.rung === "host" && view.scale > 1 && " Switches above those in view are drawn closer together."}
					</p>
				)}
				{loaded && loaded.times.length > 0 && (
					<label>
						{interval < 0 ? "Mean over the run" : `The interval until ${picoseconds(Math.round((loaded.times[interval] ?? 0) * 1e12))} of simulated time`}
						<input
							type="range"
							min={-1}
							max={loaded.times.length - 1}
							value={interval}
							onChange={(event) => navigate({ search: (old: RunSearch) => ({ ...old, t: event.target.value === "-1" ? "" : event.target.value }), replace: true })}
						/>
					</label>
				)}
				<h2>Heat over time</h2>
				<p className="legend">
					<span>
						Colours are parts of the rate: <Scale />
					</span>
					<span>Rows are directions of links, by the tiers that they join; columns are intervals of simulated time.</span>
				</p>
				<div className="plot heat-plot">
					<div className="bands">
						{loaded?.bands.map((band) => (
							<span key={band}>
								<Tiers>{band}</Tiers>
							</span>
						))}
					</div>
					<div className="heat" role="img" aria-label={`Heat over time: links of ${loaded?.bands.join(", then ") ?? "each tier"}; columns are intervals of simulated time`} />
					{loaded && loaded.times.length > 0 && <TimeAxis end={Math.round((loaded.times.at(-1) ?? 0) * 1e12)} />}
				</div>
			</div>
		</section>
	);
}

const strips = "A strip between two tiers has a column for each node below it, in the colour of its busiest link up; where it is empty there is no node.";

/** What a frame shows, and where there is more. */
const rungWords: Record<Rung, string> = {
	tier: `Drawn by tier. ${strips} Zoom in for more.`,
	pod: `Drawn by pod: the racks that only spine switches join to the others. ${strips} Zoom in for hosts and links.`,
	host: "Drawn by host: each link is a line.",
};

/** What the colours mean. */
function Scale() {
	return (
		<span className="scaled">
			0 % <span className="scale" /> 100 %
		</span>
	);
}
