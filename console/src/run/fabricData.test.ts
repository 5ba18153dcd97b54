import { expect, test } from "vitest";
import { meanLoads, readFabric, readLoads } from "./fabricData";
import { clamped, zoomed } from "./view";

const head =
	"component_name,component_type,tier,subtier,node_id,net_device,dev_id,peer_component_name,peer_component_type,peer_tier,peer_subtier,peer_node_id,peer_net_device,peer_dev_id,linkspeed_Gbps,prop_delay_ns\n";
const topology = `${head}nic-0,nic,3,-1,2,eth0,0,rsw-0,switch,2,-1,0,eth0,0,400.000000000,100.000\nnic-1,nic,3,-1,3,eth0,0,rsw-1,switch,2,-1,1,eth0,0,400.000000000,100.000\nrsw-0,switch,2,-1,0,eth1,1,fsw-0,switch,1,-1,9,eth0,0,800.000000000,500.000\n`;

test("nodes are in rows by tier, the highest first", () => {
	const fabric = readFabric(topology);
	expect(fabric.names).toEqual(["fsw-0", "rsw-0", "rsw-1", "nic-0", "nic-1"]);
	expect(fabric.tierNames).toEqual(["FSW", "RSW", "NIC"]);
	expect(fabric.first).toEqual([0, 1, 3, 5]);
	expect([...fabric.lower]).toEqual([3, 4, 1]);
	expect([...fabric.upper]).toEqual([1, 2, 0]);
});

test("loads belong to the interface that sent", () => {
	const fabric = readFabric(topology);
	const stats = "sim_time_sec,component_name,ifid,node_id,tx_link_percent_util";
	const loads = readLoads(fabric, [
		`${stats}\n0.000001000000,nic-0,0,2,100.000000\n0.000001000000,rsw-0,1,0,50.000000\n`,
		`${stats}\n0.000003000000,nic-0,0,2,25.000000\n0.000003000000,gone,7,7,25.000000\n`,
	]);
	expect(loads.times).toEqual([0.000001, 0.000003]);
	expect(loads.percent.map((one) => [...one])).toEqual([
		[255, 0, 0, 0, 127, 0],
		[64, 0, 0, 0, 0, 0],
	]);
	expect(meanLoads(fabric, loads)[0]).toBe(128);
});

test("a record of another form is refused", () => {
	expect(() => readFabric("a,b\n1,2\n")).toThrow("no column component_name");
});

test("the point under the pointer stays where it is", () => {
	const view = zoomed({ scale: 2, from: 0.25 }, 2, 0.5);
	expect(view.scale).toBe(4);
	expect(view.from + 0.5 / view.scale).toBeCloseTo(0.5);
	expect(clamped({ scale: 0.1, from: 3 })).toEqual({ scale: 1, from: 0 });
	expect(zoomed({ scale: 1, from: 0 }, 0.5, 0.9)).toEqual({ scale: 1, from: 0 });
});
