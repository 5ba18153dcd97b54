package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"netsim/simulator/collective"
	"netsim/simulator/topology"
)

// Chakra returns the application that replays the traceset, or nil.
func (d *Document) Chakra() *Application {
	for i := range d.Applications {
		if d.Applications[i].TrafficType == TrafficChakra {
			return &d.Applications[i]
		}
	}
	return nil
}

// Place returns the hosts of the application's ranks: the first servers of its logical
// group, in the order of the fabric.
func (d *Document) Place(a *Application, f *topology.Fabric, ranks int) ([]int32, error) {
	group, err := a.TypedParameters.quantity(pathGroup, "uint", 0)
	if err != nil {
		return nil, fmt.Errorf("application %s: %w", a.Name, err)
	}
	belongs := map[string]bool{}
	for i := range d.Components {
		c := &d.Components[i]
		if c.Type != TypeServer {
			continue
		}
		own, err := c.TypedParameters.quantity(pathGroup, "uint", 0)
		if err != nil {
			return nil, fmt.Errorf("component %s: %w", c.Name, err)
		}
		belongs[c.Name] = own == group
	}
	hosts := make([]int32, 0, ranks)
	for i := range f.Hosts {
		if len(hosts) < ranks && belongs[f.Nodes[f.Hosts[i].Server].Component] {
			hosts = append(hosts, int32(i))
		}
	}
	if len(hosts) < ranks {
		return nil, fmt.Errorf("%d ranks exceed the %d servers of logical group %d", ranks, len(hosts), group)
	}
	return hosts, nil
}

// Apply applies the application's parameters to the groups. It sets the algorithm of phases
// that name none (completions.md 4.3). With Scaling it multiplies data sizes by
// ScalingFactor; a size stays at least 1 byte.
func (a *Application) Apply(groups []collective.GroupSpec) ([]collective.GroupSpec, error) {
	scale, err := a.sizes()
	if err != nil {
		return nil, err
	}
	applied := slices.Clone(groups)
	for i := range applied {
		applied[i].Phases = slices.Clone(applied[i].Phases)
		for j := range applied[i].Phases {
			p := &applied[i].Phases[j]
			if p.Algorithm == "" && p.OperationType != "" {
				p.Algorithm = algorithm(a.TypedParameters.text(InChakra+AlgorithmParameter(p.OperationType), ""))
			}
			if scale != 1 {
				p.DataSize = max(1, int64(math.Round(float64(p.DataSize)*scale)))
			}
		}
	}
	// Resolve checks groups that are not resolved yet, and leaves the others unchanged.
	return collective.Resolve(nil, applied, true)
}

// InChakra is the path prefix of a chakra application's own parameters.
const InChakra = "ChakraConfiguration."

// sizes returns the factor on data sizes.
func (a *Application) sizes() (float64, error) {
	l := a.TypedParameters.find(InChakra + "ScalingFactor")
	if l == nil || !a.TypedParameters.flag(InChakra+"Scaling", false) {
		return 1, nil
	}
	factor, ok := l.Value.(float64)
	if !ok || factor < 0 || factor > 1 {
		return 0, fmt.Errorf("application %s: parameter ScalingFactor is %v, not from 0 to 1", a.Name, l.Value)
	}
	return factor, nil
}

// AlgorithmParameter returns the name of the parameter for an operation's algorithm.
func AlgorithmParameter(operation string) string {
	return string(operation[0]-'a'+'A') + operation[1:] + "Algorithm"
}

// algorithm returns the algorithm that a parameter names. An unknown value is returned
// unchanged, so that collective.Resolve refuses it.
func algorithm(parameter string) string {
	return cmp.Or(collective.AlgorithmOfParameter(parameter).Name, parameter)
}
