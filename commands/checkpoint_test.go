package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

func TestPublishCheckpoint(t *testing.T) {
	t.Parallel()
	first := events.CheckpointPublished{Name: "2026-11-20", Note: "a"}
	second := events.CheckpointPublished{Name: "2026-11-21", Note: "b"}
	publish := func(c events.CheckpointPublished, previous string) commands.PublishCheckpoint {
		return commands.PublishCheckpoint{Checkpoint: c, Previous: previous}
	}
	check(t, []example[commands.Checkpoints]{
		{"the first", nil, publish(first, ""), event(first)},
		{"after the last", given(first), publish(second, "a"), event(second)},
		{"the last again", given(first), publish(first, ""), nothing()},
		{"after an older one", given(first, second), publish(events.CheckpointPublished{Name: "c", Note: "c"}, "a"), refusal(fault.Conflict)},
	})
}
