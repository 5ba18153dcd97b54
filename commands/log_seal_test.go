package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
)

func TestSealLog(t *testing.T) {
	t.Parallel()
	a, b := events.LogSealed{KeyID: "a"}, events.LogSealed{KeyID: "b"}
	check(t, []example[commands.Seals]{
		{"the first time", nil, commands.SealLog{KeyID: "a"}, event(a)},
		{"again", given(a), commands.SealLog{KeyID: "a"}, nothing()},
		{"by another key", given(a), commands.SealLog{KeyID: "b"}, event(b)},
	})
}
