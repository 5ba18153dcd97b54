package presets

import (
	"netsim/simulator/document"
	"netsim/simulator/topology"
)

// Names of the declarations of a derived configuration.
const (
	nameSpine  = "ssw"
	nameFabric = "fsw"
	nameRack   = "rsw"
	nameServer = "server"
	nameNIC    = "nic"
)

// derived builds the document of a derived fabric. Racks fill in rank order, so there may
// be one partly filled rack and some empty ones after the full ones. Equal racks and equal
// pods share a declaration.
type derived struct {
	topology.Derivation
	draft
	racks map[int]string    // names, by the number of servers
	pods  map[[2]int]string // names, by the numbers of full racks and of servers in the partly filled one
}

func (b *derived) build() {
	b.racks, b.pods = map[int]string{}, map[[2]int]string{}
	rsw := b.Tiers[0]
	var top []document.Ref
	b.tier(nameRack, rsw)
	switch b.TierCount {
	case 1:
		top = b.rackRefs(rsw.SwitchCount, b.TotalHosts)
	case 2:
		fsw := b.Tiers[1]
		b.tier(nameFabric, fsw)
		top = []document.Ref{b.podRef(fsw.SwitchCount, rsw.SwitchCount, b.TotalHosts)}
	default:
		fsw, ssw := b.Tiers[1], b.Tiers[2]
		b.tier(nameFabric, fsw)
		b.tier(nameSpine, ssw)
		top = b.podRefs(ssw.SwitchCount, fsw.SwitchCount/b.Pods, rsw.SwitchCount/b.Pods)
	}
	b.servers(nameServer, nameNIC, b.Resolved.NicNetworkPortSpeed)
	b.topology(b.TierCount, top...)
}

// tier declares the switches of a tier; their upward and downward rates are equal.
func (b *derived) tier(name string, t topology.Tier) {
	b.switches(name, ports{
		up: t.UplinksPerSwitch, down: t.DownlinksPerSwitch,
		gbps: b.Resolved.SwitchLinkSpeed, capacityGbps: b.Resolved.SwitchingCapacityGbps,
	}, nil)
}

// podRefs returns references to the spine and the pods; equal consecutive pods share one.
func (b *derived) podRefs(spine, switches, racks int) []document.Ref {
	refs := []document.Ref{refTo(document.TypeSwitch, nameSpine, spine)}
	left := b.TotalHosts
	for range b.Pods {
		hosts := min(left, racks*b.RanksPerRack)
		left -= hosts
		pod := b.podRef(switches, racks, hosts)
		if last := &refs[len(refs)-1]; last.Name == pod.Name {
			last.Count++
		} else {
			refs = append(refs, pod)
		}
	}
	return refs
}

func (b *derived) podRef(switches, racks, hosts int) document.Ref {
	key := [2]int{hosts / b.RanksPerRack, hosts % b.RanksPerRack}
	name, declared := b.pods[key]
	if !declared {
		name = numbered(document.TypePod, len(b.pods))
		b.pods[key] = name
		refs := append([]document.Ref{refTo(document.TypeSwitch, nameFabric, switches)}, b.rackRefs(racks, hosts)...)
		b.pod(name, refs...)
	}
	return refTo(document.TypePod, name, 1)
}

// rackRefs returns references to the racks that hold the hosts: full racks, at
// most one that is partly filled, and empty ones.
func (b *derived) rackRefs(racks, hosts int) []document.Ref {
	full := hosts / b.RanksPerRack
	part := hosts % b.RanksPerRack
	var refs []document.Ref
	add := func(servers, count int) {
		if count > 0 {
			refs = append(refs, refTo(document.TypeRack, b.rackOf(servers), count))
		}
	}
	add(b.RanksPerRack, full)
	if part > 0 {
		add(part, 1)
		full++
	}
	add(0, racks-full)
	return refs
}

// rackOf returns the name of the rack with this many servers. It declares the rack on
// first use.
func (b *derived) rackOf(servers int) string {
	name, declared := b.racks[servers]
	if declared {
		return name
	}
	name = numbered(document.TypeRack, len(b.racks))
	b.racks[servers] = name
	refs := []document.Ref{refTo(document.TypeSwitch, nameRack, 1)}
	if servers > 0 {
		refs = append(refs, refTo(document.TypeServer, nameServer, servers))
	}
	b.rack(name, refs...)
	return name
}

func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return name + "-" + string(rune('a'+n-1)) // there are at most four kinds of rack and of pod
}
