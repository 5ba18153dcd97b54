// Package studies runs studies: it requests the runs of their points, lets points take
// the results of equal runs, and stops and deletes runs with their study. README.md says
// what it owns and promises.
package studies

import (
	"context"
	"fmt"
	"strconv"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
	"netsim/runs/studies/plan"
	"netsim/simulator/presets"
)

// RunID returns the id of the run of a point. A round is a resumption of the study.
func RunID(study string, point, round int64) string {
	return events.DerivedID(events.SimulationPrefix, study, strconv.FormatInt(point, 10), strconv.FormatInt(round, 10))
}

// PlanOf returns the plan of a stored study.
func PlanOf(s *projections.Study) (*plan.Plan, error) {
	list, err := s.AxisList()
	if err != nil {
		return nil, err
	}
	axes := make([]plan.Axis, len(list))
	for i, a := range list {
		axes[i] = plan.Axis(a)
	}
	replicates := max(s.Replicates, 1)
	p, err := plan.New(axes, s.Method, s.Points/replicates, uint64(s.Seed))
	if err == nil {
		err = p.Repeat(replicates)
	}
	if err != nil {
		return nil, fmt.Errorf("the plan of study %s: %w", s.ID, err)
	}
	return p, nil
}

// points makes the requests of the runs of a study's points.
type points interface {
	// request returns the request of the run of a point, and the number of its ranks.
	request(point int64) (r events.SimulationRequested, ranks int64, err error)
	// prepare makes what the run needs before it is requested. Repeating it makes nothing
	// more.
	prepare(ctx context.Context, point int64) error
}

// pointsOf returns the points of a study.
func (w *Worker) pointsOf(ctx context.Context, s *projections.Study, p *plan.Plan) (points, error) {
	if s.Kind == commands.StudyOfSimple {
		return &submissions{w, s, p, map[presets.Outline]string{}}, nil
	}
	sources, err := SourcesOf(ctx, w.DB, s, p)
	return &configurations{w, s, p, sources}, err
}

// requestOf returns what the requests of all points of a study have in common.
func requestOf(s *projections.Study, point int64, hash string) events.SimulationRequested {
	return events.SimulationRequested{
		AccountID: s.AccountID, WorkspaceID: s.WorkspaceID, SandboxID: s.SandboxID,
		Name:  nameOf(s, point),
		Study: events.StudyPoint{ID: s.ID, Point: point, Round: s.Round, InputHash: hash},
	}
}

// nameOf returns the name of the run of a point. With replicates it is that of the point
// that clients see, and which of its replicates it is.
func nameOf(s *projections.Study, point int64) string {
	if s.Replicates > 1 {
		return fmt.Sprintf("%s-%d-%d", s.Name, point/s.Replicates, point%s.Replicates)
	}
	return s.Name + "-" + strconv.FormatInt(point, 10)
}
