package projections_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
)

// TestAnEndedRunIsKept: the point of a run that was terminated when it had ended already is
// completed, because its results are whole. One that was stopped before says by which point.
func TestAnEndedRunIsKept(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewSimulations(), projections.NewStudies())
	if err != nil {
		t.Fatal(err)
	}
	const (
		study, workspace = "study_00000000000000000000000021", "workspace_00000000000000000000000011"
		kept, stopped    = "sim_00000000000000000000000001", "sim_00000000000000000000000002"
	)
	by := events.Domination{Point: 3, SimulationID: "sim_3", Reason: "point 3 is faster"}
	for stream, list := range map[string][]events.Data{
		study: {
			events.StudyStarted{AccountID: "a", WorkspaceID: workspace, Name: "s", Kind: commands.StudyOfSimple, Base: "{}", Method: "list", Points: 4},
			events.StudyAdvanced{To: 4, Shared: []events.SharedPoint{{Point: 2, SameAs: 0}, {Point: 3, SimulationID: kept}}},
		},
		kept: {
			events.SimulationRequested{AccountID: "a", WorkspaceID: workspace, Name: "run", Study: events.StudyPoint{ID: study, InputHash: "h"}},
			events.SimulationStarted{Engine: commands.EngineBuiltin},
			events.SimulationTerminated{By: events.System, Dominated: by},
			events.SimulationResultsPublished{Manifest: "m", Figures: events.Figures{InputHash: "h", EngineVersion: "1", TimePs: 7}},
		},
		stopped: {
			events.SimulationRequested{AccountID: "a", WorkspaceID: workspace, Name: "run", Study: events.StudyPoint{ID: study, Point: 1, InputHash: "i"}},
			events.SimulationStarted{Engine: commands.EngineBuiltin},
			events.SimulationTerminated{By: events.System, Dominated: by},
			events.SimulationResultsPublished{Manifest: "m", Partial: true},
		},
	} {
		for i, data := range list {
			f := events.Fact{Event: events.Event{Data: data, Frame: events.Frame{
				ID: stream, Stream: stream, Sequence: int64(i + 1), Time: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC),
			}}}
			if err := m.apply(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
	}
	runs, err := projections.PointRuns(t.Context(), m.db, study, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	var statuses []string
	for _, r := range runs {
		statuses = append(statuses, r.Status)
	}
	if diff := cmp.Diff([]string{"completed", "terminated", "completed", "completed"}, statuses); diff != "" {
		t.Errorf("the points (-want +got):\n%s", diff)
	}
	if r := runs[1]; r.DominatedBy != 3 || r.DominationReason != by.Reason {
		t.Errorf("the stopped run is %+v, want the point and the reason", r.Simulation)
	}
	row, err := projections.FindStudy(t.Context(), m.db, study)
	if err != nil {
		t.Fatal(err)
	}
	want := projections.StudyProgress{Shared: 2, Completed: 1, Terminated: 1}
	if got, err := projections.ProgressOf(t.Context(), m.db, &row); err != nil || got != want {
		t.Errorf("got the progress %+v, %v, want %+v", got, err, want)
	}
	times, err := projections.PointTimes(t.Context(), m.db, study)
	points := map[int64]string{}
	for _, p := range times {
		points[p.Point] = p.SimulationID
	}
	if diff := cmp.Diff(map[int64]string{0: kept, 2: kept, 3: kept}, points); err != nil || diff != "" {
		t.Errorf("the times: %v (-want +got):\n%s", err, diff)
	}
}
