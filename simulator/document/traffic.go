package document

import (
	"fmt"
	"math"
	"slices"

	"netsim/simulator/engine"
	"netsim/simulator/topology"
)

// Traffic reads the uncoordinated applications and places their clients and servers on
// hosts. If server components refer to an application, their hosts run both its clients
// and its servers. Any other application is distributed over all hosts: an entry of the
// distribution takes its fraction of them, drawn with the seed, and a role without an
// entry takes all. An application without clients is idle. It is an error if an
// application has clients but no servers, or if all applications are idle.
func (d *Document) Traffic(f *topology.Fabric, seed uint64) ([]engine.Traffic, error) {
	clients, servers := d.shares(f, "client", seed), d.shares(f, "server", seed)
	var list []engine.Traffic
	for i := range d.Applications {
		a := &d.Applications[i]
		if a.TrafficType == TrafficChakra {
			continue
		}
		t, err := a.traffic()
		if err != nil {
			return nil, fmt.Errorf("application %s: %w", a.Name, err)
		}
		if t.Clients = d.attached(f, a.Name); t.Clients != nil {
			t.Servers = t.Clients
		} else {
			t.Clients, t.Servers = clients.of(a.Name), servers.of(a.Name)
		}
		switch {
		case len(t.Clients) > 0 && len(t.Servers) == 0:
			return nil, fmt.Errorf("application %s has %d clients and no server; raise the value of its server entry in the distribution", a.Name, len(t.Clients))
		case len(t.Clients) > 0:
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no application has a client; raise the values of the client entries in the distribution")
	}
	return list, nil
}

// traffic reads the parameters of an application's messages.
func (a *Application) traffic() (engine.Traffic, error) {
	t := engine.Traffic{Name: a.Name}
	var err error
	if t.MessageSize, err = a.TypedParameters.quantity("MessageSize", "bytes", 16_000); err != nil {
		return t, err
	}
	if t.MessageSize < 1 {
		return t, fmt.Errorf("parameter MessageSize is %d B, less than 1", t.MessageSize)
	}
	load := 0.5
	if l := a.TypedParameters.find("Load"); l != nil {
		var ok bool
		if load, ok = l.Value.(float64); !ok || load < 0 || load > 1 {
			return t, fmt.Errorf("parameter Load is %v, not from 0 to 1", l.Value)
		}
	}
	t.Load = int64(math.Round(load * 1e9))
	switch pattern := a.TypedParameters.text("TrafficPattern", "uniform-random"); pattern {
	case "uniform-random":
	case "permutation":
		t.Pattern = engine.Permutation
	case "incast":
		t.Pattern = engine.Incast
	default:
		return t, fmt.Errorf("parameter TrafficPattern is '%s', which the engine does not know", pattern)
	}
	return t, nil
}

// attached lists the hosts whose component refers to the application. It returns nil if no
// component does.
func (d *Document) attached(f *topology.Fabric, application string) []int32 {
	holders := map[string]bool{}
	for i := range d.Components {
		for _, ref := range d.Components[i].Components {
			if ref.Type == TypeApplication && (ref.ParentApplicationName == application || ref.Name == application) {
				holders[d.Components[i].Name] = true
			}
		}
	}
	if len(holders) == 0 {
		return nil
	}
	hosts := []int32{}
	for i := range f.Hosts {
		if holders[f.Nodes[f.Hosts[i].Server].Component] {
			hosts = append(hosts, int32(i))
		}
	}
	return hosts
}

// share divides the hosts among the applications in one role, client or server.
type share struct {
	entries []Entry
	drawn   []int32 // hosts, in the order in which the entries take them
}

func (d *Document) shares(f *topology.Fabric, role string, seed uint64) share {
	s := share{drawn: make([]int32, len(f.Hosts))}
	for i := range s.drawn {
		s.drawn[i] = int32(i)
	}
	if d.Topology.AppDistribution == nil {
		return s
	}
	for _, e := range d.Topology.AppDistribution.Entries {
		if e.ApplicationType == role {
			s.entries = append(s.entries, e)
		}
	}
	engine.Shuffle(s.drawn, seed^uint64(role[0])<<56)
	return s
}

// of returns the application's hosts, ascending.
func (s share) of(application string) []int32 {
	var hosts []int32
	named, before, sum := false, 0, 0.0
	for _, e := range s.entries {
		sum += e.DistributionPercent.Value
		until := min(max(int(math.Round(sum*float64(len(s.drawn)))), before), len(s.drawn))
		if e.ParentApplication == application {
			named = true
			hosts = append(hosts, s.drawn[before:until]...)
		}
		before = until
	}
	if !named {
		hosts = slices.Clone(s.drawn)
	}
	slices.Sort(hosts)
	return hosts
}
