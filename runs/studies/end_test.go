package studies

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/testworld"
	"netsim/projections"
)

// TestARunThatHasEndedIsKept: a study that is stopped cancels the runs that wait, and
// terminates those that run. One that has ended after the worker looked stays as it is.
func TestARunThatHasEndedIsKept(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	worker := &Worker{Commands: w.Commands, DB: w.DB}
	start := commands.StartSimulation{Started: events.SimulationStarted{Engine: commands.EngineBuiltin, RunID: "r"}}
	for name, c := range map[string]struct {
		before []commands.Command[commands.Simulation]
		status string
		reason string // of its deletion
	}{
		"waiting":   {nil, commands.Provisioning, reasonStudy},
		"running":   {[]commands.Command[commands.Simulation]{start}, commands.Terminated, ""},
		"completed": {[]commands.Command[commands.Simulation]{start, commands.CompleteSimulation{}}, commands.Completed, ""},
		"failed":    {[]commands.Command[commands.Simulation]{commands.FailSimulation{}}, commands.Failed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, study := events.NewID(events.SimulationPrefix), events.NewID(events.StudyPrefix)
			testworld.Do(t, w, id, commands.RequestSimulation{Requested: events.SimulationRequested{
				Origin: commands.OriginSimple, AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, ConfigurationID: events.NewID(events.ConfigurationPrefix),
				ConfigurationVersion: 1, Name: name, DurationNs: 1e9, Study: events.StudyPoint{ID: study, InputHash: name},
			}})
			open, err := projections.OpenStudyRuns(t.Context(), w.DB, study, stopPage)
			if err != nil || len(open) != 1 {
				t.Fatalf("the open runs are %v (%v), want one", open, err)
			}
			for _, cmd := range c.before {
				testworld.Do(t, w, id, cmd)
			}
			for range 2 {
				if err := worker.stopOne(t.Context(), open[0]); err != nil {
					t.Fatal(err)
				}
			}
			got, err := projections.StudyRuns(t.Context(), w.DB, study)
			want := []projections.StudyRun{{ID: id, Status: c.status, Deleted: c.reason, WorkspaceID: events.DefaultWorkspace}}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("after the stop (-want +got), %v:\n%s", err, diff)
			}
		})
	}
}
