package presets

import (
	"fmt"

	"netsim/simulator/document"
)

// leafSpine is a network of two tiers, in which every rack switch has links to
// every spine switch.
type leafSpine struct {
	racks, hosts int // hosts per rack
	uplinks      int // per rack switch
	spines       int
	gbps         int
	more         values   // further parameters of every switch
	reports      interval // between reports of the run
}

// small, medium and large are the three sizes. A rack has as many uplinks as
// hosts, so nothing is oversubscribed.
func small() leafSpine {
	return leafSpine{racks: 4, hosts: 16, uplinks: 16, spines: 4, gbps: 400, reports: fine}
}

func medium() leafSpine {
	return leafSpine{racks: 8, hosts: 32, uplinks: 32, spines: 8, gbps: 400, reports: middle}
}

func large() leafSpine {
	return leafSpine{racks: 16, hosts: 64, uplinks: 64, spines: 8, gbps: 400, reports: coarse}
}

// oversubscribed returns the network with ratio times as many hosts as uplinks per rack.
func (n leafSpine) oversubscribed(ratio int) leafSpine {
	n.uplinks = n.hosts / ratio
	return n
}

// spraying returns the network with switches that spray a flow's packets over all paths.
func (n leafSpine) spraying() leafSpine {
	n.more = values{"LoadBalancingMethod": "spray"}
	return n
}

func (n leafSpine) draft() *draft {
	d := &draft{}
	d.switches("leaf", portsOf(n.uplinks, n.hosts, n.gbps), n.more)
	d.switches("spine", portsOf(0, n.racks*n.uplinks/n.spines, n.gbps), n.more)
	d.servers("server", "nic", n.gbps)
	d.rack("rack", refTo(document.TypeSwitch, "leaf", 1), refTo(document.TypeServer, "server", n.hosts))
	d.pod("fabric", refTo(document.TypeSwitch, "spine", n.spines), refTo(document.TypeRack, "rack", n.racks))
	d.topology(2, refTo(document.TypePod, "fabric", 1))
	d.reports(n.reports)
	return d
}

func singleRack(hosts int) *draft {
	d := &draft{}
	d.switches("leaf", portsOf(0, hosts, 400), nil)
	d.servers("server", "nic", 400)
	d.rack("rack", refTo(document.TypeSwitch, "leaf", 1), refTo(document.TypeServer, "server", hosts))
	d.topology(1, refTo(document.TypeRack, "rack", 1))
	d.reports(fine)
	return d
}

// mixedSpeeds has racks of 400G and of 800G servers under a spine of 800G. A
// link runs at the rate of its slower end.
func mixedSpeeds() *draft {
	const hosts, racks, spines = 16, 2, 4
	d := &draft{}
	members := []document.Ref{refTo(document.TypeSwitch, "spine", spines)}
	for _, gbps := range []int{400, 800} {
		suffix := fmt.Sprintf("-%dg", gbps)
		d.switches("leaf"+suffix, portsOf(hosts, hosts, gbps), nil)
		d.servers("server"+suffix, "nic"+suffix, gbps)
		d.rack("rack"+suffix, refTo(document.TypeSwitch, "leaf"+suffix, 1), refTo(document.TypeServer, "server"+suffix, hosts))
		members = append(members, refTo(document.TypeRack, "rack"+suffix, racks))
	}
	d.switches("spine", portsOf(0, 2*racks*hosts/spines, 800), nil)
	d.pod("fabric", members...)
	d.topology(2, refTo(document.TypePod, "fabric", 1))
	d.reports(fine)
	return d
}

// pods is a network of three tiers, each with as much bandwidth up as down.
func pods() *draft {
	const hosts, racks, fabrics, pods, spines = 16, 8, 4, 4, 8
	const down = racks * hosts / fabrics // downlinks of a fabric switch, which has as many uplinks
	d := &draft{}
	d.switches("leaf", portsOf(hosts, hosts, 400), nil)
	d.switches("fabric", portsOf(down, down, 400), nil)
	d.switches("spine", portsOf(0, pods*fabrics*down/spines, 400), nil)
	d.servers("server", "nic", 400)
	d.rack("rack", refTo(document.TypeSwitch, "leaf", 1), refTo(document.TypeServer, "server", hosts))
	d.pod("pod", refTo(document.TypeSwitch, "fabric", fabrics), refTo(document.TypeRack, "rack", racks))
	d.topology(3, refTo(document.TypeSwitch, "spine", spines), refTo(document.TypePod, "pod", pods))
	d.reports(coarse)
	return d
}

// portsOf returns the ports of a switch whose capacity equals the sum of their rates.
func portsOf(up, down, gbps int) ports {
	return ports{up: up, down: down, gbps: gbps, capacityGbps: (up + down) * gbps}
}

// interval is the simulated time between reports, in milliseconds.
type interval float64

// Runs take about ten milliseconds of simulated time. A larger network reports
// less often, so that the result files stay small.
const (
	fine   interval = 0.1
	middle interval = 0.25
	coarse interval = 1
)

func (d *draft) reports(every interval) {
	d.globals(values{
		"SimulationParameters.NDStatsReportInterval": float64(every),
		"SimulationParameters.BeaconReportInterval":  float64(every) / 1000, // in seconds
	})
}
