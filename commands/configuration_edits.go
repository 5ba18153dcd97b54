package commands

import (
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/mapping"
)

// open returns a copy of the document to decide on. It returns NotFound for a
// configuration that does not exist, PreconditionFailed for another version.
func (c *Configuration) open(id string, m Match) (*document.Document, error) {
	if !c.Exists || c.Deleted {
		return nil, fault.Missing("configuration", id)
	}
	if err := m.Check(c.Version); err != nil {
		return nil, err
	}
	return document.Parse(c.Document)
}

// holder returns the document, as open does, and a holder in it.
func (c *Configuration) holder(id string, m Match, in HolderKind, name string) (*document.Document, document.Holder, error) {
	doc, err := c.open(id, m)
	if err != nil {
		return nil, document.Holder{}, err
	}
	h, err := in.find(doc, name)
	return doc, h, err
}

// fitting returns the event of a change, or PayloadTooLarge when the change would
// make the document too large. The event is about as long as the text that it
// adds, so the new document is built only when their lengths together come near
// the limit.
func (c *Configuration) fitting(change events.Data) (events.Data, error) {
	const margin = 1 << 20 // more than what a change adds beside its event's text: the models of references
	text, err := events.Encode(change)
	if err != nil || len(c.Document)+len(text)+margin <= document.MaxDocument {
		return change, err
	}
	after := *c
	after.Evolve(events.Event{Data: change})
	if len(after.Document) > len(c.Document) {
		if err := CheckSize(after.Document); err != nil {
			return nil, err
		}
	}
	return change, nil
}

// CheckSize returns PayloadTooLarge for the text of a document that is too large.
func CheckSize(doc string) error {
	if len(doc) > document.MaxDocument {
		return fault.New(fault.PayloadTooLarge, "the document would have %d bytes; at most %d are allowed", len(doc), document.MaxDocument)
	}
	return nil
}

// keepsChakra refuses a change that removes the last chakra application while a
// mapping file or a traceset is attached. had says whether there was one before.
func (c *Configuration) keepsChakra(had bool, doc *document.Document) error {
	switch {
	case !had || doc.HasChakra():
		return nil
	case c.MappingFile != "":
		return fault.New(fault.Conflict, "mapping file %s is attached and places the ranks of the chakra application; detach it first", c.MappingFile)
	case c.TracesetID != "":
		return fault.New(fault.Conflict, "traceset %s is attached and the chakra application replays it; detach it first", c.TracesetID)
	}
	return nil
}

// keepsMapping refuses a change after which an attached mapping file would no
// longer place exactly the ranks of the traceset.
func (c *Configuration) keepsMapping(doc *document.Document, ranks int64) error {
	switch {
	case c.MappingFile == "":
		return nil
	case ranks != c.RankCount:
		return fault.New(fault.TracesetConflictsWithMapping, "mapping file %s places %d ranks, the traceset has %d; detach it first",
			c.MappingFile, c.RankCount, ranks)
	case !doc.Mapped(mapping.Name):
		return mappingLocked()
	}
	return nil
}

func mappingLocked() error {
	return fault.New(fault.MappingParamsLocked, "UseMapping and MappingFileName are set by the attached mapping file; detach it first")
}

// HolderKind is a kind of holder of references.
type HolderKind string

// The kinds of holders.
const (
	InTopology  HolderKind = "topology"
	InContainer HolderKind = "container"
	InServer    HolderKind = "server"
)

// find returns the holder with a name. It returns NotFound for a name that is not
// declared as a component or container, Validation for a component that is not a
// server.
func (k HolderKind) find(doc *document.Document, name string) (document.Holder, error) {
	if k == InTopology {
		h, _ := doc.FindHolder("")
		return h, nil
	}
	at, declared := doc.Find(name)
	switch {
	case k == InContainer && (!declared || at.Collection != document.Containers):
		return document.Holder{}, fault.Missing("container", name)
	case k == InServer && (!declared || at.Collection != document.Components):
		return document.Holder{}, fault.Missing("component", name)
	case k == InServer && at.Type != document.TypeServer:
		return document.Holder{}, fault.New(fault.Validation, "component '%s' is a %s; only a server has components", name, at.Type)
	}
	h, _ := doc.FindHolder(name)
	return h, nil
}

// modelOf returns a model by its id or reference, and the requested version.
func modelOf(id, version string) (catalogue.Entry, string, error) {
	model, known := catalogue.Find(id)
	switch {
	case !known:
		return model, "", fault.New(fault.Validation, "modelId '%s' is not in the catalogue", id)
	case version == "":
		return model, model.Latest(), nil
	case !model.Has(version):
		return model, "", fault.New(fault.Validation, "version '%s' is not one of model '%s'", version, id)
	}
	return model, version, nil
}

// declare adds a declaration to a collection, unless its name is taken.
func (s *Configuration) declare(doc *document.Document, collection, name string, declared any, shares ...events.DistributionShare) (events.Data, error) {
	if at, taken := doc.Find(name); taken {
		return nil, fault.New(fault.Validation, "name '%s' is taken by a declaration in %s", name, at.Collection)
	}
	text, err := document.Canonical(declared)
	if err != nil {
		return nil, err
	}
	return s.fitting(events.ConfigurationComponentAdded{
		Version: s.Version + 1, Collection: collection, Declaration: text, Shares: shares,
	})
}

// tolerance is the allowed error of a sum of shares.
const tolerance = 1e-9

// sumOf adds up the shares of one kind of application.
func sumOf(entries []document.Entry, kind string) float64 {
	sum := 0.0
	for _, e := range entries {
		if e.ApplicationType == kind {
			sum += e.DistributionPercent.Value
		}
	}
	return sum
}
