package commands

import (
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/design"
)

// RemoveComponent removes a component, a container or a link, and every reference
// to it. Repeating it is NotFound. Source: completions 3.5 row 12.
type RemoveComponent struct {
	ID    string
	Match Match
	Name  string
}

// Decide implements Command.
func (c RemoveComponent) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	document, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	at, found := document.Find(c.Name)
	if !found || at.Collection == design.Applications {
		return nil, fault.Missing("component", c.Name)
	}
	return s.remove(document, at.Collection, c.Name), nil
}

func (s *Configuration) remove(document *design.Document, collection, name string) events.ConfigurationComponentRemoved {
	removed := events.ConfigurationComponentRemoved{Version: s.Version + 1, Collection: collection, Name: name}
	for _, h := range document.Holders() {
		if slices.ContainsFunc(h.Refs, func(r design.Ref) bool { return r.Names(name) }) {
			removed.References = append(removed.References, events.ReferenceHolder{HolderKind: h.Type, Holder: h.Name})
		}
	}
	return removed
}
