package infragraph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
	"netsim/simulator/validation"
)

// names has the names that InfraGraph allows and an endpoint can hold.
var names = regexp.MustCompile(`^[\sa-zA-Z0-9_()><-]{1,128}$`)

// Write makes an InfraGraph document in JSON of the network of a configuration. The notes
// list what the configuration has and the document has not. Write reads what it writes: a
// note says if Read would make another fabric of it.
func Write(d *document.Document) ([]byte, []string, error) {
	findings, f := validation.Survey(d, validation.Attachments{})
	if f == nil {
		for _, finding := range findings {
			if finding.Severity == validation.Error {
				return nil, nil, errors.New(finding.Message)
			}
		}
		return nil, nil, errors.New("the configuration has no network")
	}
	w := writer{fabric: f, at: map[string]int{}, links: map[[2]int64]string{}, taken: map[string]bool{}}
	if err := w.nodes(); err != nil {
		return nil, nil, err
	}
	w.switches()
	w.servers(d)
	w.doc.Name = d.Topology.Name
	w.edges()
	var n notes
	n.lost(d, f)
	w.reread(&n)
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	if err := out.Encode(w.doc); err != nil {
		return nil, nil, err
	}
	return text.Bytes(), n.all(), nil
}

type writer struct {
	doc    infrastructure
	fabric *topology.Fabric
	at     map[string]int // instances by component
	taken  map[string]bool
	links  map[[2]int64]string // by rate and delay
	nics   []place             // by node
}

// place is a NIC's position in its server.
type place struct {
	server int32 // node
	index  int
}

// nodes declares an instance and a device for each component of switches and servers.
func (w *writer) nodes() error {
	w.nics = make([]place, len(w.fabric.Nodes))
	for _, host := range w.fabric.Hosts {
		index := map[string]int{}
		for _, nic := range host.NICs {
			name := w.fabric.Nodes[nic].Component
			w.nics[nic] = place{host.Server, index[name]}
			index[name]++
		}
	}
	for _, n := range w.fabric.Nodes {
		if !names.MatchString(n.Component) {
			return fmt.Errorf("the name '%.64s' cannot be in an InfraGraph document: use letters, digits, spaces and ( ) < > - _", n.Component)
		}
		w.taken[n.Component] = true
		if n.Type == topology.NICNode {
			continue
		}
		i, there := w.at[n.Component]
		if !there {
			i = len(w.doc.Instances)
			w.at[n.Component] = i
			w.doc.Instances = append(w.doc.Instances, instance{Name: n.Component, Device: n.Component})
			w.doc.Devices = append(w.doc.Devices, device{Name: n.Component})
		}
		w.doc.Instances[i].Count = max(w.doc.Instances[i].Count, int(n.Number)+1)
	}
	return nil
}

// switches gives the devices of switches as many ports as their links need.
func (w *writer) switches() {
	ports := make([]int, len(w.doc.Devices))
	for _, l := range w.fabric.Links {
		for _, end := range [][2]int32{{l.Lower, l.LowerPort}, {l.Upper, l.UpperPort}} {
			if n := w.fabric.Nodes[end[0]]; n.Type == topology.SwitchNode {
				ports[w.at[n.Component]] = max(ports[w.at[n.Component]], int(end[1])+1)
			}
		}
	}
	for _, n := range w.fabric.Nodes[:w.fabric.Switches()] {
		d := &w.doc.Devices[w.at[n.Component]]
		if d.Components != nil {
			continue
		}
		d.Components = []component{{Name: "asic", Count: 1, Choice: choiceSwitch}}
		if count := ports[w.at[n.Component]]; count > 0 {
			d.Components = append(d.Components, component{Name: choicePort, Count: count, Choice: choicePort})
		}
		d.connect("asic")
	}
}

// connect joins every other component of a device to one.
func (d *device) connect(center string) {
	d.Links, d.Edges = []link{{Name: "internal"}}, []inner{}
	for _, c := range d.Components {
		if c.Name != center {
			d.Edges = append(d.Edges, inner{innerEnd{center}, innerEnd{c.Name}, manyToMany, "internal"})
		}
	}
}

// servers gives the devices of servers their NICs and GPUs. A component host joins them.
func (w *writer) servers(doc *document.Document) {
	for _, c := range doc.Components {
		at, used := w.at[c.Name]
		if c.Type != document.TypeServer || !used {
			continue
		}
		d := &w.doc.Devices[at]
		center := "host"
		for slices.ContainsFunc(c.Components, func(r document.Ref) bool { return r.Name == center }) {
			center += "_"
		}
		d.Components = []component{{Name: center, Count: 1, Choice: choiceCustom, Custom: &custom{"host"}}}
		for _, choice := range []struct{ kind, choice string }{{document.TypeNIC, choiceNIC}, {document.TypeGPU, choiceXPU}} {
			for _, ref := range c.Components {
				if ref.Type == choice.kind {
					d.Components = append(d.Components, component{Name: ref.Name, Count: max(ref.Count, 1), Choice: choice.choice})
				}
			}
		}
		d.connect(center)
	}
}

// spot is one end of a link: a component of an instance.
type spot struct {
	instance, component string
	node, index         int
}

func (w *writer) spot(node, port int32) spot {
	n := w.fabric.Nodes[node]
	if n.Type == topology.SwitchNode {
		return spot{n.Component, choicePort, int(n.Number), int(port)}
	}
	p := w.nics[node]
	server := w.fabric.Nodes[p.server]
	return spot{server.Component, n.Component, int(server.Number), p.index}
}

// The ways from a spot to the next one of a run.
const (
	still = iota
	nextNode
	nextIndex
	elsewhere
)

func (s spot) way(to spot) int {
	switch to {
	case s:
		return still
	case spot{s.instance, s.component, s.node + 1, s.index}:
		return nextNode
	case spot{s.instance, s.component, s.node, s.index + 1}:
		return nextIndex
	}
	return elsewhere
}

// endpoint returns the endpoint of a run of spots.
func (s spot) endpoint(way, count int) endpoint {
	at := func(name string, index int, run bool) string {
		if run && count > 1 {
			return fmt.Sprintf("%s[%d:%d]", name, index, index+count)
		}
		return fmt.Sprintf("%s[%d]", name, index)
	}
	return endpoint{at(s.instance, s.node, way == nextNode), at(s.component, s.index, way == nextIndex)}
}

// edges writes the links. Those whose ends follow one another are one edge.
func (w *writer) edges() {
	links := w.fabric.Links
	ends := func(i int) (lower, upper spot) {
		return w.spot(links[i].Lower, links[i].LowerPort), w.spot(links[i].Upper, links[i].UpperPort)
	}
	for first := 0; first < len(links); {
		name := w.link(links[first].Rate, links[first].Delay)
		lower, upper := ends(first)
		down, up, count := still, still, 1
		for l, u := lower, upper; first+count < len(links); count++ {
			i := first + count
			nextLower, nextUpper := ends(i)
			goDown, goUp := l.way(nextLower), u.way(nextUpper)
			if links[i].Rate != links[first].Rate || links[i].Delay != links[first].Delay || goDown == elsewhere || goUp == elsewhere ||
				goUp == still || count > 1 && (goDown != down || goUp != up) {
				break
			}
			down, up, l, u = goDown, goUp, nextLower, nextUpper
		}
		scheme := oneToOne
		if down == still && count > 1 {
			scheme = manyToMany
		}
		w.doc.Edges = append(w.doc.Edges, edge{lower.endpoint(down, count), upper.endpoint(up, count), scheme, name})
		first += count
	}
}

// link returns the name of the link with a rate and a delay.
func (w *writer) link(rate, delay int64) string {
	key := [2]int64{rate, delay}
	if name, there := w.links[key]; there {
		return name
	}
	name := fmt.Sprintf("link-%d", len(w.links)+1)
	for w.taken[name] {
		name += "_"
	}
	w.links[key] = name
	w.doc.Links = append(w.doc.Links, link{Name: name, Physical: &physical{
		quantity{"gigabits_per_second", float64(rate) / 1e9}, quantity{"ns", float64(delay) / 1e3},
	}})
	return name
}

// reread notes what Read would make of the document, unless it is the same fabric.
func (w *writer) reread(n *notes) {
	var ignored notes
	g, err := expand(w.doc)
	if err == nil {
		var f *fabric
		if f, err = arranged(g, &ignored); err == nil {
			err = f.verify()
		}
		if err == nil {
			var again *document.Document
			if again, _, err = presets.FromLayout(f.layout); err == nil {
				var built *topology.Fabric
				if built, err = again.Fabric(); err == nil {
					n.differences(w.fabric, built)
				}
			}
		}
	}
	if err != nil {
		n.add("netsim does not read this document back: %s", err)
	}
}
