package commands_test

import (
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// Source: completions 5.1, 5.4, 5.5.

func requested(origin string) events.SimulationRequested {
	return events.SimulationRequested{Origin: origin, AccountID: "acct", WorkspaceID: "workspace_1", Name: "run"}
}

func progress(ns int64) events.Progress {
	return events.Progress{SimulatedTimeNs: ns, EventsProcessed: ns}
}

// inState returns a history that ends in the state.
func inState(status string) []events.Data {
	started := events.SimulationStarted{Engine: "builtin", RunID: "r1", Ranks: 8}
	progressed := events.SimulationProgressed{Progress: progress(100)}
	switch start := given(requested(commands.OriginStart)); status {
	case commands.Validating:
		return start
	case commands.Invalid:
		return and(start, events.SimulationInvalidated{Reason: "bytes missing"})
	case commands.Provisioning:
		return and(start, events.SimulationValidated{DocumentHash: "sha256:0"})
	case commands.Running:
		return and(inState(commands.Provisioning), started, progressed)
	case commands.Completed:
		return and(inState(commands.Running), events.SimulationCompleted{Progress: progress(200)})
	case commands.Failed:
		return and(inState(commands.Running), events.SimulationFailed{Progress: progress(150), Reason: "deadlock"})
	case commands.Terminated:
		return and(inState(commands.Running), events.SimulationTerminated{Progress: progress(100), By: "ann"})
	}
	return nil
}

func states() []string {
	return []string{
		"", commands.Validating, commands.Provisioning, commands.Running,
		commands.Completed, commands.Failed, commands.Terminated, commands.Invalid,
	}
}

// inEveryState returns one example for each state. Its outcome is the one in
// then, or otherwise if then has none.
func inEveryState(cmd commands.Command[commands.Simulation], otherwise outcome, then map[string]outcome) []example[commands.Simulation] {
	var all []example[commands.Simulation]
	for _, status := range states() {
		want, ok := then[status]
		if !ok {
			want = otherwise
		}
		name := status
		if status == "" {
			name = "unknown"
		}
		all = append(all, example[commands.Simulation]{name, inState(status), cmd, want})
	}
	return all
}

func TestRequestSimulation(t *testing.T) {
	t.Parallel()
	request := commands.RequestSimulation{Requested: requested(commands.OriginStart)}
	check(t, inEveryState(request, refusal(fault.Conflict), map[string]outcome{"": event(requested(commands.OriginStart))}))
}

func TestASimpleSubmissionIsProvisionedAtOnce(t *testing.T) {
	t.Parallel()
	submitted := given(requested(commands.OriginSimple))
	started := events.SimulationStarted{Engine: "builtin", RunID: "r1"}
	check(t, []example[commands.Simulation]{
		{"it may start", submitted, commands.StartSimulation{Started: started}, event(started)},
		{"it is not rechecked", submitted, commands.ValidateSimulation{}, nothing()},
		{"it cannot be invalid", submitted, commands.InvalidateSimulation{Reason: "late"}, nothing()},
	})
}

func TestValidateSimulation(t *testing.T) {
	t.Parallel()
	passed := events.SimulationValidated{DocumentHash: "sha256:0"}
	check(t, inEveryState(commands.ValidateSimulation{Validated: passed}, nothing(), map[string]outcome{
		commands.Validating: event(passed),
	}))
}

func TestInvalidateSimulation(t *testing.T) {
	t.Parallel()
	check(t, inEveryState(commands.InvalidateSimulation{Reason: "gone"}, nothing(), map[string]outcome{
		commands.Validating: event(events.SimulationInvalidated{Reason: "gone"}),
	}))
}

func TestStartRun(t *testing.T) {
	t.Parallel()
	started := events.SimulationStarted{Engine: "builtin", RunID: "r2", Ranks: 8}
	check(t, inEveryState(commands.StartSimulation{Started: started}, refusal(fault.Conflict), map[string]outcome{
		commands.Provisioning: event(started),
		commands.Running:      nothing(), // another worker takes over
		"":                    refusal(fault.NotFound),
	}))
}

// remotely returns the history of a run on a remote engine.
func remotely(capabilities ...string) []events.Data {
	return and(inState(commands.Provisioning),
		events.SimulationStarted{Engine: "remote", RunID: "r1", BaseURL: "http://a", Ranks: 8, Capabilities: capabilities})
}

func TestReorderRun(t *testing.T) {
	t.Parallel()
	moved := events.SimulationReordered{RunID: "r2", BaseURL: "http://b", Capabilities: []string{"terminate"}}
	reorder := commands.ReorderSimulation{Lost: "r1", Reordered: moved}
	same := commands.ReorderSimulation{Lost: "r1", Reordered: events.SimulationReordered{RunID: "r1", BaseURL: "http://a"}}
	check(t, inEveryState(reorder, nothing(), nil)) // none of these runs on a remote engine
	check(t, []example[commands.Simulation]{
		{"lost", remotely(), reorder, event(moved)},
		{"lost and found", remotely(), same, nothing()},
		{"lost and found, without the capability to terminate", remotely("terminate"), same, event(same.Reordered)},
		{"ordered by another worker", and(remotely(), moved), reorder, nothing()},
		{"ended in the meantime", and(remotely(), events.SimulationFailed{Reason: "gone"}), reorder, nothing()},
	})
}

func TestReportProgress(t *testing.T) {
	t.Parallel()
	report := func(ns int64) commands.ReportProgress { return commands.ReportProgress{Progress: progress(ns)} }
	check(t, inEveryState(report(101), nothing(), map[string]outcome{
		commands.Running: event(events.SimulationProgressed{Progress: progress(101)}),
	}))
	check(t, []example[commands.Simulation]{
		{"the recorded progress", inState(commands.Running), report(100), nothing()},
		{"less than the recorded progress", inState(commands.Running), report(50), nothing()},
	})
	since := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	stall := func(ns int64) commands.ReportProgress {
		return commands.ReportProgress{Progress: progress(ns), StalledSince: since}
	}
	stalled := func(ns int64) events.SimulationProgressed {
		return events.SimulationProgressed{Progress: progress(ns), StalledSince: since}
	}
	still := and(inState(commands.Running), stalled(100))
	check(t, []example[commands.Simulation]{
		{"a stall", inState(commands.Running), stall(100), event(stalled(100))},
		{"a stall in a worker that repeats", inState(commands.Running), stall(50), event(stalled(100))},
		{"a stall ahead of the recorded progress", inState(commands.Running), stall(150), event(stalled(150))},
		{"the stall continues", still, stall(150), nothing()},
		{"progress after a stall", still, report(101), event(events.SimulationProgressed{Progress: progress(101)})},
		{"a stall after the end", inState(commands.Completed), stall(100), nothing()},
	})
}

func TestRecordCheckpoint(t *testing.T) {
	t.Parallel()
	checkpoint := func(index int64) events.SimulationCheckpointed {
		return events.SimulationCheckpointed{Index: index, ObjectKey: "key", SimulatedTimeNs: 100}
	}
	record := func(index int64) commands.RecordSnapshot {
		return commands.RecordSnapshot{Checkpointed: checkpoint(index)}
	}
	check(t, inEveryState(record(1), nothing(), map[string]outcome{commands.Running: event(checkpoint(1))}))
	two := and(inState(commands.Running), checkpoint(1), checkpoint(2))
	check(t, []example[commands.Simulation]{
		{"the next", two, record(3), event(checkpoint(3))},
		{"the last again", two, record(2), nothing()},
		{"an older one", two, record(1), nothing()},
	})
}

func TestYieldAndResume(t *testing.T) {
	t.Parallel()
	yielded := func(ns int64) events.SimulationYielded { return events.SimulationYielded{Progress: progress(ns)} }
	yield := commands.YieldSimulation{Yielded: yielded(150)}
	check(t, inEveryState(yield, nothing(), map[string]outcome{commands.Running: event(yielded(150))}))
	check(t, inEveryState(commands.ResumeSimulation{}, nothing(), nil))
	waiting := and(inState(commands.Running), yielded(150))
	check(t, []example[commands.Simulation]{
		{"it has yielded", waiting, yield, nothing()},
		{"it resumes", waiting, commands.ResumeSimulation{}, event(events.SimulationResumed{})},
		{"it has resumed", and(waiting, events.SimulationResumed{}), commands.ResumeSimulation{}, nothing()},
		{"it yields again", and(waiting, events.SimulationResumed{}), yield, event(yielded(150))},
		{"progress never decreases", inState(commands.Running), commands.YieldSimulation{Yielded: yielded(50)}, event(yielded(100))},
		{"it is terminated while it waits", and(waiting, events.SimulationTerminated{}), commands.ResumeSimulation{}, nothing()},
	})
}

func TestPublishResults(t *testing.T) {
	t.Parallel()
	published := events.SimulationResultsPublished{Prefix: "sim/", Manifest: "sim/manifest-1", Files: 3}
	later := events.SimulationResultsPublished{Prefix: "sim/", Manifest: "sim/manifest-2", Files: 4}
	deleted := and(inState(commands.Completed), events.SimulationDeleted{Reason: "request"})
	publish := commands.PublishResults{Published: published}
	for _, status := range []string{commands.Running, commands.Completed, commands.Failed, commands.Terminated} {
		check(t, []example[commands.Simulation]{
			{status, inState(status), publish, event(published)},
			{status + ", the same set", and(inState(status), published), publish, nothing()},
			{status + ", another set", and(inState(status), published), commands.PublishResults{Published: later}, event(later)},
		})
	}
	check(t, []example[commands.Simulation]{
		{"of one that does not exist", nil, publish, nothing()},
		{"of one that is deleted", deleted, publish, nothing()},
	})
}

// TestTheFirstFinalEventWins: a simulation that has ended stays as it ended.
func TestTheFirstFinalEventWins(t *testing.T) {
	t.Parallel()
	completed := events.SimulationCompleted{Progress: progress(200), UnfinishedRanks: 1}
	failed := events.SimulationFailed{Progress: progress(150), Reason: "worker lost"}
	t.Run("complete", func(t *testing.T) {
		t.Parallel()
		check(t, inEveryState(commands.CompleteSimulation{Completed: completed}, nothing(), map[string]outcome{
			commands.Running: event(completed),
		}))
	})
	t.Run("fail", func(t *testing.T) {
		t.Parallel()
		check(t, inEveryState(commands.FailSimulation{Failed: failed}, nothing(), map[string]outcome{
			commands.Provisioning: event(failed),
			commands.Running:      event(failed),
		}))
	})
}

func TestTerminateSimulation(t *testing.T) {
	t.Parallel()
	terminate := commands.TerminateSimulation{ID: "sim_1", By: "bob"}
	dominated := commands.TerminateSimulation{ID: "sim_1", By: "system", Dominated: events.Domination{Point: 1, SimulationID: "sim_2", Reason: "it is faster"}}
	imported := and(inState(commands.Provisioning), events.SimulationStarted{})
	check(t, inEveryState(terminate, refusal(fault.Conflict), map[string]outcome{
		"":               refusal(fault.NotFound),
		commands.Running: event(events.SimulationTerminated{Progress: progress(100), By: "bob"}),
	}))
	check(t, []example[commands.Simulation]{
		{"without a platform link", imported, terminate, refusal(fault.Validation)},
		{"one that is deleted", and(inState(commands.Failed), events.SimulationDeleted{}), terminate, refusal(fault.NotFound)},
		{"at an engine that cannot", remotely(), terminate, refusal(fault.NotImplemented)},
		{"at an engine that can", remotely("terminate"), terminate, event(events.SimulationTerminated{By: "bob"})},
		{"as dominated", inState(commands.Running), dominated, event(events.SimulationTerminated{Progress: progress(100), By: "system", Dominated: dominated.Dominated})},
		{"as dominated at its end", and(inState(commands.Running), events.SimulationResultsPublished{Manifest: "m"}), dominated, nothing()},
		{"at its end", and(inState(commands.Running), events.SimulationResultsPublished{Manifest: "m"}), terminate, event(events.SimulationTerminated{Progress: progress(100), By: "bob"})},
		{"at an engine that no longer can", and(remotely("terminate"), events.SimulationReordered{RunID: "r2"}), terminate, refusal(fault.NotImplemented)},
	})
}

func TestDeleteSimulation(t *testing.T) {
	t.Parallel()
	deleted := events.SimulationDeleted{Reason: "request"}
	remove := commands.DeleteSimulation{ID: "sim_1", Reason: "request"}
	check(t, inEveryState(remove, event(deleted), map[string]outcome{
		"":               refusal(fault.NotFound),
		commands.Running: refusal(fault.Conflict),
	}))
	check(t, inEveryState(commands.DeleteSimulation{ID: "sim_1", Reason: "request", Waiting: true}, refusal(fault.Conflict), map[string]outcome{
		"":                    refusal(fault.NotFound),
		commands.Validating:   event(deleted),
		commands.Provisioning: event(deleted),
	}))
	check(t, []example[commands.Simulation]{
		{"again", and(inState(commands.Invalid), deleted), remove, refusal(fault.NotFound)},
	})
	for _, status := range []string{commands.Validating, commands.Provisioning} {
		cancelled := and(inState(status), deleted)
		check(t, []example[commands.Simulation]{
			{status + ", start", cancelled, commands.StartSimulation{Started: events.SimulationStarted{Engine: "builtin", RunID: "r1"}}, refusal(fault.NotFound)},
			{status + ", validate", cancelled, commands.ValidateSimulation{}, nothing()},
			{status + ", invalidate", cancelled, commands.InvalidateSimulation{Reason: "gone"}, nothing()},
			{status + ", fail", cancelled, commands.FailSimulation{Failed: events.SimulationFailed{Reason: "gone"}}, nothing()},
			{status + ", terminate", cancelled, commands.TerminateSimulation{ID: "sim_1", By: "bob"}, refusal(fault.NotFound)},
		})
	}
}
