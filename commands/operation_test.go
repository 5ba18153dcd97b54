package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

func TestOperations(t *testing.T) {
	t.Parallel()
	begun := events.OperationBegun{Command: "streams retry", Arguments: []string{"stream=sim_1"}, Release: "v1"}
	ended := events.OperationEnded{Outcome: events.OperationFailed}
	check(t, []example[commands.Operation]{
		{"begins", nil, commands.BeginOperation{Begun: begun}, event(begun)},
		{"begins after its end", given(begun, ended), commands.BeginOperation{Begun: begun}, refusal(fault.Conflict)},
		{"ends", given(begun), commands.EndOperation{Outcome: events.OperationFailed}, event(ended)},
		{"ends again", given(begun, ended), commands.EndOperation{Outcome: events.OperationSucceeded}, nothing()},
	})
}
