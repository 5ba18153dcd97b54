package commands

import (
	"slices"
	"strings"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
)

// AddReference adds a reference to a declared component to a holder: the
// topology, a container or a server. Repeating it is refused. Source: completions
// 3.2, 3.5 rows 14, 18, 27.
type AddReference struct {
	ID                    string
	Match                 Match
	In                    HolderKind
	Holder                string // its name; "" for the topology
	Name                  string
	Type                  string
	Count                 int64 // 0 for 1
	Group                 string
	ParentApplicationName string // required for an application, forbidden for others
}

// Decide implements Command.
func (c AddReference) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	doc, holder, err := s.holder(c.ID, c.Match, c.In, c.Holder)
	if err != nil {
		return nil, err
	}
	if allowed := document.Allowed(holder.Type); !slices.Contains(allowed, c.Type) {
		return nil, fault.New(fault.Validation, "type must be one of [%s] in a %s, got '%s'", strings.Join(allowed, ", "), holder.Type, c.Type)
	}
	at, declared := doc.Find(c.Name)
	switch {
	case !declared && c.In == InContainer: // row 18 answers 400, the others 404
		return nil, fault.New(fault.Validation, "name '%s' is not declared", c.Name)
	case !declared:
		return nil, fault.Missing(c.Type, c.Name)
	case at.Type != c.Type:
		return nil, fault.New(fault.Validation, "type must be '%s', the type of the declaration '%s', got '%s'", at.Type, c.Name, c.Type)
	}
	if _, found := holder.Reference(c.Name); found {
		return nil, fault.New(fault.Validation, "name '%s' is referenced there already", c.Name)
	}
	if err := c.parent(doc); err != nil {
		return nil, err
	}
	return s.fitting(events.ConfigurationReferenceSet{
		Version: s.Version + 1, HolderKind: holder.Type, Holder: c.Holder,
		Name: c.Name, Type: c.Type, Count: max(c.Count, 1), Group: c.Group,
		Model: at.Model, ModelVersion: at.Version, ParentApplicationName: c.ParentApplicationName,
	})
}

// parent checks the parent application, which only an application has.
func (c AddReference) parent(doc *document.Document) error {
	switch {
	case c.Type != document.TypeApplication && c.ParentApplicationName != "":
		return fault.New(fault.Validation, "parentApplicationName is only for applications, the type is '%s'", c.Type)
	case c.Type != document.TypeApplication:
		return nil
	case c.ParentApplicationName == "":
		return fault.New(fault.Validation, "parentApplicationName is required for an application")
	}
	if at, declared := doc.Find(c.ParentApplicationName); !declared || at.Collection != document.Applications {
		return fault.New(fault.Validation, "parentApplicationName '%s' is not an application", c.ParentApplicationName)
	}
	return nil
}
