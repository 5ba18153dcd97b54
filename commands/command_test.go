package commands_test

import (
	"reflect"
	"testing"

	"netsim/commands"
	"netsim/events"
)

func TestAStreamsStateIsThatOfItsPrefix(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string]commands.State{
		events.NewID(events.WorkspacePrefix):     &commands.Workspace{},
		events.NewID(events.ConfigurationPrefix): &commands.Configuration{},
		events.NewID(events.SimulationPrefix):    &commands.Simulation{},
		events.NewID(events.TracesetPrefix):      &commands.Traceset{},
		events.NewID(events.AccountPrefix):       &commands.Account{},
		commands.PlatformStream("lab"):           &commands.Platform{},
	} {
		for _, stored := range [][]byte{nil, []byte("{}")} {
			got, err := commands.ReadState(stream, stored)
			if err != nil {
				t.Errorf("%s: %v", stream, err)
			} else if reflect.TypeOf(got) != reflect.TypeOf(want) {
				t.Errorf("the state of %s is a %T, want a %T", stream, got, want)
			}
		}
	}
}

func TestAStateThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := commands.ReadState("planet_1", nil); err == nil {
		t.Error("a stream of no family has a state")
	}
	if _, err := commands.ReadState(events.DefaultWorkspace, []byte(`{"version":"one"}`)); err == nil {
		t.Error("a state of another shape is read")
	}
}
