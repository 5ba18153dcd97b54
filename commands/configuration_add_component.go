package commands

import (
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
)

// AddComponent declares a component of a model, with the model's defaults. A
// rack or a pod becomes a container, a layer a link. Repeating it is refused:
// the name is taken. Source: completions 3.5 row 11.
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
	doc, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	model, version, err := modelOf(c.Model, c.Version)
	switch {
	case err != nil:
		return nil, err
	case model.Type != c.Type:
		return nil, fault.New(fault.Validation, "type must be '%s' as that of model '%s', got '%s'", model.Type, c.Model, c.Type)
	case model.Type == document.TypeApplication:
		return nil, fault.New(fault.Validation, "model '%s' is the model of an application; add it as an application", c.Model)
	}
	var declared any
	collection := document.Components
	switch model.Type {
	case document.TypeRack, document.TypePod:
		collection, declared = document.Containers, model.Container(c.Name, version)
	case document.TypeLayer:
		collection, declared = document.Links, model.Component(c.Name, version)
	default:
		declared = model.Component(c.Name, version)
	}
	return s.declare(doc, collection, c.Name, declared)
}
