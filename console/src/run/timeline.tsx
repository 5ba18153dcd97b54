import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type PointerEvent, Suspense, useEffect, useRef, useState } from "react";
import { call } from "../api/client";
import type { Simulation } from "../api/contract";
import { useDark } from "../lib/dark";
import { current } from "../lib/reload";
import { count, picoseconds } from "../lib/units";
import { runRoute } from "../router";
import { Failure, Loading, Tiers, TierWords, TimeAxis } from "../ui/parts";
import { useResultData } from "./data";
import { kinds as kindsOf } from "./kinds";

/** The summary timeline of the results: 200 bins of equal time. */
type Plot = {
	endTimePs: number | bigint;
	bins: number;
	omittedActivities: number;
	completeUntilPs: number | bigint;
	ranks: { firstRank: number; lastRank: number; computingPercent: number[]; hostComputingPercent: number[]; sendingPercent: number[]; waitingPercent: number[] }[];
	collectives: { collectiveId: number; group: string; operationType: string; startTimePs: number; endTimePs: number }[];
	moreCollectives: number;
	links: { name: string; percent: number[] }[];
};

export function Timeline({ run }: { run: Simulation }) {
	const { density } = runRoute.useSearch();
	const spans = density === "spans";
	const plot = useResultData<Plot>(run.id, "timeline");
	const trace = useMutation({
		mutationFn: () => call("GetResultData", { path: { sim_id: run.id }, query: { metric: "timeline", mode: "perfetto" } }),
		onSuccess: ({ file }) => location.assign(file.downloadUrl),
	});
	return (
		<section aria-label="Timeline">
			<nav className="tabs" aria-label="Densities of the timeline">
				<Density of={run} text="Overview" chosen={!spans} />
				<Density of={run} text="Every span" density="spans" chosen={spans} />
			</nav>
			{spans ? (
				<Suspense fallback={<Loading of="the spans" />}>
					<Spans run={run} />
				</Suspense>
			) : plot.data ? (
				<Drawn plot={plot.data} />
			) : plot.error ? (
				<Failure of="There is no timeline" error={plot.error} />
			) : (
				<Loading of="the timeline" />
			)}
			<p>
				The trace is one that ui.perfetto.dev opens:{" "}
				<button type="button" onClick={() => trace.mutate()} disabled={trace.isPending}>
					{trace.isPending ? "It is made …" : "Download the trace"}
				</button>
			</p>
			{trace.error && <Failure of="The trace cannot be made" error={trace.error} />}
		</section>
	);
}

const Spans = lazy(current(() => import("./spans").then(({ Spans }) => ({ default: Spans }))));

function Density({ of, text, density = "", chosen }: { of: Simulation; text: string; density?: string; chosen: boolean }) {
	return (
		<Link
			to="/simulations/$id"
			params={{ id: of.id }}
			search={{ view: "timeline", ...(density && { density }) }}
			className={chosen ? "active" : ""}
			aria-current={chosen ? "page" : undefined}
			activeProps={{}}
		>
			{text}
		</Link>
	);
}

const kinds = [
	["computingPercent", kindsOf.computing.text, kindsOf.computing.colour],
	["hostComputingPercent", kindsOf["host computing"].text, kindsOf["host computing"].colour],
	["sendingPercent", kindsOf.sending.text, kindsOf.sending.colour],
] as const;

function Drawn({ plot }: { plot: Plot }) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const dark = useDark();
	const [text, setText] = useState("");
	const rowHeight = plot.ranks.length <= 32 ? 16 : 8;
	const height = plot.ranks.length * rowHeight;
	// A label needs the height of two or three rows.
	const labelled = Math.ceil(24 / rowHeight);
	useEffect(() => {
		const context = canvas.current?.getContext("2d");
		if (!context) return;
		context.clearRect(0, 0, plot.bins, height);
		plot.ranks.forEach((row, index) => {
			for (let bin = 0; bin < plot.bins; bin++) {
				context.fillStyle = dark ? "#232a33" : "#e8ecf1";
				context.fillRect(bin, index * rowHeight, 1, rowHeight - 1);
				for (const [member, , colour] of kinds) {
					const percent = row[member][bin] ?? 0;
					if (percent === 0) continue;
					context.globalAlpha = 0.15 + 0.85 * Math.min(percent / 100, 1);
					context.fillStyle = colour;
					context.fillRect(bin, index * rowHeight, 1, rowHeight - 1);
					context.globalAlpha = 1;
				}
			}
		});
	}, [plot, dark, height, rowHeight]);
	const end = Number(plot.endTimePs);
	const read = (event: PointerEvent) => {
		const box = event.currentTarget.getBoundingClientRect();
		const bin = Math.min(Math.floor(((event.clientX - box.left) / box.width) * plot.bins), plot.bins - 1);
		const row = plot.ranks[Math.floor((event.clientY - box.top) / rowHeight)];
		if (row)
			setText(
				`${ranks(row)} at ${picoseconds(Math.round((bin / plot.bins) * end))}: ${kinds.map(([member, name]) => `${row[member][bin] ?? 0} % ${name}`).join(", ")}, ${row.waitingPercent[bin] ?? 0} % waiting`,
			);
	};
	return (
		<>
			<p className="legend">
				{kinds.map(([, name, colour]) => (
					<span key={name}>
						<span className="swatch" style={{ background: colour }} /> {name}
					</span>
				))}
				<span>
					<span className="swatch idle" /> waiting
				</span>
			</p>
			<div className="plot">
				<span className="caption">rank</span>
				<div className="rows" style={{ height }} aria-hidden="true">
					{plot.ranks.map(
						(row, index) =>
							index % labelled === 0 && (
								<span key={row.firstRank} style={{ top: index * rowHeight }}>
									{row.firstRank === row.lastRank ? row.firstRank : `${row.firstRank}–${row.lastRank}`}
								</span>
							),
					)}
				</div>
				<canvas
					ref={canvas}
					className="timeline"
					width={plot.bins}
					height={height}
					style={{ height }}
					role="img"
					aria-label={`What ${plot.ranks.length} rows of ranks did over ${picoseconds(plot.endTimePs)}`}
					onPointerMove={read}
					onPointerDown={read}
				/>
				<TimeAxis end={plot.endTimePs} />
			</div>
			<p className="quiet" role="status">
				{text || `Rows are ranks; a column is 1/${plot.bins} of the time, from 0 to ${picoseconds(plot.endTimePs)} of simulated time. Point at a row, or tap it, to read it.`}
			</p>
			{plot.omittedActivities > 0 && (
				<p className="quiet">
					{count(plot.omittedActivities)} activities are not in the record; it is complete until {picoseconds(plot.completeUntilPs)}.
				</p>
			)}
			<Links plot={plot} />
			<Collectives plot={plot} end={end} />
		</>
	);
}

function ranks({ firstRank, lastRank }: { firstRank: number; lastRank: number }): string {
	return firstRank === lastRank ? `rank ${firstRank}` : `ranks ${firstRank} to ${lastRank}`;
}

/** The utilisation of each tier, highest and mean, as lines. */
function Links({ plot }: { plot: Plot }) {
	const means = plot.links.filter((link) => link.name.endsWith(" mean"));
	if (means.length === 0) return null;
	return (
		<>
			<h2>Links, mean utilisation</h2>
			<TierWords />
			<ul className="lines">
				{means.map((link) => (
					<li key={link.name}>
						<span>
							<Tiers>{link.name.replace(/ mean$/, "")}</Tiers>
						</span>
						<svg viewBox={`0 0 ${plot.bins} 100`} preserveAspectRatio="none" role="img" aria-label={`${link.name}: at most ${Math.max(...link.percent)} %`}>
							<polyline points={link.percent.map((percent, bin) => `${bin},${100 - percent}`).join(" ")} vectorEffect="non-scaling-stroke" />
						</svg>
						<span>at most {Math.max(...link.percent)} %</span>
					</li>
				))}
			</ul>
		</>
	);
}

const shown = 50;

function Collectives({ plot, end }: { plot: Plot; end: number }) {
	if (plot.collectives.length === 0) return null;
	const more = plot.collectives.length - shown + plot.moreCollectives;
	return (
		<>
			<h2>Collectives</h2>
			<ul className="lines">
				{plot.collectives.slice(0, shown).map((one) => (
					<li key={one.collectiveId}>
						<span>
							<bdi>
								{one.operationType} {one.collectiveId}, group {one.group}
							</bdi>
						</span>
						<svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label={`from ${picoseconds(one.startTimePs)} to ${picoseconds(one.endTimePs)}`}>
							<rect className="sending" x={(one.startTimePs / end) * 1000} width={Math.max(((one.endTimePs - one.startTimePs) / end) * 1000, 1)} y={20} height={60} />
						</svg>
						<span>{picoseconds(one.endTimePs - one.startTimePs)}</span>
					</li>
				))}
			</ul>
			{more > 0 && <p className="quiet">{count(more)} more are in the trace.</p>}
		</>
	);
}
