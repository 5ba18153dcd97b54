package commands

import (
	"encoding/json"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/catalogue"
	"netsim/simulator/design"
	"netsim/simulator/validation"
)

// PatchParameters changes parameter values of an application, a component or a
// link, or global ones. Repeating it changes nothing. Source: completions 3.5
// rows 9, 13, 24, 25, and 3.7.
type PatchParameters struct {
	ID     string
	Match  Match
	Of     string // design.OfApplication, OfComponent, OfLink or OfGlobal
	Target string // its name; "" for the global ones
	Patch  json.RawMessage
}

// Decide implements Command.
func (c PatchParameters) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	document, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	stored, found := document.Parameters(c.Of, c.Target)
	if !found {
		return nil, fault.Missing(c.Of, c.Target)
	}
	after, err := c.apply(document, stored)
	if err != nil {
		return nil, fault.New(fault.Validation, "%s", err)
	}
	if patch, err := design.ParseParams(string(c.Patch)); err == nil && s.MappingFile != "" && patch.NamesMapping() {
		return nil, mappingLocked()
	}
	changes := design.Changes(stored, after)
	if len(changes) == 0 {
		return nil, nil
	}
	text, err := design.Canonical(changes)
	if err != nil {
		return nil, err
	}
	return s.fitting(events.ConfigurationParametersPatched{
		Version: s.Version + 1, TargetKind: c.Of, Target: c.Target, Patch: text,
	})
}

// apply returns the whole tree after the patch. A parameter that the model does
// not know may be set; validation reports it.
func (c PatchParameters) apply(document *design.Document, stored design.Params) (design.Params, error) {
	if c.Of == design.OfGlobal {
		return validation.PatchGlobals("globalParameters", stored, c.Patch)
	}
	at, _ := document.Find(c.Target)
	model, _ := catalogue.Find(at.Model)
	return validation.Patch("parameters", stored, c.Patch, model.Parameters)
}
