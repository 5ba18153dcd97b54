package document

import (
	"fmt"

	"netsim/simulator/topology"
)

// Fabric wires the network that the document describes (completions.md 3.2).
// An error names the part of the document that is missing or wrong.
func (d *Document) Fabric() (*topology.Fabric, error) {
	layout, err := d.Layout()
	if err != nil {
		return nil, err
	}
	return topology.Build(layout)
}

// Layout returns the network that the document describes, before it is wired. An error
// names the part of the document that is missing or wrong.
func (d *Document) Layout() (topology.Layout, error) {
	r := reader{components: map[string]*Component{}, containers: map[string]*Container{}}
	for i := range d.Components {
		r.components[d.Components[i].Name] = &d.Components[i]
	}
	for i := range d.Containers {
		r.containers[d.Containers[i].Name] = &d.Containers[i]
	}
	for i := range d.Links {
		r.components[d.Links[i].Name] = &d.Links[i]
	}
	return r.layout(d.Topology.Components)
}

// reader follows references. All instances of a reference share one layout, so layouts
// must not be changed.
type reader struct {
	components map[string]*Component
	containers map[string]*Container
}

func (r *reader) layout(refs []Ref) (topology.Layout, error) {
	var l topology.Layout
	for _, ref := range refs {
		var err error
		switch ref.Type {
		case TypeSwitch:
			l.Spine, err = r.switches(l.Spine, ref)
		case TypePod:
			var pod topology.Pod
			pod, err = r.pod(ref)
			l.Pods = repeat(l.Pods, pod, ref.Count)
		case TypeRack:
			var rack topology.Rack
			rack, err = r.rack(ref)
			l.Racks = repeat(l.Racks, rack, ref.Count)
		case TypeLayer:
			err = r.layer(&l, ref)
		default:
			err = misplaced(ref, "the topology")
		}
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

func (r *reader) pod(ref Ref) (topology.Pod, error) {
	var pod topology.Pod
	c, err := r.container(ref)
	if err != nil {
		return pod, err
	}
	for _, member := range c.Components {
		switch member.Type {
		case TypeSwitch:
			pod.Switches, err = r.switches(pod.Switches, member)
		case TypeRack:
			var rack topology.Rack
			rack, err = r.rack(member)
			pod.Racks = repeat(pod.Racks, rack, member.Count)
		default:
			err = misplaced(member, c.Name)
		}
		if err != nil {
			return pod, err
		}
	}
	return pod, nil
}

func (r *reader) rack(ref Ref) (topology.Rack, error) {
	var rack topology.Rack
	c, err := r.container(ref)
	if err != nil {
		return rack, err
	}
	for _, member := range c.Components {
		switch member.Type {
		case TypeSwitch:
			rack.Switches, err = r.switches(rack.Switches, member)
		case TypeServer:
			var server topology.Server
			server, err = r.server(member)
			rack.Servers = repeat(rack.Servers, server, member.Count)
		default:
			err = misplaced(member, c.Name)
		}
		if err != nil {
			return rack, err
		}
	}
	return rack, nil
}

func (r *reader) server(ref Ref) (topology.Server, error) {
	c, err := r.component(ref)
	if err != nil {
		return topology.Server{}, err
	}
	s := topology.Server{Component: c.Name}
	for _, member := range c.Components {
		if member.Type != TypeNIC {
			continue // GPUs and applications are not wired
		}
		nic, err := r.component(member)
		if err != nil {
			return s, err
		}
		q := quantities{params: nic.TypedParameters}
		s.NICs = repeat(s.NICs, topology.NIC{
			Component: nic.Name,
			Rate:      q.get(pathUpRate, "datarate", 400e9),
			Delay:     q.get(pathDelay, "timeval", topology.NICDelay),
		}, member.Count)
		if q.err != nil {
			return s, fmt.Errorf("component %s: %w", nic.Name, q.err)
		}
	}
	return s, nil
}

func (r *reader) switches(list []topology.Switch, ref Ref) ([]topology.Switch, error) {
	c, err := r.component(ref)
	if err != nil {
		return nil, err
	}
	q := quantities{params: c.TypedParameters}
	s := topology.Switch{
		Component:   c.Name,
		UpLinks:     int(q.get(pathUpLinks, "uint", 64)),
		PerUpper:    int(q.get(pathPerUpper, "uint", 0)),
		UpRate:      q.get(pathUpRate, "datarate", 400e9),
		DownRate:    q.get(pathDownRate, "datarate", 400e9),
		UpLinkDelay: q.get(pathDelay, "timeval", topology.SwitchDelay),
	}
	if q.err != nil {
		return nil, fmt.Errorf("component %s: %w", c.Name, q.err)
	}
	return repeat(list, s, ref.Count), nil
}

func (r *reader) layer(l *topology.Layout, ref Ref) error {
	c, err := r.component(ref)
	if err != nil {
		return err
	}
	l.Mesh = c.TypedParameters.text("Wiring", "round-robin") == "full-mesh"
	links, err := c.TypedParameters.quantity("LinksPerPair", "uint", 0)
	l.LinksPerPair = int(links)
	return err
}

func (r *reader) component(ref Ref) (*Component, error) {
	if c := r.components[ref.Name]; c != nil && c.Type == ref.Type {
		return c, nil
	}
	return nil, fmt.Errorf("%s %s is not declared", ref.Type, ref.Name)
}

func (r *reader) container(ref Ref) (*Container, error) {
	if c := r.containers[ref.Name]; c != nil && c.Type == ref.Type {
		return c, nil
	}
	return nil, fmt.Errorf("%s %s is not declared", ref.Type, ref.Name)
}

func misplaced(ref Ref, holder string) error {
	return fmt.Errorf("%s %s is not allowed in %s", ref.Type, ref.Name, holder)
}

// repeat appends item count times; a missing count is 1.
func repeat[T any](list []T, item T, count int) []T {
	for range max(count, 1) {
		list = append(list, item)
	}
	return list
}
