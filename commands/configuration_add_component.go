package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/catalogue"
	"netsim/simulator/design"
)

// AddComponent declares something of a model, with the model's defaults; a
// rack or a pod becomes a container, a layer a link. Source: completions 3.5
// row 11.
type AddComponent struct {
	ID      string
	Match   Match
	Name    string
	Type    string // must be the model's
	Model   string // id or reference
	Version string // "" for the latest stable one
}

// Decide implements Command.
func (c AddComponent) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	document, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	model, version, err := modelOf(c.Model, c.Version)
	switch {
	case err != nil:
		return nil, err
	case model.Type != c.Type:
		return nil, fault.New(fault.Validation, "type must be '%s' as that of model '%s', got '%s'", model.Type, c.Model, c.Type)
	case model.Type == design.TypeApplication:
		return nil, fault.New(fault.Validation, "model '%s' is an application's", c.Model)
	}
	var declared any
	collection := design.Components
	switch model.Type {
	case design.TypeRack, design.TypePod:
		collection, declared = design.Containers, model.Container(c.Name, version)
	case design.TypeLayer:
		collection, declared = design.Links, model.Component(c.Name, version)
	default:
		declared = model.Component(c.Name, version)
	}
	return s.declare(document, collection, c.Name, declared)
}

// modelOf returns a model by its id or reference, and the version asked for.
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

// declare adds what is declared to a collection, unless its name is taken.
func (s *Configuration) declare(document *design.Document, collection, name string, declared any, shares ...events.DistributionShare) (events.Data, error) {
	if at, taken := document.Find(name); taken {
		return nil, fault.New(fault.Validation, "name '%s' is taken by a declaration in %s", name, at.Collection)
	}
	text, err := design.Canonical(declared)
	if err != nil {
		return nil, err
	}
	return s.fitting(events.ConfigurationComponentAdded{
		Version: s.Version + 1, Collection: collection, Declaration: text, Shares: shares,
	})
}
