package studies

import (
	"context"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/runs/studies/plan"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
)

// The limit of the simulated time of a simple submission (completions.md section 4.3).
const (
	simpleRunTime     = time.Hour
	simpleRunTimeText = "1h"
)

// submissions are the points of a study of simple submissions. The traceset and the
// configuration of a run follow its request, as they do for every submission.
type submissions struct {
	*Worker

	study *projections.Study
	plan  *plan.Plan
}

func (s *submissions) request(point int64) (r events.SimulationRequested, ranks int64, err error) {
	simple, err := plan.Simple(s.study.Base, s.plan, int(point))
	if err != nil {
		return r, 0, err
	}
	text, err := document.Canonical(simple)
	if err != nil {
		return r, 0, err
	}
	library, traceset, err := s.Library(s.study.AccountID, simple)
	if err != nil {
		return r, 0, err
	}
	hash, err := simpleInputs(simple, library)
	if err != nil {
		return r, 0, err
	}
	r = requestOf(s.study, point, hash)
	r.Origin, r.Simple, r.TracesetID = commands.OriginSimple, text, traceset
	r.ConfigurationID, r.ConfigurationVersion = events.DerivedID(events.ConfigurationPrefix, RunID(s.study.ID, point, s.study.Round)), 1
	r.DurationNs, r.Duration = simpleRunTime.Nanoseconds(), simpleRunTimeText
	return r, int64(collective.Ranks(simple.Groups)), nil
}

func (s *submissions) prepare(context.Context, int64) error { return nil }

// simpleInputs returns the input hash of a simple submission with the built-in engine.
func simpleInputs(simple presets.Simple, library string) (string, error) {
	doc, err := simple.Document()
	if err != nil {
		return "", err
	}
	text, err := document.Canonical(doc)
	if err != nil {
		return "", err
	}
	order := execution.Order{
		DocumentHash: execution.Hash(text), DurationNs: simpleRunTime.Nanoseconds(),
		Traceset: &execution.Traceset{Format: presets.Format, LibraryHash: library},
	}
	return order.InputHash(), nil
}
