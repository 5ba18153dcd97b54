package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

func TestCreateAndDeleteTraceset(t *testing.T) {
	t.Parallel()
	made := events.TracesetCreated{AccountID: "acct", WorkspaceID: "workspace_1", Name: "ring", Status: "ready"}
	gone := events.TracesetDeleted{Reason: "request"}
	create := commands.CreateTraceset{Created: made}
	remove := commands.DeleteTraceset{ID: "ts_1", Reason: "request"}
	check(t, []example[commands.Traceset]{
		{"create a new one", nil, create, event(made)},
		{"create it again", given(made), create, nothing()},
		{"create it after it was deleted", given(made, gone), create, event(made)},
		{"delete it", given(made), remove, event(gone)},
		{"delete it again", given(made, gone), remove, refusal(fault.NotFound)},
		{"delete it after it was made anew", given(made, gone, made), remove, event(gone)},
		{"delete one that does not exist", nil, remove, refusal(fault.NotFound)},
	})
}
