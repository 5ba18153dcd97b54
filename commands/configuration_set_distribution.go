package commands

import (
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
)

// SetDistribution sets the share of an entry in the distribution of
// applications. Repeating it changes nothing. Source: completions 3.5 row 22.
type SetDistribution struct {
	ID                string
	Match             Match
	ParentApplication string
	DistributionID    string
	Value             float64 // 0 to 1
}

// Decide implements Command.
func (c SetDistribution) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	doc, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	if doc.Topology.AppDistribution == nil {
		return nil, fault.New(fault.Validation, "the topology has no appDistribution; add a non-coordinated application first")
	}
	entries := doc.Shares()
	i := slices.IndexFunc(entries, func(e document.Entry) bool { return e.IsOf(c.ParentApplication, c.DistributionID) })
	switch {
	case i < 0:
		return nil, fault.New(fault.NotFound, "distribution %s of application %s does not exist", c.DistributionID, c.ParentApplication)
	case entries[i].DistributionPercent.Value == c.Value:
		return nil, nil
	}
	return s.fitting(events.ConfigurationParametersPatched{
		Version: s.Version + 1, TargetKind: document.OfDistribution,
		Shares: []events.DistributionShare{{
			ParentApplication: c.ParentApplication, DistributionID: c.DistributionID, Value: decimalOf(c.Value),
		}},
	})
}
