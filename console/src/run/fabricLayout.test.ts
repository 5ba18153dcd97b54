import { expect, test } from "vitest";
import { type Fabric, readFabric } from "./fabricData";
import { tierAt } from "./fabricDraw";
import { layOut, nearest, placed, podAt, rungOf, strip, sumUp, visible } from "./fabricLayout";

const head = "component_name,tier,node_id,dev_id,peer_component_name,peer_tier,peer_node_id,peer_dev_id,linkspeed_Gbps\n";
const tiers = { ssw: 0, fsw: 1, rsw: 2, nic: 3 } as const;
const ids = new Map<string, number>();
const id = (name: string) => {
	if (!ids.has(name)) ids.set(name, ids.size);
	return ids.get(name);
};

/** A fabric of links as "nic-0 rsw-0", with 100 Gbit/s each. */
function fabric(links: string[]): Fabric {
	const tier = (name: string) => tiers[name.split("-")[0] as keyof typeof tiers];
	return readFabric(
		head +
			links
				.map(
					(link, i) =>
						`${link
							.split(" ")
							.map((name) => `${name},${tier(name)},${id(name)},${i}`)
							.join(",")},100\n`,
				)
				.join(""),
	);
}

// Two pods of two racks; the last rack has no host. Switches of a tier are joined to all of the next in their pod.
const links = [
	..."nic-0 rsw-0,nic-1 rsw-0,nic-2 rsw-1,nic-3 rsw-2".split(","),
	...[0, 1].flatMap((pod) => [0, 1].flatMap((rack) => [0, 1].map((up) => `rsw-${2 * pod + rack} fsw-${2 * pod + up}`))),
	...[0, 1, 2, 3].map((fsw) => `fsw-${fsw} ssw-0`),
];
const two = fabric(links);
const layout = layOut(two);
const number = (name: string) => two.names.indexOf(name);
const whole = { scale: 1, from: 0 };
const extent = (name: string) => [layout.from[number(name)], layout.to[number(name)], layout.place[number(name)]];

test("hosts are below their rack, racks in their pod, and the highest tier is over all", () => {
	expect(layout.pods.map(({ name, from, to, nodes }) => [name, from, to, ...nodes])).toEqual([
		["pod 0", 0, 0.5, 0, 2, 2, 3],
		["pod 1", 0.5, 1, 0, 2, 2, 1],
	]);
	expect(extent("rsw-1")).toEqual([0.25, 0.5, 0.5]);
	expect(extent("nic-1")).toEqual([0.125, 0.25, 0.5]);
	expect(extent("nic-3")).toEqual([0.5, 0.75, 0.5]);
	expect(extent("fsw-2")).toEqual([0.5, 1, 0.25]);
	expect(extent("ssw-0")).toEqual([0, 1, 0.5]);
	expect(layout.pod[number("ssw-0")]).toBe(-1);
	expect([podAt(layout, 0.49), podAt(layout, 0.51), podAt(layout, 1)]).toEqual([0, 1, 1]);
});

test("below one tier of switches a pod is a rack, and without one all is one pod", () => {
	const racks = fabric(["nic-0 rsw-0", "nic-1 rsw-1", "rsw-0 fsw-0", "rsw-1 fsw-0"]);
	expect(layOut(racks).pods.map(({ name }) => name)).toEqual(["rsw-0", "rsw-1"]);
	const alone = fabric(["nic-0 rsw-0", "nic-1 rsw-0"]);
	expect(layOut(alone).pods).toMatchObject([{ name: "rsw-0", from: 0, to: 1, nodes: [1, 2] }]);
	expect(rungOf(alone, layOut(alone), whole, 1)).toBe("host");
});

test("a host without a rack has a column of its own, and a pod without racks too", () => {
	const odd = fabric(["nic-0 rsw-0", "nic-1 fsw-0", "rsw-0 fsw-0", "fsw-0 ssw-0", "fsw-1 ssw-0"]);
	const of = layOut(odd);
	const at = (name: string) => [of.from[odd.names.indexOf(name)], of.to[odd.names.indexOf(name)]];
	expect(of.pods.map(({ from, to }) => to - from)).toEqual([expect.closeTo(2 / 3), expect.closeTo(1 / 3)]);
	expect(at("nic-1")).toEqual([expect.closeTo(1 / 3), expect.closeTo(2 / 3)]);
	expect(at("fsw-1")).toEqual([expect.closeTo(2 / 3), 1]);
});

test("the rung is the most that the width has room for", () => {
	const many = fabric([
		...Array.from({ length: 2048 }, (_nic, i) => `nic-${i} rsw-${i >> 4}`),
		...Array.from({ length: 128 }, (_rsw, i) => `rsw-${i} fsw-${i >> 5}`),
		...[0, 1, 2, 3].map((fsw) => `fsw-${fsw} ssw-0`),
	]);
	const of = layOut(many);
	expect(of.pods).toHaveLength(4);
	const rung = (width: number, scale = 1) => rungOf(many, of, { scale, from: 0 }, width);
	expect([rung(479), rung(480), rung(2047), rung(2048)]).toEqual(["tier", "pod", "pod", "host"]);
	expect([rung(300, 1), rung(300, 2), rung(300, 7)]).toEqual(["tier", "pod", "host"]);
});

test("what is above a view is drawn within it", () => {
	// The right half of pod 0: rack 1 and its host.
	const view = { scale: 4, from: 0.25 };
	expect(["nic-2", "rsw-1", "fsw-0", "ssw-0"].map((name) => visible(layout, number(name), view))).toEqual([true, true, true, true]);
	expect(["nic-1", "rsw-0", "rsw-2", "fsw-2"].map((name) => visible(layout, number(name), view))).toEqual([false, false, false, false]);
	expect(placed(layout, number("rsw-1"), view, 400)).toEqual({ x: 200, each: 400 });
	expect(placed(layout, number("fsw-0"), view, 400)).toEqual({ x: 100, each: 200 });
	expect(placed(layout, number("fsw-1"), view, 400).x).toBe(300);
	expect(placed(layout, number("ssw-0"), view, 400).x).toBe(200);
	const racks = { from: two.first[2] as number, to: two.first[3] as number };
	expect(nearest(layout, racks, view, 400, 10)).toBe(number("rsw-1"));
	expect(nearest(layout, racks, whole, 400, 390)).toBe(number("rsw-3"));
});

test("sums are of all links up from a tier, and of those of a pod", () => {
	const percent = new Uint8Array(two.lower.length * 2);
	const up = (link: string) => 2 * links.indexOf(link);
	percent[up("rsw-0 fsw-0")] = 255;
	percent[up("rsw-1 fsw-1") + 1] = 51;
	percent[up("fsw-2 ssw-0") + 1] = 102;
	const { tiers, pods, busiest } = sumUp(two, layout, percent);
	expect(tiers[2]).toEqual({ links: 8, rate: 800, up: 100, down: 20, mean: expect.closeTo(0.15), busiest: 1 });
	expect(pods[0]?.[2]).toMatchObject({ links: 4, rate: 400, up: 100, down: 20, mean: expect.closeTo(0.3) });
	expect(pods[1]?.[2]).toMatchObject({ links: 4, up: 0, busiest: 0 });
	expect(pods[1]?.[1]).toMatchObject({ links: 2, rate: 200, down: 40, busiest: 0.4 });
	expect(tiers[0]?.links).toBe(0);
	expect([busiest[number("rsw-0")], busiest[number("rsw-1")], busiest[number("rsw-2")]]).toEqual([255, 51, 0]);

	const racks = { from: two.first[2] as number, to: two.first[3] as number };
	expect([...strip(layout, racks, busiest, whole, 4)]).toEqual([255, 51, 0, 0]);
	expect([...strip(layout, racks, busiest, whole, 2)]).toEqual([255, 0]);
	expect([...strip(layout, racks, busiest, { scale: 2, from: 0.25 }, 4)]).toEqual([51, 51, 0, 0]);
	const hosts = { from: two.first[3] as number, to: two.first[4] as number };
	expect([...strip(layout, hosts, busiest, whole, 8)]).toEqual([0, 0, 0, 0, 0, 0, -1, -1]);
});

test("a point is on a tier, or between two", () => {
	expect([22, 30, 60, 127, 338].map((y) => tierAt(4, y, 360))).toEqual([
		{ tier: 0, between: false },
		{ tier: 0, between: false },
		{ tier: 1, between: true },
		{ tier: 1, between: false },
		{ tier: 3, between: false },
	]);
});
