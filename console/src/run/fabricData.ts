/**
 * The fabric of a run and what its links carried, from the records topology-report and
 * nd-stats of the results. Rows are read from text without making an object of each.
 */
export type Fabric = {
	/** Names of nodes, by their number here: first those of the highest tier. */
	names: string[];
	/** Nodes of tier t are those from first[t] up to first[t + 1]. */
	first: number[];
	tierNames: string[];
	/** Link i joins lower[i] and upper[i], and has rate[i] Gbit/s. */
	lower: Uint32Array;
	upper: Uint32Array;
	rate: Float64Array;
	/** Interfaces by node and port in the files: 2i sends up on link i, 2i+1 down. */
	ends: Map<string, number>;
};

const tierNames = ["SSW", "FSW", "RSW", "NIC"];

/** Reads the lines of a CSV record without quotes, and calls back with the fields of each. */
function rows(text: string, columns: string[], each: (fields: string[], at: number[]) => void): void {
	const end = text.indexOf("\n");
	const head = text.slice(0, end < 0 ? text.length : end).split(",");
	const at = columns.map((name) => {
		const column = head.indexOf(name);
		if (column < 0) throw new Error(`the record has no column ${name}`);
		return column;
	});
	for (let from = end + 1; end >= 0 && from < text.length; ) {
		let to = text.indexOf("\n", from);
		if (to < 0) to = text.length;
		if (to > from) each(text.slice(from, to).split(","), at);
		from = to + 1;
	}
}

export function readFabric(text: string): Fabric {
	const nodes = new Map<number, { name: string; tier: number }>();
	const links: { lower: number; upper: number; ports: [string, string]; rate: number }[] = [];
	const columns = ["component_name", "tier", "node_id", "dev_id", "peer_component_name", "peer_tier", "peer_node_id", "peer_dev_id", "linkspeed_Gbps"];
	rows(text, columns, (fields, at) => {
		const get = (column: number) => fields[at[column] as number] ?? "";
		const lower = Number(get(2));
		const upper = Number(get(6));
		if (!nodes.has(lower)) nodes.set(lower, { name: get(0), tier: Number(get(1)) });
		if (!nodes.has(upper)) nodes.set(upper, { name: get(4), tier: Number(get(5)) });
		links.push({ lower, upper, ports: [`${lower}/${get(3)}`, `${upper}/${get(7)}`], rate: Number(get(8)) });
	});
	const order = [...nodes].sort(([a, x], [b, y]) => x.tier - y.tier || a - b);
	const numbers = new Map(order.map(([id], number) => [id, number]));
	const tiers = [...new Set(order.map(([, node]) => node.tier))];
	const ends = new Map<string, number>();
	links.forEach(({ ports }, i) => {
		ends.set(ports[0], 2 * i);
		ends.set(ports[1], 2 * i + 1);
	});
	return {
		names: order.map(([, node]) => node.name),
		first: [...tiers.map((tier) => order.findIndex(([, node]) => node.tier === tier)), order.length],
		tierNames: tiers.map((tier) => tierNames[tier] ?? `tier ${tier}`),
		lower: Uint32Array.from(links, (link) => numbers.get(link.lower) as number),
		upper: Uint32Array.from(links, (link) => numbers.get(link.upper) as number),
		rate: Float64Array.from(links, (link) => link.rate),
		ends,
	};
}

/** What links carried: interval by interval, for each interface a percentage in steps of 100/255. */
export type Loads = { times: number[]; percent: Uint8Array[] };

export function readLoads(fabric: Fabric, shards: string[]): Loads {
	const loads: Loads = { times: [], percent: [] };
	let now = "";
	let percent = new Uint8Array();
	for (const shard of shards) {
		rows(shard, ["sim_time_sec", "node_id", "ifid", "tx_link_percent_util"], (fields, at) => {
			const time = fields[at[0] as number] ?? "";
			if (time !== now) {
				now = time;
				percent = new Uint8Array(fabric.lower.length * 2);
				loads.times.push(Number(time));
				loads.percent.push(percent);
			}
			const end = fabric.ends.get(`${fields[at[1] as number]}/${fields[at[2] as number]}`);
			if (end !== undefined) percent[end] = Math.min(255, Math.round(Number(fields[at[3] as number]) * 2.55));
		});
	}
	return loads;
}

/** The mean over all intervals, weighted by how long each is. */
export function meanLoads(fabric: Fabric, loads: Loads): Uint8Array {
	const sums = new Float64Array(fabric.lower.length * 2);
	let before = 0;
	loads.percent.forEach((percent, interval) => {
		const span = (loads.times[interval] as number) - before;
		before = loads.times[interval] as number;
		for (let end = 0; end < sums.length; end++) sums[end] = (sums[end] as number) + span * (percent[end] as number);
	});
	return Uint8Array.from(sums, (sum) => (before > 0 ? Math.round(sum / before) : 0));
}
