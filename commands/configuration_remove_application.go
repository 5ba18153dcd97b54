package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
)

// RemoveApplication removes an application, the references to it and its entries
// in the distribution. The remaining entries are rescaled to the sum 1. The last
// chakra application stays while a traceset or a mapping file is attached.
// Repeating it is NotFound.
type RemoveApplication struct {
	ID    string
	Match Match
	Name  string
}

// Decide implements Command.
func (c RemoveApplication) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	doc, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	if at, found := doc.Find(c.Name); !found || at.Collection != document.Applications {
		return nil, fault.Missing("application", c.Name)
	}
	removed := s.remove(doc, document.Applications, c.Name)
	had := doc.HasChakra()
	doc.Remove(c.Name)
	if err := s.keepsChakra(had, doc); err != nil {
		return nil, err
	}
	removed.Shares = rescaled(doc.Shares())
	return removed, nil
}

// rescaled scales the shares of each kind to the sum 1 and returns the entries
// that change. Where all shares are 0, each entry gets the same share.
func rescaled(entries []document.Entry) []events.DistributionShare {
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
