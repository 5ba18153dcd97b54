import type { DerivedTopology } from "../api/contract";
import { tierName } from "../lib/tiers";
import { count } from "../lib/units";
import { useWidth } from "../lib/width";

type Row = { name: string; nodes: number; below?: { links: number; gbps: number } };

/** The tiers of a fabric from the top down, with the links below each. */
export function rows(topology: DerivedTopology): Row[] {
	const links = { RSW: topology.links.hostToRsw, FSW: topology.links.rswToFsw, SSW: topology.links.fswToSsw };
	const tiers: Row[] = topology.tiers.map((tier) => ({
		name: tier.name,
		nodes: tier.switchCount,
		below: { links: links[tier.name as keyof typeof links], gbps: tier.downlinkDataRateGbps },
	}));
	const order = ["SSW", "FSW", "RSW"];
	tiers.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
	return [...tiers, { name: "hosts", nodes: topology.totalHosts }];
}

const step = 84;
const most = 64;

/**
 * A fabric by tiers, of which only the numbers are known. It draws no single link, because the
 * preview does not say which switches a link joins.
 */
export function Sketch({ topology }: { topology: DerivedTopology }) {
	const [ref, width] = useWidth(600);
	const tiers = rows(topology);
	const label = tiers.map((tier) => `${count(tier.nodes)} ${tier.name}`).join(", ");
	return (
		<svg ref={ref} className="sketch" viewBox={`0 0 ${width} ${tiers.length * step - 24}`} role="img" aria-label={`The fabric: ${label}`}>
			{tiers.map((tier, index) => {
				const y = index * step + 28;
				const span = (row: Row) => Math.min(width - 170, Math.max(24, Math.min(row.nodes, most) * 8));
				const next = tiers[index + 1];
				const middle = 90 + (width - 170) / 2;
				const own = span(tier) / 2;
				const shown = Math.min(tier.nodes, most);
				const each = (own * 2) / shown;
				return (
					<g key={tier.name}>
						{next && tier.below && (
							<>
								<path className="wires" d={`M${middle - own} ${y + 16}L${middle + own} ${y + 16}L${middle + span(next) / 2} ${y + step}L${middle - span(next) / 2} ${y + step}Z`} />
								<text x={middle} y={y + step / 2 + 12} textAnchor="middle">
									{count(tier.below.links)} links of {count(tier.below.gbps)} Gbit/s
								</text>
							</>
						)}
						{Array.from({ length: shown }, (_unused, at) => (
							<rect key={at} className="node" x={middle - own + at * each + 0.5} y={y} width={Math.max(each - 1, 1)} height={16} />
						))}
						<text x={0} y={y + 13}>
							{count(tier.nodes)} {tier.name}
						</text>
						{tierName(tier.name) !== tier.name && (
							<text className="quiet" x={0} y={y + 28}>
								{tierName(tier.name, tier.nodes)}
							</text>
						)}
					</g>
				);
			})}
		</svg>
	);
}
