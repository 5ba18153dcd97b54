import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { call } from "../api/client";
import type { Simulation, SimulationList, SimulationListItem } from "../api/contract";
import { useSession } from "../api/session";
import { mostRuns } from "../lib/compare";
import { runsElsewhere } from "../lib/elsewhere";
import { type Filters, query, sorts, statuses, toggled } from "../lib/filters";
import { liveWords, useLive } from "../lib/live";
import { simulationsRoute } from "../router";
import { shown } from "../ui/curl";
import { SearchNames, Statuses } from "../ui/filters";
import { VirtualList } from "../ui/list";
import { Name, Page, Shown, StatusMark, Time } from "../ui/parts";
import { Views } from "../ui/views";

type Pages = InfiniteData<SimulationList, string | undefined>;

export function Simulations() {
	const filters = simulationsRoute.useSearch();
	const session = useSession();
	const navigate = useNavigate({ from: "/simulations" });
	const set = (change: Filters) => navigate({ search: (old: Filters) => ({ ...old, ...change }), replace: true });
	const { selected: _selected, ...asked } = filters;
	const key = ["simulations", asked];
	const list = useInfiniteQuery({
		queryKey: key,
		queryFn: ({ pageParam, signal }) => call("ListSimulations", { query: { ...query(filters), cursor: pageParam, limit: 100 } }, signal),
		initialPageParam: undefined as string | undefined,
		getNextPageParam: (page) => page.pagination.nextCursor,
		placeholderData: keepPreviousData,
	});
	const [paused, setPaused] = useState(false);
	const { live, fresh } = useChanges(key, !paused, () => list.refetch());
	const selected = (filters.selected ?? "").split(",").filter(Boolean);
	return (
		<Page
			title="Simulations"
			calls={[shown("ListSimulations", { query: { ...query(filters), limit: 100 } }), shown("FollowEvents", { query: { family: "simulations" } }, "Their changes as they happen.")]}
			elsewhere={runsElsewhere()}
			actions={
				<>
					<Link to="/compare" search={{ runs: selected.join(",") }} className="button" disabled={selected.length < 2}>
						Compare {selected.length > 0 && selected.length}
					</Link>
					<Link to="/simulations/new" className="button main">
						New simulation
					</Link>
				</>
			}
		>
			<FilterBar filters={filters} set={set} />
			{session && <Views session={session} filters={filters} show={(saved) => navigate({ search: saved })} />}
			<p className="quiet">
				<span className={`live ${live.state}`}>{liveWords[live.state]}</span>{" "}
				<button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
					{paused ? "Go on" : "Pause"}
				</button>{" "}
				{fresh > 0 && (
					<button type="button" onClick={() => list.refetch()}>
						{fresh} new: show
					</button>
				)}
			</p>
			<Shown of="the simulations" query={list}>
				{(data) => {
					const rows = data.pages.flatMap((page) => page.simulations);
					return rows.length === 0 ? (
						<Empty filtered={Object.keys(asked).length > 0} reset={() => navigate({ search: {} })} />
					) : (
						<VirtualList
							label="Simulations"
							columns={["Compare", "Name", "Status", "Created"]}
							rows={rows}
							id={(row) => row.id}
							cells={(row) => cells(row, selected, (id) => set({ selected: toggled(filters.selected, id) ?? "" }))}
							pages={list}
						/>
					);
				}}
			</Shown>
		</Page>
	);
}

function cells(row: SimulationListItem, selected: string[], toggle: (id: string) => void) {
	const chosen = selected.includes(row.id);
	return [
		<input key="select" type="checkbox" aria-label={`Compare ${row.name}`} checked={chosen} disabled={!chosen && selected.length >= mostRuns} onChange={() => toggle(row.id)} />,
		<Link key="name" to="/simulations/$id" params={{ id: row.id }}>
			<Name>{row.name}</Name>
		</Link>,
		<StatusMark key="status" value={row.status} />,
		<Time key="created" at={row.createdAt} />,
	];
}

/** Keeps the rows of a list current. A simulation that is not in it is counted, or loaded at the list's head. */
function useChanges(key: unknown[], on: boolean, reload: () => void) {
	const client = useQueryClient();
	const changed = useRef(new Set<string>());
	const [fresh, setFresh] = useState(0);
	const [tick, setTick] = useState(0);
	const live = useLive("FollowEvents", { query: { family: "simulations" } }, on, ({ event, data }) => {
		if (!event.startsWith("netsim.simulation.")) return;
		const subject: unknown = JSON.parse(data).subject;
		if (typeof subject === "string") changed.current.add(subject);
		setTick((n) => n + 1);
	});
	// Each event postpones the look-up a little, so that a burst is one.
	useEffect(() => {
		if (changed.current.size === 0) return;
		const timer = setTimeout(async () => {
			const ids = [...changed.current];
			changed.current.clear();
			const known = new Set(client.getQueryData<Pages>(key)?.pages.flatMap((page) => page.simulations.map((row) => row.id)));
			const unknown = ids.filter((id) => !known.has(id)).length;
			const pages = client.getQueryData<Pages>(key)?.pages.length ?? 0;
			if ((unknown > 0 && pages <= 1) || ids.length > 20) {
				setFresh(0);
				return reload();
			}
			setFresh((n) => n + unknown);
			for (const id of ids.filter((one) => known.has(one))) {
				const now = await call("GetSimulation", { path: { sim_id: id } }).catch(() => undefined);
				if (now) client.setQueryData<Pages>(key, (pages) => replaced(pages, now));
			}
		}, 300);
		return () => clearTimeout(timer);
	}, [tick]);
	return { live, fresh };
}

/** The pages with one simulation as it is now. */
function replaced(data: Pages | undefined, now: Simulation): Pages | undefined {
	return (
		data && {
			...data,
			pages: data.pages.map((page) => ({
				...page,
				simulations: page.simulations.map((row) => (row.id === now.id ? { ...row, name: now.name, status: now.status } : row)),
			})),
		}
	);
}

function FilterBar({ filters, set }: { filters: Filters; set: (change: Filters) => void }) {
	return (
		<search className="filters">
			<SearchNames value={filters.search} set={(search) => set({ search })} most={255} />
			<label>
				Order
				<select value={filters.sort ?? "created:desc"} onChange={(event) => set({ sort: event.target.value })}>
					{Object.entries(sorts).map(([value, text]) => (
						<option key={value} value={value}>
							{text}
						</option>
					))}
				</select>
			</label>
			<label>
				From (UTC)
				<input type="date" value={filters.createdAfter ?? ""} onChange={(event) => set({ createdAfter: event.target.value })} />
			</label>
			<label>
				Before (UTC)
				<input type="date" value={filters.createdBefore ?? ""} onChange={(event) => set({ createdBefore: event.target.value })} />
			</label>
			<Statuses of={statuses} value={filters.status} set={(status) => set({ status })} />
		</search>
	);
}

function Empty({ filtered, reset }: { filtered: boolean; reset: () => void }) {
	return filtered ? (
		<p>
			No simulation matches these filters.{" "}
			<button type="button" onClick={reset}>
				Show all
			</button>
		</p>
	) : (
		<p>
			There are no simulations yet. <Link to="/">The start page</Link> has three to begin with.
		</p>
	);
}
