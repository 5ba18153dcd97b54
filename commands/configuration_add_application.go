package commands

import (
	"slices"
	"time"

	"netsim/events"
	"netsim/fault"
	"netsim/simulator/document"
)

// AddApplication declares an application of a model, with the model's defaults. A
// non-coordinated application gets the client and server shares that the
// distribution still lacks. Repeating it is refused: the name is taken. Source:
// completions 3.2, 3.5 row 7.
type AddApplication struct {
	ID      string
	Match   Match
	Name    string
	Model   string // id or reference
	Version string // "" for the latest stable one
}

// Decide implements Command.
func (c AddApplication) Decide(s *Configuration, _ time.Time) (events.Data, error) {
	doc, err := s.open(c.ID, c.Match)
	if err != nil {
		return nil, err
	}
	model, version, err := modelOf(c.Model, c.Version)
	switch {
	case err != nil:
		return nil, err
	case model.Type != document.TypeApplication:
		return nil, fault.New(fault.Validation, "modelId '%s' is the model of a %s, not of an application", c.Model, model.Type)
	}
	application := model.Application(c.Name, version)
	if model.TrafficType == document.TrafficChakra {
		if _, taken := doc.Find(c.Name); s.MappingFile != "" && !taken {
			return nil, mappingLocked()
		}
		application.TypedParameters.SetRankCount(s.RankCount)
		return s.declare(doc, document.Applications, c.Name, application)
	}
	var shares []events.DistributionShare
	for _, kind := range []string{"client", "server"} {
		name := c.Name + "-" + kind
		if slices.ContainsFunc(doc.Shares(), func(e document.Entry) bool { return e.IsOf(c.Name, name) }) { // left by an earlier application of this name
			continue
		}
		missing := 1 - sumOf(doc.Shares(), kind)
		if missing < -tolerance {
			return nil, fault.New(fault.Validation, "the %s entries of the distribution sum up to %v, above 1", kind, 1-missing)
		}
		shares = append(shares, events.DistributionShare{
			Name: name, ParentApplication: c.Name, ApplicationType: kind,
			DistributionID: name, Value: decimalOf(max(missing, 0)),
		})
	}
	return s.declare(doc, document.Applications, c.Name, application, shares...)
}
