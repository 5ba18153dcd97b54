import { grouped } from "../lib/decimal";
import { picoseconds } from "../lib/units";
import { useWidth } from "../lib/width";

export type Point = { point: number; timePs: number; price: string; label: string; front: boolean };

/** More dominated points than this are dots of one picture, because nobody steps through as many by keyboard. The table has them. */
const mostButtons = 1500;
const height = 320;
const left = 64;
const bottom = 36;

/** Prices and times of points. Those that another one dominates are grey. */
export function Pareto({ points, currency, chosen, choose }: { points: Point[]; currency: string; chosen: number | undefined; choose: (point: number) => void }) {
	const [ref, width] = useWidth(640);
	if (points.length === 0) return null;
	const times = scale(
		points.map((one) => one.timePs),
		height - bottom,
		20,
	);
	const prices = scale(
		points.map((one) => Number(one.price)),
		left,
		width - 16,
	);
	const front = points.filter((one) => one.front).sort((a, b) => a.timePs - b.timePs);
	const dominated = points.filter((one) => !one.front);
	const many = dominated.length > mostButtons;
	const at = (one: Point) => [prices.at(Number(one.price)), times.at(one.timePs)] as const;
	const named = points.find((one) => one.point === chosen);
	return (
		<figure>
			<svg ref={ref} className="pareto" viewBox={`0 0 ${width} ${height}`} role="group" aria-label={`Price and simulated time of ${points.length} points, ${front.length} of them on the front`}>
				<line x1={left} y1={height - bottom} x2={width} y2={height - bottom} />
				<line x1={left} y1={18} x2={left} y2={height - bottom} />
				<text y={12}>simulated time</text>
				<text x={width} y={height - 4} textAnchor="end">
					price of the fabric ({currency})
				</text>
				<text x={prices.at(prices.least)} y={height - 20} textAnchor="middle">
					{compact(prices.least)}
				</text>
				<text x={prices.at(prices.most)} y={height - 20} textAnchor="middle">
					{prices.most > prices.least && compact(prices.most)}
				</text>
				<text x={left - 4} y={times.at(times.least) + 4} textAnchor="end">
					{short(times.least)}
				</text>
				<text x={left - 4} y={times.at(times.most) + 4} textAnchor="end">
					{times.most > times.least && short(times.most)}
				</text>
				<polyline points={front.map((one) => at(one).join(",")).join(" ")} />
				{many && (
					<path
						className="dominated"
						d={dominated
							.map(
								(one) =>
									`M${at(one)
										.map((part) => part.toFixed(1))
										.join(" ")}h0`,
							)
							.join("")}
					/>
				)}
				{[...(many ? [] : dominated), ...front].map((one) => {
					const [x, y] = at(one);
					return (
						<circle
							key={one.point}
							className={one.front ? "front" : "dominated"}
							cx={x}
							cy={y}
							r={one.point === chosen ? 8 : one.front ? 5 : 4}
							role="button"
							tabIndex={0}
							aria-pressed={one.point === chosen}
							aria-label={`Point ${one.point}: ${one.label}; ${picoseconds(one.timePs)}; ${one.price} ${currency}${one.front ? "" : "; dominated"}`}
							onClick={() => choose(one.point)}
							onKeyDown={(event) => {
								if (event.key !== "Enter" && event.key !== " ") return;
								event.preventDefault();
								choose(one.point);
							}}
						>
							<title>{`${one.label}: ${picoseconds(one.timePs)}, ${one.price} ${currency}`}</title>
						</circle>
					);
				})}
			</svg>
			<figcaption role="status">
				{named ? (
					<>
						Point {named.point}: <bdi>{named.label}</bdi>. {picoseconds(named.timePs)}, {grouped(named.price)} {currency}.{" "}
						{named.front ? "No other point is both no slower and no dearer." : "Another point is no slower and no dearer, and better in one of the two."}
					</>
				) : (
					`Choose a point${many ? " of the front" : ""} to read it. Grey points are dominated${many ? "; the table has them" : ""}.`
				)}
			</figcaption>
		</figure>
	);
}

/** A linear scale from the least to the most of the values. */
function scale(values: number[], from: number, to: number) {
	const least = Math.min(...values);
	const most = Math.max(...values);
	const margin = (to - from) * 0.06;
	return { least, most, at: (value: number) => (most === least ? (from + to) / 2 : from + margin + ((value - least) / (most - least)) * (to - from - 2 * margin)) };
}

function compact(value: number): string {
	return new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 }).format(value);
}

/** A time at the end of an axis, to four digits: the points have all of theirs. */
function short(ps: number): string {
	const power = ps < 1e3 ? 0 : ps < 1e6 ? 1 : ps < 1e9 ? 2 : ps < 1e12 ? 3 : 4;
	return `${Number((ps / 1000 ** power).toPrecision(4))} ${["ps", "ns", "µs", "ms", "s"][power]}`;
}
