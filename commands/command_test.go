package commands_test

import (
	"reflect"
	"testing"

	"netsim/commands"
	"netsim/events"
)

// TestAStreamsStateIsThatOfItsPrefix: the prefix of a stream's id determines
// the type of its state.
func TestAStreamsStateIsThatOfItsPrefix(t *testing.T) {
	t.Parallel()
	states := map[string]commands.State{
		events.WorkspacePrefix:     &commands.Workspace{},
		events.WebhookPrefix:       &commands.Webhook{},
		events.ConfigurationPrefix: &commands.Configuration{},
		events.SimulationPrefix:    &commands.Simulation{},
		events.StudyPrefix:         &commands.Study{},
		events.TracesetPrefix:      &commands.Traceset{},
		events.MappingFilePrefix:   &commands.MappingFile{},
		events.UploadPrefix:        &commands.Upload{},
		events.AccountPrefix:       &commands.Account{},
		events.PlatformPrefix:      &commands.Platform{},
		events.CheckpointPrefix:    &commands.Checkpoints{},
		events.SealPrefix:          &commands.Seals{},
		events.OperationPrefix:     &commands.Operation{},
	}
	for _, prefix := range events.StreamPrefixes() {
		for _, stored := range [][]byte{nil, []byte("{}")} {
			got, err := commands.ReadState(prefix+"_1", stored)
			if want := states[prefix]; err != nil || reflect.TypeOf(got) != reflect.TypeOf(want) {
				t.Errorf("the state of a stream with prefix %s is a %T (%v), want a %T", prefix, got, err, want)
			}
		}
	}
}

func TestAStateThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := commands.ReadState("planet_1", nil); err == nil {
		t.Error("ReadState accepts a stream with an unknown prefix")
	}
	if _, err := commands.ReadState(events.DefaultWorkspace, []byte(`{"version":"one"}`)); err == nil {
		t.Error("ReadState accepts a state with a member of another type")
	}
}
