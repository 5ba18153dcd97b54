package commands

import (
	"cmp"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// UpdateConfiguration replaces members of a configuration's document, its name or
// its traceset. Members that are not given stay. Repeating it changes nothing.
// Source: completions 3.5 row 4.
type UpdateConfiguration struct {
	ID         string
	Match      Match
	Name       string                  // "" for the stored one
	Members    []events.DocumentMember // JSON texts, as the client sent them
	TracesetID string                  // "" for the stored one
	RankCount  int64                   // of TracesetID
}

// Decide implements Command.
func (c UpdateConfiguration) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	doc, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	updated := events.ConfigurationUpdated{Version: s.Version + 1}
	if c.Name != s.Name {
		updated.Name = c.Name
	}
	ranks := s.RankCount
	if c.TracesetID != "" && (c.TracesetID != s.TracesetID || c.RankCount != s.RankCount) {
		updated.TracesetID, updated.RankCount, ranks = c.TracesetID, c.RankCount, c.RankCount
	}
	had := doc.HasChakra()
	updated.Members, err = c.replace(doc, ranks)
	if err != nil {
		return nil, err
	}
	if updated.TracesetID != "" && !doc.HasChakra() {
		return nil, fault.New(fault.Validation, "activeTraceset needs a chakra application")
	}
	if err := cmp.Or(s.keepsChakra(had, doc), s.keepsMapping(doc, ranks)); err != nil {
		return nil, err
	}
	updated.ComponentCount = int64(doc.ComponentCount())
	if updated.Name == "" && updated.Members == nil && updated.TracesetID == "" {
		return nil, nil
	}
	return s.fitting(updated)
}

// replace changes the document and returns the members that changed.
func (c UpdateConfiguration) replace(doc *document.Document, ranks int64) ([]events.DocumentMember, error) {
	before, err := doc.Members()
	if err != nil {
		return nil, err
	}
	for _, m := range c.Members {
		if err := doc.Replace(m.Member, m.Value); err != nil {
			return nil, fault.New(fault.Validation, "%s", err)
		}
	}
	if err := validation.Complete(doc); err != nil {
		return nil, fault.New(fault.Validation, "%s", err)
	}
	doc.SetRankCount(ranks)
	after, err := doc.Members()
	var changed []events.DocumentMember
	for i, m := range after {
		if m != before[i] {
			changed = append(changed, events.DocumentMember{Member: m.Name, Value: m.Text})
		}
	}
	return changed, err
}
