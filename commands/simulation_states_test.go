package commands_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netsim/commands"
	"netsim/events"
)

// moves returns the states that may follow a state, copied from completions 5.1.
func moves(from string) []string {
	switch from {
	case "":
		return []string{commands.Validating, commands.Provisioning}
	case commands.Validating:
		return []string{commands.Provisioning, commands.Invalid}
	case commands.Provisioning:
		return []string{commands.Running, commands.Failed}
	case commands.Running:
		return []string{commands.Completed, commands.Failed, commands.Terminated}
	}
	return nil
}

func anyCommand() *rapid.Generator[commands.Command[commands.Simulation]] {
	return rapid.Custom(func(t *rapid.T) commands.Command[commands.Simulation] {
		p := progress(rapid.Int64Range(0, 20).Draw(t, "progress"))
		return rapid.SampledFrom([]commands.Command[commands.Simulation]{
			commands.RequestSimulation{Requested: requested(commands.OriginStart)},
			commands.RequestSimulation{Requested: requested(commands.OriginSimple)},
			commands.ValidateSimulation{},
			commands.InvalidateSimulation{Reason: "gone"},
			commands.StartSimulation{Started: events.SimulationStarted{Engine: "builtin", RunID: "r"}},
			commands.StartSimulation{Started: events.SimulationStarted{Engine: "remote", RunID: "r", BaseURL: "u"}},
			commands.ReorderSimulation{Lost: "r", Reordered: events.SimulationReordered{RunID: "s", BaseURL: "u"}},
			commands.ReportProgress{Progress: p},
			commands.RecordSnapshot{Checkpointed: events.SimulationCheckpointed{Index: rapid.Int64Range(1, 5).Draw(t, "checkpoint")}},
			commands.YieldSimulation{Yielded: events.SimulationYielded{Progress: p}},
			commands.ResumeSimulation{},
			commands.PublishResults{Published: events.SimulationResultsPublished{Manifest: "m"}},
			commands.CompleteSimulation{Completed: events.SimulationCompleted{Progress: p}},
			commands.FailSimulation{Failed: events.SimulationFailed{Progress: p}},
			commands.TerminateSimulation{By: "ann"},
			commands.DeleteSimulation{Reason: "request"},
			commands.DeleteSimulation{Reason: "study", Waiting: true},
		}).Draw(t, "command")
	})
}

// step runs a command and checks that the state allows its event.
func step(t *rapid.T, state *commands.Simulation, cmd commands.Command[commands.Simulation]) {
	before := *state
	data, err := cmd.Decide(state, time.UnixMilli(0))
	switch {
	case err != nil && data != nil:
		t.Fatalf("%T is refused, but appends %T", cmd, data)
	case data == nil:
		return
	}
	state.Evolve(events.Event{Data: data})
	after := *state
	if after.Status != before.Status && !slices.Contains(moves(before.Status), after.Status) {
		t.Fatalf("%T moved the simulation from %q to %q", cmd, before.Status, after.Status)
	}
	if commands.Final(before.Status) && after.Progress != before.Progress {
		t.Fatalf("%T changed the progress of a simulation that is %s", cmd, before.Status)
	}
	if before.Deleted {
		t.Fatalf("%T appended %T to a deleted simulation", cmd, data)
	}
	if again, err := cmd.Decide(state, time.UnixMilli(0)); err == nil && again != nil {
		t.Fatalf("%T appends %T, and %T again when it is repeated", cmd, data, again)
	}
}

// TestASimulationMovesAsTheDocumentsSay: any sequence of commands changes the
// state of a simulation only as completions 5.1 allows.
func TestASimulationMovesAsTheDocumentsSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		state := &commands.Simulation{}
		for _, cmd := range rapid.SliceOfN(anyCommand(), 1, 40).Draw(t, "commands") {
			step(t, state, cmd)
			state = restored(t, state)
		}
	})
}
