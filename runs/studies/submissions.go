package studies

import (
	"context"

	"netsim/content/simple"
	"netsim/events"
	"netsim/projections"
	"netsim/runs/execution"
	"netsim/runs/studies/plan"
	"netsim/simulator/document"
	"netsim/simulator/presets"
)

// submissions are the points of a study of simple submissions. The traceset and the
// configuration of a run follow its request, as they do for every submission.
type submissions struct {
	*Worker

	study *projections.Study
	plan  *plan.Plan
}

func (s *submissions) request(point int64) (r events.SimulationRequested, ranks int64, err error) {
	resolved, err := plan.Simple(s.study.Base, s.plan, int(point))
	if err != nil {
		return r, 0, err
	}
	submission, err := simple.New(resolved)
	if err != nil {
		return r, 0, err
	}
	hash, err := simpleInputs(submission)
	if err != nil {
		return r, 0, err
	}
	r = requestOf(s.study, point, hash)
	submission.Fill(&r, RunID(s.study.ID, point, s.study.Round))
	return r, submission.Workload.Ranks, nil
}

func (s *submissions) prepare(context.Context, int64) error { return nil }

// simpleInputs returns the input hash of a simple submission with the built-in engine.
func simpleInputs(s *simple.Submission) (string, error) {
	doc, err := s.Document()
	if err != nil {
		return "", err
	}
	text, err := document.Canonical(doc)
	if err != nil {
		return "", err
	}
	order := execution.Order{
		DocumentHash: execution.Hash(text), DurationNs: simple.RunTime.Nanoseconds(),
		Traceset: &execution.Traceset{Format: presets.Format, LibraryHash: s.Workload.LibraryHash},
	}
	return order.InputHash(), nil
}
