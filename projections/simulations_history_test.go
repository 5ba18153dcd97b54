package projections_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/projections"
)

// TestHistory: the history has a moment for every change of status and every
// progress report, and none for other facts. A moment has the run's last
// progress. The history can be read from any sequence number, and it is deleted
// with the simulation.
func TestHistory(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewWorkspaces(), projections.NewSimulations())
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	const id, workspace = "sim_00000000000000000000000001", "workspace_00000000000000000000000011"
	var sequence int64
	fact := func(seconds int64, data events.Data) events.Fact {
		sequence++
		return events.Fact{Event: events.Event{Data: data, Frame: events.Frame{
			ID: fmt.Sprint(sequence), Stream: id, Sequence: sequence, Time: begin.Add(time.Duration(seconds) * time.Second),
		}}}
	}
	progress := func(part int64) events.Progress {
		return events.Progress{
			SimulatedTimeNs: 100 * part, EventsProcessed: 1000 * part, DeliveredBytes: 1 << 20 * part, TotalBytes: 10 << 20,
			FinishedRanks: 1, FinishedCollectives: part, TotalCollectives: 10, LastCollective: fmt.Sprintf("allReduce %d", part),
		}
	}
	stalled := begin.Add(22 * time.Second)
	workspaceCreated := events.Fact{Event: events.Event{Data: events.WorkspaceCreated{AccountID: "acct_a", Name: "w"}, Frame: events.Frame{
		ID: "w", Stream: workspace, Sequence: 1, Time: begin,
	}}}
	facts := []events.Fact{
		fact(0, events.SimulationRequested{AccountID: "acct_a", WorkspaceID: workspace, Name: "run", DurationNs: 1e12}),
		fact(1, events.SimulationValidated{}),
		fact(2, events.SimulationStarted{Engine: "builtin", Ranks: 8}),
		fact(12, events.SimulationProgressed{Progress: progress(2)}),
		fact(22, events.SimulationProgressed{Progress: progress(5)}),
		fact(32, events.SimulationProgressed{Progress: progress(5), StalledSince: stalled}),
		fact(40, events.SimulationResultsPublished{Manifest: "m"}),
		fact(42, events.SimulationFailed{Progress: progress(5), Reason: "no simulated progress"}),
	}
	reached := func(part, seconds, rate int64, left time.Duration, since *time.Time) *projections.RunProgress {
		p := &projections.RunProgress{Progress: progress(part), At: begin.Add(time.Duration(seconds) * time.Second), Ranks: 8, EventRate: rate, StalledSince: since}
		if left > 0 {
			ns := int64(left)
			p.RemainingNs = &ns
		}
		return p
	}
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	want := []projections.Moment{
		{Sequence: 1, At: at(0), Status: commands.Validating},
		{Sequence: 2, At: at(1), Status: commands.Provisioning},
		{Sequence: 3, At: at(2), Status: commands.Running},
		{Sequence: 4, At: at(12), Progressed: true, Status: commands.Running, Progress: reached(2, 12, 200, 40*time.Second, nil)},
		{Sequence: 5, At: at(22), Progressed: true, Status: commands.Running, Progress: reached(5, 22, 250, 20*time.Second, nil)},
		{Sequence: 6, At: at(32), Progressed: true, Status: commands.Running, Progress: reached(5, 32, 166, 0, &stalled)},
		{Sequence: 8, At: at(42), Status: commands.Failed, Reason: "no simulated progress", Progress: reached(5, 42, 125, 0, &stalled)},
	}
	if err := m.apply(t.Context(), append([]events.Fact{workspaceCreated}, facts[:4]...)...); err != nil {
		t.Fatal(err)
	}
	m.forget()
	if err := m.apply(t.Context(), facts[4:]...); err != nil {
		t.Fatal(err)
	}
	for _, after := range []int64{0, 3, 6, 7, 8, 100} {
		got, err := projections.History(t.Context(), m.db, id, after, 100)
		if err != nil {
			t.Fatal(err)
		}
		rest := slices.DeleteFunc(slices.Clone(want), func(m projections.Moment) bool { return m.Sequence <= after })
		for i := range got {
			got[i].At = got[i].At.UTC()
		}
		if diff := cmp.Diff(rest, got, cmp.Transformer("none", func(l []projections.Moment) []projections.Moment { return append([]projections.Moment{}, l...) })); diff != "" {
			t.Errorf("after %d (-want +got):\n%s", after, diff)
		}
	}
	follow := func(want projections.Followed) {
		t.Helper()
		got, err := projections.Follow(t.Context(), m.db, []string{id, "sim_x"})
		if err != nil || !cmp.Equal(got, []projections.Followed{want}) {
			t.Errorf("Follow returned %+v, %v, want %+v", got, err, want)
		}
	}
	follow(projections.Followed{ID: id, Last: 8})
	if err := m.apply(t.Context(), fact(50, events.SimulationDeleted{Reason: "request"})); err != nil {
		t.Fatal(err)
	}
	if got, err := projections.History(t.Context(), m.db, id, 0, 100); err != nil || len(got) > 0 {
		t.Errorf("a deleted simulation: got the history %v, %v, want none", got, err)
	}
	follow(projections.Followed{ID: id, Gone: true})
}
