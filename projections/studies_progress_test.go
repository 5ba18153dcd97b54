package projections_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
)

// TestStudyState: the state of a study counts its points as ProgressOf does, its number
// changes with what followers are sent, and work that has not ended is counted over all
// studies.
func TestStudyState(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewSimulations(), projections.NewStudies())
	if err != nil {
		t.Fatal(err)
	}
	const (
		study, other = "study_00000000000000000000000021", "study_00000000000000000000000022"
		workspace    = "workspace_00000000000000000000000011"
		first        = "sim_00000000000000000000000001"
		second       = "sim_00000000000000000000000002"
	)
	sequences := map[string]int64{}
	apply := func(stream string, data events.Data) {
		t.Helper()
		sequences[stream]++
		f := events.Fact{Event: events.Event{Data: data, Frame: events.Frame{
			ID: stream, Stream: stream, Sequence: sequences[stream], Time: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC),
		}}}
		if err := m.apply(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	numbers := map[int64]bool{}
	check := func(status string, want projections.StudyProgress, counts projections.StudyCounts) {
		t.Helper()
		state, err := projections.FindStudyState(t.Context(), m.db, study)
		if err != nil || state.Status != status || state.StudyProgress != want {
			t.Errorf("got the state %+v, %v, want %s with %+v", state, err, status, want)
		}
		row, err := projections.FindStudy(t.Context(), m.db, study)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := projections.ProgressOf(t.Context(), m.db, &row); err != nil || got != want {
			t.Errorf("got the progress %+v, %v, want %+v", got, err, want)
		}
		if numbers[state.Number()] {
			t.Errorf("the number %d of %+v is that of an earlier state", state.Number(), state)
		}
		numbers[state.Number()] = true
		followed, err := projections.FollowStudies(t.Context(), m.db, []string{study, "study_x"})
		if diff := cmp.Diff([]projections.Followed{{ID: study, Last: state.Number()}}, followed); err != nil || diff != "" {
			t.Errorf("follow the study: %v (-want +got):\n%s", err, diff)
		}
		if got, err := projections.CountStudies(t.Context(), m.db); err != nil || got != counts {
			t.Errorf("got the counts %+v, %v, want %+v", got, err, counts)
		}
	}
	started := events.StudyStarted{AccountID: "acct_a", WorkspaceID: workspace, Name: "s", Kind: commands.StudyOfSimple, Base: "{}", Method: "list", Points: 4}
	request := func(id string, point int64) {
		t.Helper()
		apply(id, events.SimulationRequested{
			AccountID: "acct_a", WorkspaceID: workspace, Name: "run", DurationNs: 1e12,
			Study: events.StudyPoint{ID: study, Point: point, InputHash: id},
		})
	}
	apply(workspace, events.WorkspaceCreated{AccountID: "acct_a", Name: "w"})
	apply(study, started)
	check("running", projections.StudyProgress{Waiting: 4}, projections.StudyCounts{Running: 1, Waiting: 4})
	apply(other, started)
	apply(study, events.StudyAdvanced{To: 3, Shared: []events.SharedPoint{{Point: 2, SameAs: 0}}})
	check("running", projections.StudyProgress{Waiting: 3, Shared: 1}, projections.StudyCounts{Running: 2, Waiting: 5})
	request(first, 0)
	request(second, 1)
	check("running", projections.StudyProgress{Waiting: 1, Shared: 1, Unfinished: 2}, projections.StudyCounts{Running: 2, Waiting: 5, Unfinished: 2})
	apply(first, events.SimulationFailed{Reason: "r"})
	check("running", projections.StudyProgress{Waiting: 1, Shared: 1, Unfinished: 1, Failed: 1}, projections.StudyCounts{Running: 2, Waiting: 5, Unfinished: 1})
	apply(study, events.StudyTerminated{Reason: "request"})
	check("terminated", projections.StudyProgress{Waiting: 1, Shared: 1, Unfinished: 1, Failed: 1}, projections.StudyCounts{Running: 1, Waiting: 4, Unfinished: 1})
	apply(second, events.SimulationDeleted{Reason: "study"})
	check("terminated", projections.StudyProgress{Waiting: 2, Shared: 1, Failed: 1}, projections.StudyCounts{Running: 1, Waiting: 4})
	if open, counts, err := projections.OpenSimulations(t.Context(), m.db, 10); err != nil || len(open)+len(counts) != 0 {
		t.Errorf("after the deletion of a run that had not started, %v and %v are open (%v), want none", open, counts, err)
	}
	apply(study, events.StudyDeleted{Reason: "request"})
	followed, err := projections.FollowStudies(t.Context(), m.db, []string{study})
	if err != nil || len(followed) != 1 || !followed[0].Gone {
		t.Errorf("follow a deleted study: %+v, %v, want that it is gone", followed, err)
	}
}
