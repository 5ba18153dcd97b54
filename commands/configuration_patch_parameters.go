package commands

import (
	"encoding/json"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/catalogue"
	"netsim/simulator/document"
	"netsim/simulator/validation"
)

// PatchParameters changes parameter values of an application, a component or a
// link, or global ones. Repeating it changes nothing. Source: completions 3.5
// rows 9, 13, 24, 25, and 3.7.
type PatchParameters struct {
	ID     string
	Match  Match
	Of     string // document.OfApplication, OfComponent, OfLink or OfGlobal
	Target string // its name; "" for the global ones
	Patch  json.RawMessage
}

// Decide implements Command.
func (c PatchParameters) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	doc, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	stored, found := doc.Parameters(c.Of, c.Target)
	if !found {
		return nil, fault.Missing(c.Of, c.Target)
	}
	after, err := c.apply(doc, stored)
	if err != nil {
		return nil, fault.New(fault.Validation, "%s", err)
	}
	if patch, err := document.ParseParams(string(c.Patch)); err == nil && s.MappingFile != "" && patch.NamesMapping() {
		return nil, mappingLocked()
	}
	changes := document.Changes(stored, after)
	if len(changes) == 0 {
		return nil, nil
	}
	text, err := document.Canonical(changes)
	if err != nil {
		return nil, err
	}
	return s.fitting(events.ConfigurationParametersPatched{
		Version: s.Version + 1, TargetKind: c.Of, Target: c.Target, Patch: text,
	})
}

// apply returns the whole tree after the patch. A parameter that the model does
// not know may be set; validation reports it.
func (c PatchParameters) apply(doc *document.Document, stored document.Params) (document.Params, error) {
	if c.Of == document.OfGlobal {
		return validation.PatchGlobals("globalParameters", stored, c.Patch)
	}
	at, _ := doc.Find(c.Target)
	model, _ := catalogue.Find(at.Model)
	return validation.Patch("parameters", stored, c.Patch, model.Parameters)
}
