package accuracy

import (
	"fmt"
	"slices"

	"netsim/simulator/document"
	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// network is what the comparison of a run needs of its network.
type network struct {
	kind    string // "" if no case has such a network
	unknown string // if kind is "": why
	hosts   int
	Ranges           // of the network, without ranks and bytes
	outside []string // what no compared case has
}

// leaf is a rack with servers, and the switches above it.
type leaf struct {
	*topology.Rack
	above []topology.Switch
}

// networkOf reads the network from a configuration, without wiring it.
func networkOf(d *document.Document) (*network, error) {
	layout, err := d.Layout()
	if err != nil {
		return nil, err
	}
	options, err := d.Options(0)
	if err != nil {
		return nil, err
	}
	leaves, pods := leavesOf(&layout)
	n := &network{}
	for _, l := range leaves {
		n.hosts += len(l.Servers)
		if len(l.Switches) != 1 {
			n.unknown = "the network has racks with several switches"
			return n, nil
		}
	}
	if len(leaves) == 0 {
		n.unknown = "the network has no server"
		return n, nil
	}
	if len(leaves) > 1 {
		if err := n.balancing(layout, options.Switches); err != nil {
			return nil, err
		}
	} else {
		n.kind = OneSwitch
	}
	if n.kind != OneSwitch || options.Transport == engine.Ideal {
		n.transport(options.Transport)
	}
	if n.kind == "" {
		return n, nil
	}
	if pods > 1 {
		n.add("three tiers of switches, compared two")
	}
	for i, l := range leaves {
		x := n.leaf(l, &options)
		if i > 0 {
			x = n.Join(&x)
		}
		n.Ranges = x
	}
	return n, nil
}

// leavesOf returns the racks with servers, and the number of pods that have one. Racks
// that are directly in the topology are in one pod, whose switches are the spine.
func leavesOf(l *topology.Layout) (leaves []leaf, pods int) {
	add := func(racks []topology.Rack, above []topology.Switch) {
		before := len(leaves)
		for i := range racks {
			if len(racks[i].Servers) > 0 {
				leaves = append(leaves, leaf{&racks[i], above})
			}
		}
		if len(leaves) > before {
			pods++
		}
	}
	for i := range l.Pods {
		add(l.Pods[i].Racks, l.Pods[i].Switches)
	}
	add(l.Racks, l.Spine)
	return leaves, pods
}

// transport chooses among the kinds of networks by the transport of the NICs.
func (n *network) transport(t engine.Transport) {
	switch {
	case t == engine.Ideal:
		n.kind, n.unknown = "", "the NICs are of a model without queues, pauses and loss"
	case t == engine.Lossless && n.kind == Sprayed:
		n.kind, n.unknown = "", "switches spray the packets of lossless NICs"
	case t == engine.Lossless && n.kind == Hashed:
		n.kind = Lossless
	}
}

// balancing sets the kind of a network of several switches. What a switch without a choice
// does with equal paths has no effect. If it could have one, the network is wired to see it.
func (n *network) balancing(l topology.Layout, options []engine.Switch) error {
	used := slices.Clone(l.Spine)
	for _, p := range l.Pods {
		used = append(used, p.Switches...)
		for _, r := range p.Racks {
			used = append(used, r.Switches...)
		}
	}
	for _, r := range l.Racks {
		used = append(used, r.Switches...)
	}
	sprays := 0
	for i := range used {
		s := engine.Switch{}
		if at := slices.IndexFunc(options, func(o engine.Switch) bool { return o.Component == used[i].Component }); at >= 0 {
			s = options[at]
		}
		switch {
		case s.Routing == engine.Flowlet:
			n.unknown = "switches move flows at flowlets"
			return nil
		case s.Routing == engine.Spray:
			sprays++
		case s.Hash == engine.CRC32 || s.Hash == engine.Plain:
			n.add("switches that hash without salt, compared with salt")
		}
	}
	switch sprays {
	case len(used):
		n.kind = Sprayed
	case 0:
		n.kind = Hashed
	default:
		return n.mixed(l, options)
	}
	return nil
}

// mixed sets the kind of a network in which some switches spray and others hash.
func (n *network) mixed(l topology.Layout, options []engine.Switch) error {
	f, err := topology.Build(l)
	if err != nil {
		return err
	}
	var sprays, hashes bool
	for i, forks := range f.Forks() {
		at := slices.IndexFunc(options, func(o engine.Switch) bool { return o.Component == f.Nodes[i].Component })
		spray := at >= 0 && options[at].Routing == engine.Spray
		sprays, hashes = sprays || forks && spray, hashes || forks && !spray
	}
	switch {
	case sprays && hashes:
		n.unknown = "some switches spray packets and others do not"
	case sprays:
		n.kind = Sprayed
	default:
		n.kind = Hashed
	}
	return nil
}

// leaf returns the ranges of a rack.
func (n *network) leaf(l leaf, options *engine.Options) (x Ranges) {
	s := &l.Switches[0]
	var total int64
	first := true
	join := func(to *Range, value int64) {
		if first {
			*to = At(value)
		} else {
			*to = to.Join(At(value))
		}
	}
	for _, server := range l.Servers {
		if len(server.NICs) != 1 {
			n.add("servers with several NICs, compared one")
		}
		for _, nic := range server.NICs {
			rate := min(nic.Rate, s.DownRate)
			total += rate
			packet := engine.DefaultPacket()
			if at := slices.IndexFunc(options.NICs, func(o engine.NIC) bool { return o.Component == nic.Component }); at >= 0 {
				packet = options.NICs[at].Packet
			}
			join(&x.Rate, rate)
			join(&x.Delay, nic.Delay)
			join(&x.MSS, packet.MSS)
			join(&x.Header, packet.Header)
			first = false
		}
	}
	if n.kind == OneSwitch {
		return x
	}
	x.Hosts = At(int64(len(l.Servers)))
	up := int64(s.UpLinks)
	if s.PerUpper > 0 {
		up = int64(s.PerUpper * len(l.above))
	}
	if up != int64(len(l.above)) {
		n.add(fmt.Sprintf("leaf switches with %d links to %d switches, compared one to each", up, len(l.above)))
	}
	rate := s.UpRate
	for i := range l.above {
		rate = min(rate, l.above[i].DownRate)
	}
	if up > 0 && rate > 0 {
		x.Over = At((100*total + up*rate - 1) / (up * rate)) // rounded up
	}
	x.Rate = x.Rate.Join(At(rate))
	x.Delay = x.Delay.Join(At(s.UpLinkDelay))
	return x
}

// add adds to what no compared case has, once.
func (n *network) add(what string) {
	if !slices.Contains(n.outside, what) {
		n.outside = append(n.outside, what)
	}
}
