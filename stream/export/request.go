package export

import (
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/stream/tables"
)

// The formats of files.
const (
	Parquet = "parquet"
	NDJSON  = "ndjson"
	CSV     = "csv"
)

// Request says what to export. The manifest has it, and a resumed export must have the
// same.
type Request struct {
	Format    string  `json:"format"`
	FileBytes int64   `json:"fileBytes"` // of the records of a file: keys and values
	Filters   Filters `json:"filters"`
}

// Filters select facts. A fact must pass every filter that is not empty, and a filter
// with several values lets each of them pass.
type Filters struct {
	Families   []events.Family `json:"families,omitempty"`
	Types      []string        `json:"types,omitempty"`
	Streams    []string        `json:"streams,omitempty"`
	Workspaces []string        `json:"workspaces,omitempty"`
	Account    string          `json:"account,omitempty"`
	From       time.Time       `json:"from,omitzero"` // of the event's time, inclusive
	To         time.Time       `json:"to,omitzero"`   // exclusive
}

// check refuses values that no fact can have, and puts lists in order.
func (r *Request) check() error {
	f := &r.Filters
	f.Families, f.Types, f.Streams, f.Workspaces = sorted(f.Families), sorted(f.Types), sorted(f.Streams), sorted(f.Workspaces)
	f.From, f.To = f.From.UTC(), f.To.UTC()
	for _, family := range f.Families {
		if tables.For(family) == nil {
			return fault.New(fault.Validation, "family %q is unknown: the families are %v", family, events.Families())
		}
	}
	for _, t := range f.Types {
		if !events.Known(t) {
			return fault.New(fault.Validation, "event type %q is unknown: docs/events.md lists the types", t)
		}
	}
	for _, stream := range f.Streams {
		if _, err := events.FamilyOf(stream); err != nil {
			return fault.New(fault.Validation, "%v", err)
		}
	}
	switch {
	case !slices.Contains([]string{Parquet, NDJSON, CSV}, r.Format):
		return fault.New(fault.Validation, "format %q is unknown: parquet, ndjson and csv are known", r.Format)
	case r.FileBytes < 1:
		return fault.New(fault.Validation, "the size of a file, %d bytes, must be above zero", r.FileBytes)
	case f.Account != "" && !events.ValidID(events.AccountPrefix, f.Account):
		return fault.New(fault.Validation, "account %q is not an account id", f.Account)
	case !f.To.IsZero() && !f.From.Before(f.To):
		return fault.New(fault.Validation, "the end of the time, %s, must be after its begin, %s", f.To.Format(time.RFC3339), f.From.Format(time.RFC3339))
	}
	for _, w := range f.Workspaces {
		if !events.ValidID(events.WorkspacePrefix, w) {
			return fault.New(fault.Validation, "workspace %q is not a workspace id", w)
		}
	}
	return nil
}

func sorted[T ~string](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
