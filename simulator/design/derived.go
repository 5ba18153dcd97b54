package design

import "netsim/simulator/topology"

// Names of what a derived configuration declares.
const (
	nameSpine  = "ssw"
	nameFabric = "fsw"
	nameRack   = "rsw"
	nameServer = "server"
	nameNIC    = "nic"
)

// derivedDocument writes a derived fabric down. Racks fill in rank order, so
// beside full racks there may be one that is partly filled and some that are
// empty; racks and pods that are equal share a declaration.
type derivedDocument struct {
	topology.Derivation
	doc   Document
	racks map[int]string    // by the number of servers
	pods  map[[2]int]string // by the numbers of full racks and servers of the next one
}

func (b *derivedDocument) build() {
	b.racks, b.pods = map[int]string{}, map[[2]int]string{}
	r := b.Resolved
	rsw := b.Tiers[0]
	b.doc.Components = append(b.doc.Components,
		switchOf(nameRack, rsw.UplinksPerSwitch, rsw.DownlinksPerSwitch, r))
	top := Topology{Type: "clos", TopologyTiers: b.TierCount, AllowedComponents: Allowed(HolderTopology)}
	switch b.TierCount {
	case 1:
		top.Components = b.rackRefs(rsw.SwitchCount, b.TotalHosts)
	case 2:
		fsw := b.Tiers[1]
		b.doc.Components = append(b.doc.Components, switchOf(nameFabric, 0, fsw.DownlinksPerSwitch, r))
		top.Components = []Ref{b.podRef(fsw.SwitchCount, rsw.SwitchCount, b.TotalHosts)}
	default:
		fsw, ssw := b.Tiers[1], b.Tiers[2]
		b.doc.Components = append(b.doc.Components,
			switchOf(nameFabric, fsw.UplinksPerSwitch, fsw.DownlinksPerSwitch, r),
			switchOf(nameSpine, 0, ssw.DownlinksPerSwitch, r))
		top.Components = b.podRefs(ssw.SwitchCount, fsw.SwitchCount/b.Pods, rsw.SwitchCount/b.Pods)
	}
	b.doc.Components = append(b.doc.Components, serverOf(nameServer, nameNIC), nicOf(nameNIC, r.NicNetworkPortSpeed))
	b.doc.Topology = top
}

// podRefs places the spine and then the pods, neighbours that are equal as one.
func (b *derivedDocument) podRefs(spine, switches, racks int) []Ref {
	refs := []Ref{reference(TypeSwitch, nameSpine, switchModel, spine)}
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

func (b *derivedDocument) podRef(switches, racks, hosts int) Ref {
	key := [2]int{hosts / b.RanksPerRack, hosts % b.RanksPerRack}
	name, declared := b.pods[key]
	if !declared {
		name = numbered(TypePod, len(b.pods))
		b.pods[key] = name
		refs := append([]Ref{reference(TypeSwitch, nameFabric, switchModel, switches)}, b.rackRefs(racks, hosts)...)
		b.doc.Containers = append(b.doc.Containers, container(TypePod, name, podModel, refs...))
	}
	return reference(TypePod, name, podModel, 1)
}

// rackRefs places racks that hold the hosts: full ones, at most one that is
// partly filled, and empty ones.
func (b *derivedDocument) rackRefs(racks, hosts int) []Ref {
	full := hosts / b.RanksPerRack
	part := hosts % b.RanksPerRack
	var refs []Ref
	place := func(servers, count int) {
		if count > 0 {
			refs = append(refs, reference(TypeRack, b.rack(servers), rackModel, count))
		}
	}
	place(b.RanksPerRack, full)
	if part > 0 {
		place(part, 1)
		full++
	}
	place(0, racks-full)
	return refs
}

// rack declares a rack of so many servers.
func (b *derivedDocument) rack(servers int) string {
	name, declared := b.racks[servers]
	if declared {
		return name
	}
	name = numbered(TypeRack, len(b.racks))
	b.racks[servers] = name
	refs := []Ref{reference(TypeSwitch, nameRack, switchModel, 1)}
	if servers > 0 {
		refs = append(refs, reference(TypeServer, nameServer, serverModel, servers))
	}
	b.doc.Containers = append(b.doc.Containers, container(TypeRack, name, rackModel, refs...))
	return name
}

func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return name + "-" + string(rune('a'+n-1)) // there are at most four kinds of rack and of pod
}
