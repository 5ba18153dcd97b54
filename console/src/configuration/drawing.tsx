import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { call } from "../api/client";
import type { TopologyValidation } from "../api/contract";
import { useDebounced } from "../lib/debounced";
import { tierName } from "../lib/tiers";
import { count } from "../lib/units";
import { useWidth } from "../lib/width";
import { Facts, Shown } from "../ui/parts";
import { type Document, drawn } from "./document";

type Network = { nodes: { name: string; tier: number; count: number }[]; links: { from: string; to: string; count: number; gbps: number }[] };

/** The network of a document, as the service unfolds it. */
export function Drawing({ document }: { document: Document }) {
	// While a person writes, it waits, and what was drawn before stays.
	const body = useDebounced(drawn(document), 400);
	const drawing = useQuery({
		queryKey: ["drawing", body],
		queryFn: ({ signal }) => call("ValidateTopology", { body }, signal),
		staleTime: Number.POSITIVE_INFINITY,
		placeholderData: keepPreviousData,
	});
	return (
		<section aria-labelledby="network">
			<h2 id="network">The network</h2>
			<Shown of="the drawing" query={drawing}>
				{(topology) => <Unfolded topology={topology} />}
			</Shown>
		</section>
	);
}

function Unfolded({ topology }: { topology: TopologyValidation }) {
	if (!topology.topologyMap) {
		return (
			<>
				<p>There is no drawing, because the network cannot be unfolded:</p>
				<ul>
					{topology.validation.errors.map((finding) => (
						<li key={`${finding.path} ${finding.message}`}>
							<bdi>{finding.message}</bdi>
						</li>
					))}
				</ul>
			</>
		);
	}
	return (
		<>
			<Tiers map={JSON.parse(topology.topologyMap)} />
			<Facts of={topology.simulationParameters.map(({ label, value }) => [label, count(value)])} />
		</>
	);
}

const tierNames = ["SSW", "FSW", "RSW", "hosts"];
const step = 96;
const left = 60;

/** The first word of what a tier is called, for which there is room below its name. */
function tierWord(name: string): string {
	const words = tierName(name);
	return words === name ? "" : (words.split(" ")[0] ?? "");
}

/** The components of each tier from the top down, and the links between them. */
function Tiers({ map }: { map: Network }) {
	const tiers = [...new Set(map.nodes.map((node) => node.tier))].sort((a, b) => a - b);
	const [ref, width] = useWidth(480);
	const widest = Math.max(...tiers.map((tier) => map.nodes.filter((node) => node.tier === tier).length));
	const box = Math.max(Math.min((width - left) / widest - 8, 140), 24);
	const letters = Math.floor((box - 40) / 7);
	const places = placed(map, tiers, width);
	const label = map.nodes.map((node) => `${count(node.count)} ${node.name}`).join(", ");
	return (
		<svg ref={ref} className="sketch" viewBox={`0 0 ${width} ${tiers.length * step}`} role="img" aria-label={`The network: ${label}`}>
			{map.links.map((link, index) => {
				const [from, to] = [places.get(link.from), places.get(link.to)];
				if (!from || !to) return null;
				return (
					<g key={`${link.from} ${link.to} ${index}`}>
						<line className="wire" x1={from.x} y1={from.y - 16} x2={to.x} y2={to.y + 16} />
						<text x={(from.x + to.x) / 2 + 6} y={(from.y + to.y) / 2 + 4}>
							{count(link.count)} × {link.gbps} Gbit/s
						</text>
					</g>
				);
			})}
			{map.nodes.map((node) => {
				const { x, y } = places.get(`${node.tier} ${node.name}`) ?? { x: 0, y: 0 };
				return (
					<g key={`${node.tier} ${node.name}`}>
						<rect className="node" x={x - box / 2} y={y - 16} width={box} height={32} rx={6} />
						<text className="on-node" x={x} y={y + 4} textAnchor="middle">
							{count(node.count)} × {node.name.length > letters ? `${node.name.slice(0, letters - 1)}…` : node.name}
							<title>{node.name}</title>
						</text>
					</g>
				);
			})}
			{tiers.map((tier, row) => (
				<text key={tier} x={4} y={row * step + 34}>
					{tierNames[tier] ?? `tier ${tier}`}
					<tspan className="quiet" x={4} dy={15}>
						{tierWord(tierNames[tier] ?? "")}
					</tspan>
				</text>
			))}
		</svg>
	);
}

/** Where the components are: by tier and name, and by name alone, which is the first of that name. */
function placed({ nodes }: Network, tiers: number[], width: number): Map<string, { x: number; y: number }> {
	const places = new Map<string, { x: number; y: number }>();
	for (const [row, tier] of tiers.entries()) {
		const beside = nodes.filter((node) => node.tier === tier);
		for (const [index, node] of beside.entries()) {
			const place = { x: left + ((width - left) * (index + 0.5)) / beside.length, y: row * step + 30 };
			places.set(`${tier} ${node.name}`, place);
			if (!places.has(node.name)) places.set(node.name, place);
		}
	}
	return places;
}
