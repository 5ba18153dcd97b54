package projections

import (
	"encoding/json"
	"fmt"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/columns"
)

// Study is a row of the studies.
type Study struct {
	ID            string
	AccountID     string
	WorkspaceID   string
	Name          string
	Status        string
	Reason        string // of a termination: request, or why the service ended it
	Kind          string
	Base          string // canonical JSON of the base
	Axes          string // JSON array of events.StudyAxis
	Method        string
	Points        int64
	Seed          int64
	StopDominated bool
	Replicates    int64  // how many points in a row differ in their seeds only, at least 1
	Prices        string // canonical JSON of the study's own price list; "" for the service's
	Servers       bool   // whether a price includes those of the servers
	Next          int64  // the first point without a run or a result
	Shared        int64  // points that take the result of another run
	Round         int64
	CreatedBy     string
	SandboxID     string
	CorrelationID string // of the request that started it
	Deleted       string // reason of the deletion, request or workspace; "" if not deleted
	CreatedAt     time.Time
	EndedAt       *time.Time // nil while it is running
}

// AxisList returns the axes of the study.
func (s *Study) AxisList() ([]events.StudyAxis, error) {
	var axes []events.StudyAxis
	if err := json.Unmarshal([]byte(s.Axes), &axes); err != nil {
		return nil, fmt.Errorf("read the axes of %s: %w", s.ID, err)
	}
	return axes, nil
}

// studyShare is a row of the points that take the result of another run.
type studyShare struct {
	StudyID      string
	Point        int64
	SimulationID string
	SameAs       int64
}

// Studies is the projection of the studies.
type Studies struct{ table[Study] }

// NewStudies returns the projection.
func NewStudies() *Studies {
	return &Studies{table[Study]{
		name: "studies", file: "studies.sql", columns: studyColumns,
		keyOf: streamOf(events.StudyPrefix), first: begins, insertsNew: true, fold: foldStudy,
	}}
}

var (
	studyColumns      = columns.Of[Study]()
	studyShareColumns = columns.Of[studyShare]()
)

func foldStudy(s *Study, f *events.Fact) {
	switch d := f.Data.(type) {
	case events.StudyStarted:
		*s = Study{
			ID: f.Stream, AccountID: d.AccountID, WorkspaceID: d.WorkspaceID, Name: d.Name, Status: commands.Running,
			Kind: d.Kind, Base: d.Base, Axes: textOf(d.Axes), Method: d.Method, Points: d.Points, Seed: d.Seed, StopDominated: d.StopDominated,
			Replicates: max(d.Replicates, 1), Prices: d.Prices, Servers: d.Servers,
			CreatedBy: f.Actor, SandboxID: d.SandboxID, CorrelationID: f.CorrelationID, CreatedAt: f.Time,
		}
	case events.StudyAdvanced:
		s.Next = d.To
		s.Shared += int64(len(d.Shared))
	case events.StudyCompleted:
		s.Status, s.EndedAt = commands.Completed, timeOf(f)
	case events.StudyTerminated:
		s.Status, s.Reason, s.EndedAt = commands.Terminated, d.Reason, timeOf(f)
	case events.StudyResumed:
		s.Status, s.Reason, s.Round, s.EndedAt = commands.Running, "", d.Round, nil
	case events.StudyDeleted:
		s.Deleted = d.Reason
	}
}

// StartedStudy returns the row that the start of a study makes.
func StartedStudy(started *events.Event) Study { return begun(foldStudy, started) }

// After returns the row after one more event.
func (s Study) After(e *events.Event) Study {
	foldStudy(&s, &events.Fact{Event: *e})
	return s
}

// Apply implements Projection.
func (p *Studies) Apply(writes *columns.Writes, facts []events.Fact) error {
	p.apply(writes, facts, nil)
	var shares []*studyShare
	for i := range facts {
		if d, ok := facts[i].Data.(events.StudyAdvanced); ok {
			for _, s := range d.Shared {
				shares = append(shares, &studyShare{facts[i].Stream, s.Point, s.SimulationID, s.SameAs})
			}
		}
	}
	studyShareColumns.Insert(writes, "study_shares", shares, "ON CONFLICT DO NOTHING")
	return nil
}
