package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
)

// ChangeReference changes the count or the group of a reference. Repeating it
// changes nothing. Source: completions 3.5 rows 15, 20, 28.
type ChangeReference struct {
	ID     string
	Match  Match
	In     HolderKind
	Holder string // its name; "" for the topology
	Name   string
	Count  *int64  // nil for the stored one
	Group  *string // nil for the stored one
}

// Decide implements Command.
func (c ChangeReference) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	_, holder, err := s.holder(c.ID, c.Match, c.In, c.Holder)
	if err != nil {
		return nil, err
	}
	ref, found := holder.Reference(c.Name)
	if !found {
		return nil, fault.Missing("component", c.Name)
	}
	set := events.ConfigurationReferenceSet{
		Version: s.Version + 1, HolderKind: holder.Type, Holder: c.Holder,
		Name: ref.Name, Type: ref.Type, Count: int64(ref.Count), Group: ref.Group,
		Model: ref.Model, ModelVersion: ref.Version, ParentApplicationName: ref.ParentApplicationName,
	}
	if c.Count != nil {
		set.Count = *c.Count
	}
	if c.Group != nil {
		set.Group = *c.Group
	}
	if referenceOf(set) == ref {
		return nil, nil
	}
	return s.fitting(set)
}
