package presets

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"netsim/simulator/document"
	"netsim/simulator/topology"
)

// FromLayout returns a document whose fabric has the nodes and links of a layout, and an
// application without ranks, to which a traceset can be attached. Its switches forward as
// fast as their ports allow. Equal parts share a declaration. If switches, servers or NICs of
// one name differ, the later ones are numbered: renamed has their names in the layout, by
// those in the document.
//
// It returns an error for a layout that cannot be wired.
func FromLayout(l topology.Layout) (d *document.Document, renamed map[string]string, err error) {
	fabric, err := topology.Build(l)
	if err != nil {
		return nil, nil, err
	}
	b := declarer{
		known: map[string]string{}, taken: map[string]bool{}, reserved: map[string]bool{}, renamed: map[string]string{},
		loads: make([]load, fabric.Switches()), declared: map[string]*declaredSwitch{},
	}
	for i := range fabric.Nodes {
		b.reserved[fabric.Nodes[i].Component] = true
	}
	for _, link := range fabric.Links {
		for _, node := range []int32{link.Lower, link.Upper} {
			if int(node) < len(b.loads) {
				b.loads[node].rate += link.Rate
			}
		}
		b.loads[link.Upper].down++
	}
	var top holder
	b.switches(&top, l, l.Spine, false)
	for _, p := range l.Pods {
		b.pod(&top, l, p)
	}
	for _, r := range l.Racks {
		b.rack(&top, l, r)
	}
	tiers := 1
	if len(l.Pods) > 0 {
		tiers++
	}
	if len(l.Spine) > 0 {
		tiers++
	}
	b.topology(tiers, top.refs...)
	for _, name := range slices.Sorted(maps.Keys(b.declared)) {
		b.component(document.TypeSwitch, name, switchModel, b.declared[name].values())
	}
	b.workload(nil)
	b.doc.Applications[0].Name = b.fresh(document.TypeApplication, b.doc.Applications[0].Name)
	d, err = b.complete()
	return d, b.renamed, err
}

// maxName bounds the names of a document, in bytes.
const maxName = 64

// declarer declares the parts of a layout.
type declarer struct {
	draft

	known    map[string]string // names of declarations, by their content
	taken    map[string]bool   // names
	reserved map[string]bool   // names of switches, servers and NICs
	renamed  map[string]string
	loads    []load // by node
	placed   int    // switches
	declared map[string]*declaredSwitch
}

// load is what the links of a switch come to.
type load struct {
	down int   // links from below
	rate int64 // bit/s, of all links
}

// declaredSwitch is a declaration of switches, with the highest load of them.
type declaredSwitch struct {
	topology.Switch

	load load
}

func (s *declaredSwitch) values() values {
	return values{
		"NumUpLinks": float64(s.UpLinks), "NumUpLinksPerSwitch": float64(s.PerUpper), "NumDownLinks": float64(s.load.down),
		"SwitchingCapacity": gbps(s.load.rate),
		"NetworkInterface.UplinkNetworkInterface.DataRate":   gbps(s.UpRate),
		"NetworkInterface.DownlinkNetworkInterface.DataRate": gbps(s.DownRate),
		"NetworkInterface.TransmissionMedium.Delay":          nanoseconds(s.UpLinkDelay),
	}
}

func gbps(rate int64) float64         { return float64(rate) / 1e9 }
func nanoseconds(delay int64) float64 { return float64(delay) / 1e3 }

// holder collects references. Consecutive ones to one declaration are one reference.
type holder struct {
	refs []document.Ref
	runs map[string]int // by content: how many references there are
}

// add adds a reference to a declaration with this content, and declares it first if there is
// none. A holder can refer to a name once, so what returns after something else is declared
// once more.
func (b *declarer) add(h *holder, kind, wanted, content string, declare func(name string)) string {
	content = kind + " " + wanted + " " + content
	if last := len(h.refs) - 1; last >= 0 && h.runs[content] > 0 && h.refs[last].Name == b.known[run(content, h.runs[content])] {
		h.refs[last].Count++
		return h.refs[last].Name
	}
	if h.runs == nil {
		h.runs = map[string]int{}
	}
	h.runs[content]++
	key := run(content, h.runs[content])
	name, known := b.known[key]
	if !known {
		name = b.fresh(kind, wanted)
		b.known[key] = name
		declare(name)
	}
	h.refs = append(h.refs, refTo(kind, name, 1))
	return name
}

// run returns the key of the declaration for the n-th reference of a holder to a content.
func run(content string, n int) string { return strconv.Itoa(n) + " " + content }

// fresh returns the name, or one with a number if it is taken.
func (b *declarer) fresh(kind, wanted string) string {
	name := wanted
	ours := kind == document.TypeRack || kind == document.TypePod || kind == document.TypeApplication // not a name of the layout
	for n := 2; b.taken[name] || b.reserved[name] && (ours || name != wanted); n++ {
		suffix := "-" + strconv.Itoa(n)
		name = wanted[:min(len(wanted), maxName-len(suffix))] + suffix
	}
	b.taken[name] = true
	if name != wanted && !ours {
		b.renamed[name] = wanted
	}
	return name
}

// switches adds switches, in the order in which topology.Build numbers them.
func (b *declarer) switches(h *holder, l topology.Layout, list []topology.Switch, ofPod bool) {
	for _, s := range list {
		if l.Mesh && ofPod {
			s.PerUpper = max(l.LinksPerPair, 1)
		}
		name := b.add(h, document.TypeSwitch, s.Component, fmt.Sprint(s), func(name string) {
			b.declared[name] = &declaredSwitch{Switch: s}
		})
		highest := &b.declared[name].load
		highest.down, highest.rate = max(highest.down, b.loads[b.placed].down), max(highest.rate, b.loads[b.placed].rate)
		b.placed++
	}
}

func (b *declarer) pod(top *holder, l topology.Layout, p topology.Pod) {
	var members holder
	b.switches(&members, l, p.Switches, true)
	for _, r := range p.Racks {
		b.rack(&members, l, r)
	}
	b.add(top, document.TypePod, "pod", fmt.Sprint(members.refs), func(name string) { b.draft.pod(name, members.refs...) })
}

func (b *declarer) rack(h *holder, l topology.Layout, r topology.Rack) {
	var members holder
	b.switches(&members, l, r.Switches, false)
	for _, s := range r.Servers {
		var nics holder
		for _, n := range s.NICs {
			b.add(&nics, document.TypeNIC, n.Component, fmt.Sprint(n), func(name string) {
				b.component(document.TypeNIC, name, nicModel, values{
					"NetworkInterface.UplinkNetworkInterface.DataRate": gbps(n.Rate),
					"NetworkInterface.TransmissionMedium.Delay":        nanoseconds(n.Delay),
				})
			})
		}
		b.add(&members, document.TypeServer, s.Component, fmt.Sprint(nics.refs), func(name string) {
			b.component(document.TypeServer, name, serverModel, nil, nics.refs...)
		})
	}
	b.add(h, document.TypeRack, "rack", fmt.Sprint(members.refs), func(name string) { b.draft.rack(name, members.refs...) })
}
