package simple

import (
	"netsim/api"
	"netsim/fault"
	"netsim/simulator/collective"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

// Resolve resolves the defaults of a request and derives its fabric. It refuses an invalid
// request with fault.Validation. The submission and preview operations refuse the same
// requests, with the messages of completions.md section 4.1.
func Resolve(s *api.SimpleSubmission) (presets.Simple, topology.Derivation, error) {
	switch {
	case s.Topology != "" && s.TopologyConstraints != nil:
		return refuse("topologyConstraints and topology are mutually exclusive")
	case s.Topology != "":
		return refuse("topology is reserved and must be absent; use topologyConstraints")
	}
	var constraints *topology.Constraints
	if c := s.TopologyConstraints; c != nil {
		constraints = &topology.Constraints{
			SwitchRadix: string(c.SwitchRadix), SubscriptionRatio: string(c.SubscriptionRatio),
		}
	}
	var workload *collective.Workload
	if w := s.Workload; w != nil {
		workload = &collective.Workload{Ranks: int(w.Ranks), Phases: phases(w.Phases)}
	}
	groups := make([]collective.GroupSpec, len(s.Groups))
	for i, g := range s.Groups {
		groups[i] = collective.GroupSpec{Count: int(g.Count), GroupSize: int(g.GroupSize), Phases: phases(g.Phases)}
	}
	resolved, derived, err := presets.NewSimple(constraints, workload, groups)
	if err != nil {
		return refuse(err.Error())
	}
	return resolved, derived, nil
}

// Echo returns the phases for the response to a submission, with the resolved
// algorithms.
func Echo(resolved []collective.Phase) api.SimplePhases {
	out := make(api.SimplePhases, len(resolved))
	for i, p := range resolved {
		out[i] = api.SimplePhase{OperationType: p.OperationType, Algorithm: p.Algorithm, DataSize: p.DataSize}
	}
	return out
}

func phases(requested api.SimplePhases) []collective.Phase {
	out := make([]collective.Phase, len(requested))
	for i, p := range requested {
		out[i] = collective.Phase{OperationType: p.OperationType, Algorithm: p.Algorithm, DataSize: p.DataSize}
	}
	return out
}

func refuse(message string) (presets.Simple, topology.Derivation, error) {
	return presets.Simple{}, topology.Derivation{}, &fault.Fault{Code: fault.Validation, Message: message}
}
