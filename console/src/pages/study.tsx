import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { apiBase, call, request } from "../api/client";
import type { StudyResult, Study as StudyType } from "../api/contract";
import { grouped } from "../lib/decimal";
import { fieldLabel } from "../lib/fields";
import { liveWords, useLive } from "../lib/live";
import { bitRate, count, percent, picoseconds } from "../lib/units";
import { type StudySearch, studyRoute } from "../router";
import { Actions } from "../study/actions";
import { shownInput, timeOf } from "../study/heat";
import { HeatMap } from "../study/heatMap";
import { NoEffects, Sensitivity } from "../study/sensitivity";
import { type InputWords, useInputWords } from "../study/units";
import { ConfigurationLink } from "../ui/configurationLink";
import { shown } from "../ui/curl";
import { Choice } from "../ui/filters";
import { VirtualList } from "../ui/list";
import { Pareto } from "../ui/pareto";
import { Page, Short, Shown, StatusMark, TierWords, Time } from "../ui/parts";

export function Study() {
	const { id } = studyRoute.useParams();
	const study = useQuery({ queryKey: ["study", id], queryFn: ({ signal }) => call("GetStudy", { path: { study_id: id } }, signal) });
	return (
		<Page
			title={study.data?.name ?? "Study"}
			actions={study.data && <Actions study={study.data} />}
			calls={[
				shown("GetStudy", { path: { study_id: id } }),
				shown("FollowStudy", { path: { study_id: id } }, "Its progress as it happens."),
				shown("GetStudyResultsCsv", { path: { study_id: id } }, "All points as a table."),
				shown("GetStudyAnalysis", { path: { study_id: id } }),
			]}
		>
			<Shown of="the study" query={study}>
				{(data) => (
					<>
						<Head study={data} />
						<Points study={data} />
					</>
				)}
			</Shown>
		</Page>
	);
}

/** The status and the progress, which follow the events of the study. */
function Head({ study }: { study: StudyType }) {
	const client = useQueryClient();
	const { progress } = study;
	const open = study.status === "running" || progress.unfinished > 0;
	const later = useRef<ReturnType<typeof setTimeout>>(undefined);
	useEffect(() => () => clearTimeout(later.current), []);
	const live = useLive("FollowStudy", { path: { study_id: study.id } }, open, ({ data }) => {
		const now = JSON.parse(data);
		client.setQueryData<StudyType>(["study", study.id], (old) => old && { ...old, status: now.status ?? old.status, progress: now.progress ?? old.progress });
		// Points arrive in bursts; the table is read once for each.
		clearTimeout(later.current);
		later.current = setTimeout(
			() => {
				client.invalidateQueries({ queryKey: ["study", study.id] });
			},
			study.points > 1000 ? 3000 : 500,
		);
	});
	const ended = progress.shared + progress.completed + progress.failed + progress.terminated + progress.invalid;
	const all = ended + progress.waiting + progress.unfinished;
	return (
		<div aria-live="polite">
			<p className="headline">
				<StatusMark value={study.status} /> {open && <span className={`live ${live.state}`}>{liveWords[live.state]}</span>} <Time at={study.createdAt} /> · {count(study.points)} points
				{methodWords(study)}
				{study.reason && ` · ended because of: ${study.reason}`}
			</p>
			{study.base.configuration && (
				<p>
					It varies version {study.base.configuration.configurationVersion} of <ConfigurationLink id={study.base.configuration.configurationId} />, each run for at most{" "}
					{study.base.configuration.duration} of simulated time.
				</p>
			)}
			<p>
				<progress max={all || 1} value={ended} aria-label="Points that have ended" /> {count(progress.completed)} completed,{" "}
				{progress.shared > 0 && `${count(progress.shared)} with the result of an equal run, `}
				{count(progress.unfinished)} running, {count(progress.waiting)} waiting
				{progress.failed + progress.invalid > 0 && `, ${count(progress.failed + progress.invalid)} failed`}
				{progress.terminated > 0 && `, ${count(progress.terminated)} stopped`}
			</p>
		</div>
	);
}

/** How the axes make points, if not each combination of their values is one. */
function methodWords({ method, seed }: StudyType): string {
	return method === "list" ? " of a list" : method === "sample" ? ` of a sample with the seed ${seed ?? 0}` : "";
}

function Points({ study }: { study: StudyType }) {
	const search = studyRoute.useSearch();
	const navigate = useNavigate({ from: "/studies/$id" });
	const words = useInputWords(study);
	const set = (to: StudySearch) => navigate({ search: (old) => ({ ...old, ...to }), replace: true });
	const results = useInfiniteQuery({
		queryKey: ["study", study.id, "results"],
		queryFn: ({ pageParam, signal }) => call("GetStudyResults", { path: { study_id: study.id }, query: { limit: 1000, cursor: pageParam } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
	});
	const analysis = useQuery({
		queryKey: ["study", study.id, "analysis"],
		queryFn: ({ signal }) => call("GetStudyAnalysis", { path: { study_id: study.id } }, signal),
		enabled: study.progress.completed + study.progress.shared > 0,
	});
	const workloads = analysis.data?.workloads ?? [];
	const workload = workloads[Number(search.workload)] ?? workloads[0];
	const front = new Set(workloads.flatMap((one) => one.front));
	const axes = study.axes.map((axis) => axis.field);
	const chosen = search.point === undefined ? undefined : Number(search.point);
	const choose = (point: number) => set({ point: String(point) });
	return (
		<Shown of="the points" query={results}>
			{(data) => {
				const rows = data.pages.flatMap((page) => page.results);
				const drawn = !results.hasNextPage || results.isError; // once, not again with each page
				return (
					<>
						{workloads.length > 1 && workload && (
							<div className="filters">
								<Choice
									name="Workload of the plot"
									value={String(workloads.indexOf(workload))}
									values={workloads.map((one, number) => [String(number), inWords(one.inputs, words)])}
									set={(number) => set({ workload: number })}
								/>
							</div>
						)}
						{!drawn && <p className="quiet">The plots are drawn when all points are loaded.</p>}
						{workload && <NoEffects axes={workload.axes} />}
						{drawn && analysis.data && workload && (
							<Pareto
								points={rows.flatMap((row) => {
									const time = timeOf(row);
									const same = Object.entries(workload.inputs).every(([field, value]) => shownInput(row.inputs[field]) === shownInput(value));
									return time === undefined || !row.fabric || !same
										? []
										: [{ point: row.point, timePs: time, price: row.fabric.price, label: inWords(row.inputs, words), front: front.has(row.point) }];
								})}
								currency={analysis.data.priceList.currency}
								chosen={chosen}
								choose={choose}
							/>
						)}
						{analysis.data?.priceList.assumption && <p className="quiet">{analysis.data.priceList.assumption}</p>}
						{drawn && <HeatMap study={study} words={words} points={rows} search={search} set={set} chosen={chosen} choose={choose} currency={analysis.data?.priceList.currency} />}
						<h2>Points</h2>
						<p>
							All points as a table: <Export study={study.id} format="csv" /> or <Export study={study.id} format="parquet" />.
						</p>
						<TierWords before={rows.flatMap(({ figures }) => figures?.bottleneck ?? [])} />
						<VirtualList
							label="Points"
							fields={new Set(axes)}
							columns={["Point", ...axes, "Status", "Simulated time", "Goodput", "Price", "Limited by"]}
							rows={rows}
							id={(row) => String(row.point)}
							cells={(row) => cells(row, axes, words, front, search.point, analysis.data?.priceList.currency)}
							pages={results}
							whole={!results.isError} // the plots are of all points
						/>
						{workload && <Sensitivity axes={workload.axes} />}
					</>
				);
			}}
		</Shown>
	);
}

function Export({ study, format }: { study: string; format: "csv" | "parquet" }) {
	const { path } = request("GetStudyResults", { path: { study_id: study }, query: { format } });
	return (
		<a href={apiBase + path} download={`${study}.${format}`}>
			{format === "csv" ? "CSV" : "Parquet"}
		</a>
	);
}

/** The values of fields, with what these are called. */
function inWords(inputs: Record<string, unknown>, words: InputWords): string {
	return Object.entries(inputs)
		.map(([field, value]) => `${fieldLabel(field)} ${words(field, value)}`)
		.join(", ");
}

function cells(row: StudyResult, axes: string[], words: InputWords, front: Set<number>, chosen: string | undefined, currency: string | undefined) {
	const time = timeOf(row);
	return [
		<span key="point" className={front.has(row.point) ? "front" : undefined} aria-current={chosen === String(row.point) || undefined}>
			{row.simulationId ? (
				<Link to="/simulations/$id" params={{ id: row.simulationId }}>
					{row.point}
				</Link>
			) : (
				row.point
			)}
			{front.has(row.point) && <span title="No other point is both no slower and no dearer"> ★</span>}
		</span>,
		...axes.map((axis) => <bdi key={axis}>{words(axis, row.inputs[axis])}</bdi>),
		<span key="status" title={row.reason ?? row.failureReason}>
			<StatusMark value={row.status} />
		</span>,
		time === undefined ? (
			""
		) : (
			<span key="time" className="amount">
				{picoseconds(time)}
			</span>
		),
		row.figures ? <Short key="goodput" of={bitRate(row.figures.goodputBps)} /> : "",
		row.fabric ? `${grouped(row.fabric.price)}${currency ? ` ${currency}` : ""}` : "",
		row.figures ? <Short key="limit" of={`${row.figures.bottleneck} ${percent(row.figures.bottleneckShare)}`} digits={3} /> : (row.failureReason ?? row.reason ?? ""),
	];
}
