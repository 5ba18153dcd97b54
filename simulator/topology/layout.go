package topology

// Layout is the hierarchy of a fabric before it is wired. Derivations and stored
// configurations (completions.md 3.2) produce one. Rates are in bit/s, delays in
// picoseconds.
type Layout struct {
	Spine []Switch // SSW, directly in the topology
	Pods  []Pod
	Racks []Rack // directly in the topology, wired to the spine
	// Mesh gives every pod switch LinksPerPair links (at least 1) to every
	// spine switch instead of dealing its up-links round-robin.
	Mesh         bool
	LinksPerPair int
}

// Pod holds fabric switches (FSW) and the racks below them.
type Pod struct {
	Switches []Switch
	Racks    []Rack
}

// Rack holds rack switches (RSW, normally one) and servers.
type Rack struct {
	Switches []Switch
	Servers  []Server
}

// Switch is one switch. A link has the delay of its lower end, and the lower rate of its
// two ends.
type Switch struct {
	Component   string
	UpLinks     int // total number of links upwards
	PerUpper    int // if positive, number of links to each upper switch, instead of UpLinks
	UpRate      int64
	DownRate    int64
	UpLinkDelay int64
}

// Server is one host. Its rank reaches the fabric through all of its NICs.
type Server struct {
	Component string
	NICs      []NIC
}

// NIC is one network interface of a server; it has one link to every switch of
// its rack.
type NIC struct {
	Component string
	Rate      int64
	Delay     int64
}

// Delays of a derived fabric in picoseconds. They equal the defaults of the
// catalogue's models (completions.md 2.4).
const (
	NICDelay    = 100_000
	SwitchDelay = 500_000
)

// Layout returns the hierarchy of the derived fabric. Racks fill in rank order.
func (d Derivation) Layout() Layout {
	rate := int64(d.Resolved.SwitchLinkSpeed) * 1e9
	switches := func(component string, n, up int) []Switch {
		list := make([]Switch, n)
		for i := range list {
			list[i] = Switch{Component: component, UpLinks: up, UpRate: rate, DownRate: rate, UpLinkDelay: SwitchDelay}
		}
		return list
	}
	nics := []NIC{{Component: "nic", Rate: rate, Delay: NICDelay}}
	left := d.TotalHosts
	racks := func(n int) []Rack {
		list := make([]Rack, n)
		for i := range list {
			servers := make([]Server, min(left, d.RanksPerRack))
			for s := range servers {
				servers[s] = Server{Component: "server", NICs: nics}
			}
			left -= len(servers)
			list[i] = Rack{Switches: switches("rsw", 1, d.Tiers[0].UplinksPerSwitch), Servers: servers}
		}
		return list
	}
	rsw := d.Tiers[0].SwitchCount
	switch d.TierCount {
	case 1:
		return Layout{Racks: racks(rsw)}
	case 2:
		return Layout{Pods: []Pod{{Switches: switches("fsw", d.Tiers[1].SwitchCount, 0), Racks: racks(rsw)}}}
	default:
		pods := make([]Pod, d.Pods)
		for i := range pods {
			fsw := d.Tiers[1]
			pods[i] = Pod{
				Switches: switches("fsw", fsw.SwitchCount/d.Pods, fsw.UplinksPerSwitch),
				Racks:    racks(rsw / d.Pods),
			}
		}
		return Layout{Spine: switches("ssw", d.Tiers[2].SwitchCount, 0), Pods: pods}
	}
}
