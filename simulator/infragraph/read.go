package infragraph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
	"netsim/simulator/validation"
)

// Read makes the document of a configuration of an InfraGraph document in JSON or YAML. The
// notes list what the document has and the configuration has not, and what was assumed. An
// error names the part of the document that is wrong, or that netsim's fabrics do not have.
func Read(content []byte) (*document.Document, []string, error) {
	v, err := parse(content)
	if err != nil {
		return nil, nil, err
	}
	d := decoder{}
	doc := d.infrastructure(v)
	if d.err != nil {
		return nil, nil, d.err
	}
	if d.texts > 0 {
		d.notes.add("%d descriptions are left out", d.texts)
	}
	g, err := expand(doc)
	if err != nil {
		return nil, nil, err
	}
	if err := g.entities(&d.notes); err != nil {
		return nil, nil, err
	}
	f, err := arranged(g, &d.notes)
	if err != nil {
		return nil, nil, err
	}
	if err := f.verify(); err != nil {
		return nil, nil, err
	}
	made, renamed, err := presets.FromLayout(f.layout)
	if err != nil {
		return nil, nil, err
	}
	if doc.Name != "" {
		if made.Topology.Name = entity(doc.Name); made.Topology.Name != doc.Name {
			d.notes.add("the infrastructure '%.128s' is named %s", doc.Name, made.Topology.Name)
		}
	}
	f.insides()
	for _, name := range slices.Sorted(maps.Keys(renamed)) {
		d.notes.add("some of %s are named %s, because others have that name, or have it with other links", renamed[name], name)
	}
	for _, finding := range validation.Check(made, validation.Attachments{}) {
		if finding.Severity == validation.Error && finding.Code != "TRACESET_REQUIRED" {
			d.notes.add("validation of the configuration will say: %s", finding.Message)
		}
	}
	return made, d.notes.all(), nil
}

// maxName bounds the names of netsim, in bytes.
const maxName = 64

// entity returns a name in the form of netsim's: letters, digits, '.', '_' and '-'. Dots
// become '-', so that the name can be written again.
func entity(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_') {
			return r
		}
		return '-'
	}, name)
	if name = strings.TrimLeft(name, "_-"); name == "" {
		name = "unnamed"
	}
	return name[:min(len(name), maxName)]
}

// entities refuses instances that would have one name in netsim, and notes the others that
// change.
func (g *graph) entities(n *notes) error {
	of := map[string]string{}
	for _, in := range g.doc.Instances {
		name := entity(in.Name)
		if first, twice := of[name]; twice {
			return fmt.Errorf("the instances '%.64s' and '%.64s' would both be named %s in netsim; rename one", first, in.Name, name)
		}
		if of[name] = in.Name; name != in.Name {
			n.add("instance '%.64s' is named %s", in.Name, name)
		}
	}
	for _, p := range g.paths {
		if name := entity(p.name); name != p.name {
			n.add("component '%.64s' is named %s", p.name, name)
		}
	}
	return nil
}

// insides notes what devices have that netsim's servers and switches have not.
func (f *fabric) insides() {
	used := map[string]bool{} // devices, and components at which edges end or through which they pass
	for key := range f.known {
		device, steps, _ := strings.Cut(key, "\x00")
		for step := range strings.SplitSeq(steps, ".") {
			used[device+"\x00"+step] = true
			device = step
		}
	}
	var use func(device string)
	use = func(device string) {
		if used[device] {
			return
		}
		used[device] = true
		for _, c := range f.doc.Devices[f.devices[device]].Components {
			if c.Choice == choiceDevice {
				use(c.Name)
			}
		}
	}
	for _, in := range f.doc.Instances {
		use(in.Device)
	}
	for i := range f.doc.Devices {
		d := &f.doc.Devices[i]
		if !used[d.Name] {
			f.notes.add("device %.64s is in no instance and is left out", d.Name)
			continue
		}
		var others []string
		for _, c := range d.Components {
			if !used[d.Name+"\x00"+c.Name] {
				others = append(others, fmt.Sprintf("%d %.64s", c.Count, c.Name))
			}
		}
		if len(others)+len(d.Edges)+len(d.Links) > 0 {
			if len(others) > maxNotes {
				others = append(others[:maxNotes], fmt.Sprintf("and %d more", len(others)-maxNotes))
			}
			f.notes.add("device %.64s: the inside is left out: %d edges, %d links%s", d.Name, len(d.Edges), len(d.Links), listed(others))
		}
	}
	linked := make([]bool, len(f.doc.Links))
	for _, e := range f.edges {
		linked[e.link] = true
	}
	for i := range linked {
		if !linked[i] {
			f.notes.add("link %.64s is of no edge and is left out", f.doc.Links[i].Name)
		}
	}
}

func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", components " + strings.Join(names, ", ")
}

// pair is a link between two nodes of the graph.
type pair struct {
	lower, upper int32
	rate, delay  int64
}

func (a pair) compare(b pair) int {
	return cmp.Or(cmp.Compare(a.lower, b.lower), cmp.Compare(a.upper, b.upper), cmp.Compare(a.rate, b.rate), cmp.Compare(a.delay, b.delay))
}

// verify wires the layout and compares its links with the edges.
func (f *fabric) verify() error {
	built, err := topology.Build(f.layout)
	if err != nil {
		return err
	}
	node := make([]int32, len(built.Nodes)) // of the graph
	copy(node, f.placed)
	for h, host := range built.Hosts {
		for _, nic := range host.NICs {
			node[nic] = f.servers[h]
		}
	}
	var want, got []pair
	for _, w := range f.wires {
		want = append(want, pair{w.lower.node, w.upper.node, w.rate, w.delay})
	}
	for _, l := range built.Links {
		got = append(got, pair{node[l.Lower], node[l.Upper], l.Rate, l.Delay})
	}
	slices.SortFunc(want, pair.compare)
	slices.SortFunc(got, pair.compare)
	for i := range max(len(want), len(got)) {
		switch {
		case i < len(want) && i < len(got) && want[i] == got[i]:
		case i < len(got) && (i == len(want) || got[i].compare(want[i]) < 0):
			return f.differs(got[i], want, got)
		default:
			return f.differs(want[i], want, got)
		}
	}
	return nil
}

// differs returns the error for the first link that the edges and netsim's wiring do not share.
func (f *fabric) differs(at pair, want, got []pair) error {
	count := func(list []pair) (n int, rate int64) {
		for _, p := range list {
			if p.lower == at.lower && p.upper == at.upper {
				n, rate = n+1, p.rate
			}
		}
		return n, rate
	}
	wanted, rate := count(want)
	has, netsims := count(got)
	lower, upper := f.nodeName(at.lower), f.nodeName(at.upper)
	if wanted != has {
		return fmt.Errorf("%s has %d links to %s; netsim deals the links of a switch to the next tier in turn, and would make %d", lower, wanted, upper, has)
	}
	return fmt.Errorf("the links of %s to %s have %g Gbit/s; in netsim the ports of a switch in one direction have one rate, and these links would have %g", lower, upper, float64(rate)/1e9, float64(netsims)/1e9)
}
