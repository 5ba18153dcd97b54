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

	study     *projections.Study
	plan      *plan.Plan
	documents map[presets.Outline]string // their hashes
}

func (s *submissions) request(point int64) (r events.SimulationRequested, ranks int64, err error) {
	resolved, err := plan.Simple(s.study.Base, s.plan, int(point), nil)
	if err != nil {
		return r, 0, err
	}
	submission, err := simple.New(resolved)
	if err != nil {
		return r, 0, err
	}
	hash, err := s.document(resolved.Outline())
	if err != nil {
		return r, 0, err
	}
	order := execution.Order{ // with the built-in engine
		DocumentHash: hash, DurationNs: simple.RunTime.Nanoseconds(),
		Traceset: &execution.Traceset{Format: presets.Format, LibraryHash: submission.Workload.LibraryHash},
	}
	r = requestOf(s.study, point, order.InputHash())
	submission.Fill(&r, RunID(s.study.ID, point, s.study.Round))
	return r, submission.Workload.Ranks, nil
}

func (s *submissions) prepare(context.Context, int64) error { return nil }

// document returns the hash of a document. Most points have that of another one, and to
// make one takes many times what the rest of a request does.
func (s *submissions) document(of presets.Outline) (string, error) {
	if hash, known := s.documents[of]; known {
		return hash, nil
	}
	doc, err := of.Document()
	if err != nil {
		return "", err
	}
	text, err := document.Canonical(doc)
	if err != nil {
		return "", err
	}
	s.documents[of] = execution.Hash(text)
	return s.documents[of], nil
}
