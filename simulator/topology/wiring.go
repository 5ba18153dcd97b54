package topology

import "slices"

// builder places nodes in document order and then wires them tier by tier.
type builder struct {
	fabric  *Fabric
	numbers map[string]int32 // next running number of each component
	ports   []int32          // next free port of each node
	nics    []int32          // of all hosts, in order
	ids     []int32          // 0, 1, 2, …; most bundles use a part of it as their links

	spine  []placedSwitch
	pods   []placedPod
	direct []placedRack // racks directly in the topology
	racks  []placedRack // every rack, in document order
}

type placedSwitch struct {
	Switch
	node int32
}

type placedPod struct {
	switches []placedSwitch
	racks    []placedRack
}

type placedRack struct {
	id       int32
	switches []placedSwitch
	servers  []Server
}

func (b *builder) place(l Layout) {
	b.spine = b.placeSwitches(l.Spine, TierSSW)
	for _, pod := range l.Pods {
		p := placedPod{switches: b.placeSwitches(pod.Switches, TierFSW)}
		for _, rack := range pod.Racks {
			p.racks = append(p.racks, b.placeRack(rack, int32(len(b.pods))))
		}
		b.pods = append(b.pods, p)
	}
	for _, rack := range l.Racks {
		b.direct = append(b.direct, b.placeRack(rack, none))
	}
	f := b.fabric
	f.switches = len(f.Nodes)
	for _, rack := range b.racks {
		for _, server := range rack.servers {
			first := len(b.nics)
			for _, nic := range server.NICs {
				b.nics = append(b.nics, b.node(nic.Component, NICNode, TierNIC))
			}
			f.Hosts = append(f.Hosts, Host{Rack: rack.id, NICs: slices.Clip(b.nics[first:])})
		}
	}
	host := 0
	for _, rack := range b.racks {
		for _, server := range rack.servers {
			f.Hosts[host].Server = b.node(server.Component, ServerNode, TierServer)
			host++
		}
	}
	b.ports = make([]int32, len(f.Nodes))
}

func (b *builder) placeSwitches(list []Switch, tier uint8) []placedSwitch {
	placed := make([]placedSwitch, len(list))
	for i, s := range list {
		placed[i] = placedSwitch{Switch: s, node: b.node(s.Component, SwitchNode, tier)}
	}
	return placed
}

func (b *builder) placeRack(r Rack, pod int32) placedRack {
	placed := placedRack{id: int32(len(b.racks)), switches: b.placeSwitches(r.Switches, TierRSW), servers: r.Servers}
	routed := routedRack{bundle: none, pod: pod}
	for _, s := range placed.switches {
		routed.switches = append(routed.switches, s.node)
	}
	b.fabric.racks = append(b.fabric.racks, routed)
	b.racks = append(b.racks, placed)
	return placed
}

func (b *builder) node(component string, t NodeType, tier uint8) int32 {
	f := b.fabric
	f.Nodes = append(f.Nodes, Node{Component: component, Number: b.numbers[component], Type: t, Tier: tier})
	b.numbers[component]++
	return int32(len(f.Nodes) - 1)
}

func (b *builder) wireServers() {
	host := 0
	for _, rack := range b.racks {
		for _, server := range rack.servers {
			h := &b.fabric.Hosts[host]
			h.Bundle = int32(len(b.fabric.Bundles))
			for n, nic := range server.NICs {
				bundle := b.bundle()
				for _, s := range rack.switches {
					b.link(h.NICs[n], s.node, min(nic.Rate, s.DownRate), nic.Delay, bundle)
				}
			}
			host++
		}
	}
}

// dealer deals links to the upper switches round-robin. Each lower switch starts where the
// one before it stopped, whatever the number of its links. So the numbers of links of any
// two upper switches differ by at most one.
type dealer struct {
	upper []placedSwitch
	next  int
}

func (b *builder) wireRack(rack placedRack, d *dealer) {
	if len(d.upper) == 0 {
		return
	}
	bundle := b.bundle()
	b.fabric.racks[rack.id].bundle = bundle
	for _, s := range rack.switches {
		b.deal(s, d, bundle)
	}
}

func (b *builder) wirePods(l Layout, d *dealer) {
	for p, pod := range b.pods {
		b.fabric.pods = append(b.fabric.pods, none)
		if len(d.upper) == 0 {
			continue
		}
		bundle := b.bundle()
		b.fabric.pods[p] = bundle
		for _, s := range pod.switches {
			if l.Mesh {
				s.PerUpper = max(l.LinksPerPair, 1)
			}
			b.deal(s, d, bundle)
		}
	}
}

func (b *builder) deal(s placedSwitch, d *dealer, bundle int32) {
	links, start := s.UpLinks, d.next
	if s.PerUpper > 0 {
		links, start = s.PerUpper*len(d.upper), 0
	} else {
		d.next = (d.next + links) % len(d.upper)
	}
	for k := range links {
		u := d.upper[(start+k)%len(d.upper)]
		b.link(s.node, u.node, min(s.UpRate, u.DownRate), s.UpLinkDelay, bundle)
	}
}

func (b *builder) bundle() int32 {
	b.fabric.Bundles = append(b.fabric.Bundles, Bundle{})
	return int32(len(b.fabric.Bundles) - 1)
}

func (b *builder) link(lower, upper int32, rate, delay int64, bundle int32) {
	f := b.fabric
	id := int32(len(f.Links))
	f.Links = append(f.Links, Link{
		Lower: lower, Upper: upper, LowerPort: b.ports[lower], UpperPort: b.ports[upper],
		Rate: rate, Delay: delay, Bundle: bundle,
	})
	b.ports[lower]++
	b.ports[upper]++
	s := &f.Bundles[bundle]
	if len(s.Links) == 0 || rate < s.MinRate {
		s.MinRate = rate
	}
	s.Rate += rate
	s.Delay = max(s.Delay, delay)
	n := int32(len(s.Links))
	if int(id) < len(b.ids) && (n == 0 || s.Links[0] == id-n) { // the bundle's links are consecutive
		s.Links = b.ids[id-n : id+1 : id+1]
	} else {
		s.Links = append(s.Links, id)
	}
}
