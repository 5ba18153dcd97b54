package runs

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/runs/execution"
)

// TestStandsStill: a stall is logged and recorded once, after a third of the stall
// timeout. After the whole timeout the run is stopped.
func TestStandsStill(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := events.NewID(events.SimulationPrefix)
	testworld.Do(t, w, id, commands.RequestSimulation{Requested: events.SimulationRequested{
		Origin: commands.OriginSimple, AccountID: testworld.Account, WorkspaceID: events.DefaultWorkspace, Name: "run", DurationNs: 1e9,
	}})
	testworld.Do(t, w, id, commands.StartSimulation{Started: events.SimulationStarted{Engine: "builtin", RunID: "r", Ranks: 8}})
	testworld.Do(t, w, id, commands.ReportProgress{Progress: events.Progress{
		SimulatedTimeNs: 5000, EventsProcessed: 7, LastCollective: "allReduce 3 of group 0",
	}})
	begin := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	var clock atomic.Int64 // since begin
	polled := make(chan struct{})
	var once sync.Once
	r := &Runner{
		Commands: w.Commands, DB: w.DB, Log: w.Logger, Poll: time.Millisecond, Stall: 5 * time.Minute,
		Now: func() time.Time {
			now := begin.Add(time.Duration(clock.Load()))
			once.Do(func() { close(polled) })
			return now
		},
	}
	a := &attempt{
		Runner: r, sim: w.Simulation(t, id), run: &execution.Run{}, began: begin, files: &files{calls: &storeCalls{}},
		log: &runLog{db: w.DB, simulation: id, now: r.Now, log: w.Logger},
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	over := make(chan struct{})
	go func() {
		a.watch(ctx, stop)
		close(over)
	}()
	warnings := func() []projections.LogLine {
		lines, _, err := projections.ListLogs(t.Context(), w.DB, projections.LogQuery{Simulation: id, Where: []projections.Filter{projections.AtLeast("level", 2)}, Page: projections.Page{Limit: 10}})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}

	testwait.Receive(t, polled, "the first poll")
	clock.Store(int64(100 * time.Second))
	testworld.Await(t, func() bool { return w.Simulation(t, id).StalledSince != nil })
	s := w.Simulation(t, id)
	if !s.StalledSince.Equal(begin) || s.SimulatedTimeNs != 5000 || s.LastCollective != "allReduce 3 of group 0" {
		t.Errorf("got a stall since %s at %d ns, want one at 5000", s.StalledSince, s.SimulatedTimeNs)
	}
	testworld.Await(t, func() bool { return len(warnings()) > 0 })
	clock.Store(int64(299 * time.Second))
	if ctx.Err() != nil {
		t.Error("the run was stopped before the stall timeout")
	}
	clock.Store(int64(300 * time.Second))
	testwait.Receive(t, over, "watch to end")
	if cause := context.Cause(ctx); !errors.Is(cause, errStalled) {
		t.Errorf("the engine was stopped because of %v, want errStalled", cause)
	}
	history, err := projections.History(t.Context(), w.DB, id, 3, 100)
	if err != nil || len(history) != 1 || history[0].Progress.StalledSince == nil {
		t.Errorf("got the history %+v, %v", history, err)
	}
	lines := warnings()
	const want = "simulated time stands still at 0ns since 2026-11-21T08:00:00.000Z; the last finished collective is none"
	if len(lines) != 1 || lines[0].Component != "engine" || lines[0].Message != want {
		t.Errorf("log %+v, want %s", lines, want)
	}
}
