package document

import (
	"fmt"
	"math"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
	"netsim/simulator/mapping"
	"netsim/simulator/topology"
)

// Replay holds an application's parameters for the replay of traces (completions.md 2.4,
// docs/engine.md).
type Replay struct {
	Algorithms  map[string]string // by operation, with the names of package collective
	Serialize   bool              // ProcessGroupSerialization
	Synchronize bool              // CommCollectiveSynchronization
	Exclusive   bool              // OneCommunicationPerRank
	Abort       bool              // AbortOnChakraWarning
	Callers     bool              // TraceFamily is collected: control dependencies name callers and do not order nodes
	Sizes       float64           // factor on data sizes
	Packet      engine.Packet     // inside scale-up groups
	ScaleUpRows bool              // ScaleUpStatsEnabled
}

// Replay reads the application's parameters.
func (a *Application) Replay() (Replay, error) {
	p := a.TypedParameters
	q := quantities{params: p}
	r := Replay{
		Algorithms:  map[string]string{},
		Serialize:   p.flag(InChakra+"ProcessGroupSerialization", true),
		Synchronize: p.flag(InChakra+"CommCollectiveSynchronization", true),
		Exclusive:   p.flag(InChakra+"OneCommunicationPerRank", false),
		Abort:       p.flag(InChakra+"AbortOnChakraWarning", false),
		Callers:     p.text(InChakra+"TraceFamily", "synthesized") == "collected",
		ScaleUpRows: p.flag(InChakra+"ScaleUpStatsEnabled", false),
		Packet: engine.Packet{
			MSS:    q.get(InChakra+"ScaleUpMaxPayloadSize", "bytes", 4096),
			Header: q.get(InChakra+"ScaleUpHeaderSize", "bytes", 24),
		},
	}
	for _, c := range collective.Matrix() {
		if name := p.text(InChakra+AlgorithmParameter(c.OperationType), ""); name != "" {
			r.Algorithms[c.OperationType] = algorithm(name)
		}
	}
	if q.err != nil {
		return r, q.err
	}
	var err error
	r.Sizes, err = a.sizes()
	return r, err
}

// flag returns a boolean parameter, or fallback if it is absent.
func (p Params) flag(path string, fallback bool) bool {
	if l := p.find(path); l != nil {
		if b, ok := l.Value.(bool); ok {
			return b
		}
	}
	return fallback
}

// ComputeScales returns the factors on the computation times of ranks on the given hosts.
// A server has the factor of its first accelerator, or 1 if it has none.
func (d *Document) ComputeScales(f *topology.Fabric, hosts []int32) ([]float64, error) {
	accelerators := map[string]float64{}
	servers := map[string]*Component{}
	for i := range d.Components {
		switch c := &d.Components[i]; c.Type {
		case TypeServer:
			servers[c.Name] = c
		case TypeGPU:
			scale := 1.0
			if l := c.TypedParameters.find("ComputeScale"); l != nil {
				value, ok := l.Value.(float64)
				if !ok || value <= 0 {
					return nil, fmt.Errorf("component %s: parameter ComputeScale is %v, not above 0", c.Name, l.Value)
				}
				scale = value
			}
			accelerators[c.Name] = scale
		}
	}
	scales := make([]float64, len(hosts))
	for i, h := range hosts {
		scales[i] = 1
		server := servers[f.Nodes[f.Hosts[h].Server].Component]
		if server == nil {
			continue
		}
		for _, ref := range server.Components {
			if scale, known := accelerators[ref.Name]; known && ref.Type == TypeGPU {
				scales[i] = scale
				break
			}
		}
	}
	return scales, nil
}

// Mapped returns the hosts and the scale-up groups of the ranks according to a mapping
// file (completions.md 6.5). up is nil if the file has no groups. The file's server ids are
// indices of the fabric's hosts.
func Mapped(f *topology.Fabric, m *mapping.File, p engine.Packet) (hosts []int32, up *engine.ScaleUp, err error) {
	up = &engine.ScaleUp{Packet: p}
	numbers := map[uint32]int32{}
	for i, g := range m.Groups {
		numbers[g.ID] = int32(i)
		up.Domains = append(up.Domains, engine.Domain{
			ID: g.ID, Rate: bounded(g.BitsPerSecond), SwitchHop: bounded(g.SwitchHop), Cable: bounded(g.Cable),
		})
	}
	for rank, p := range m.Places {
		if uint64(p.Server) >= uint64(len(f.Hosts)) {
			return nil, nil, fmt.Errorf("rank %d is on server %d, and there are %d servers", rank, p.Server, len(f.Hosts))
		}
		hosts = append(hosts, int32(p.Server))
		seat := engine.Seat{Domain: -1}
		if p.Grouped {
			seat = engine.Seat{Domain: numbers[p.Group], Subgroup: p.Subgroup}
		}
		up.Seats = append(up.Seats, seat)
	}
	if len(up.Domains) == 0 {
		up = nil
	}
	return hosts, up, nil
}

func bounded(v uint64) int64 { return int64(min(v, math.MaxInt64/4)) }
