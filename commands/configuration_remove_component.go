package commands

import (
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
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
	doc, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	at, found := doc.Find(c.Name)
	if !found || at.Collection == document.Applications {
		return nil, fault.Missing("component", c.Name)
	}
	return s.remove(doc, at.Collection, c.Name), nil
}

func (s *Configuration) remove(doc *document.Document, collection, name string) events.ConfigurationComponentRemoved {
	removed := events.ConfigurationComponentRemoved{Version: s.Version + 1, Collection: collection, Name: name}
	for _, h := range doc.Holders() {
		if slices.ContainsFunc(h.Refs, func(r document.Ref) bool { return r.Names(name) }) {
			removed.References = append(removed.References, events.ReferenceHolder{HolderKind: h.Type, Holder: h.Name})
		}
	}
	return removed
}
