package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/design"
)

// RemoveApplication takes an application away, the references to it and its
// entries in the distribution; the remaining entries are rescaled to the sum
// 1. What is attached keeps the application that it is for.
type RemoveApplication struct {
	ID    string
	Match Match
	Name  string
}

// Decide implements Command.
func (c RemoveApplication) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	document, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	if at, found := document.Find(c.Name); !found || at.Collection != design.Applications {
		return nil, fault.Missing("application", c.Name)
	}
	removed := s.remove(document, design.Applications, c.Name)
	had := document.HasChakra()
	document.Remove(c.Name)
	if err := s.keepsChakra(had, document); err != nil {
		return nil, err
	}
	removed.Shares = rescaled(document.Shares())
	return removed, nil
}

// rescaled returns the entries whose shares change when those of each kind are
// made to sum up to 1. Where all are 0 each gets the same.
func rescaled(entries []design.Entry) []events.DistributionShare {
	var shares []events.DistributionShare
	for _, kind := range []string{"client", "server"} {
		sum, count := sumOf(entries, kind), 0.0
		for _, e := range entries {
			if e.ApplicationType == kind {
				count++
			}
		}
		for _, e := range entries {
			value := e.DistributionPercent.Value / sum
			if sum == 0 {
				value = 1 / count
			}
			if e.ApplicationType == kind && value != e.DistributionPercent.Value {
				shares = append(shares, events.DistributionShare{
					ParentApplication: e.ParentApplication, DistributionID: e.DistributionPercent.DistributionID, Value: decimalOf(value),
				})
			}
		}
	}
	return shares
}
