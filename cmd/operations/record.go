package operations

import (
	"context"
	"errors"
	"strconv"

	"netsim/cmd/connections"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/reactor"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/writeapi"
)

// Acts does what operators ask of the API, and records it in the log as the commands do:
// each act is a stream of its own, with an event when it begins and one when it ends. The
// actor of both is the opaque id of the operator.
type Acts struct {
	Conn     *connections.Connections
	DB       projections.Reader
	Commands *handle.Handler
	// Retry passes the fact of a dead letter to its handler again, and settles the letter
	// when the handler succeeds.
	Retry func(context.Context, reactor.DeadLetter) error
	// Terminate terminates simulations.
	Terminate writeapi.Termination
}

// argument returns an argument of an operation.
func argument(name string, n int64) string { return name + "=" + strconv.FormatInt(n, 10) }

// Look records that an operator looks at what is masked, and then looks. Without the
// record it does not look.
func (a *Acts) Look(ctx context.Context, o Operation, look func() error) error {
	caller, err := access.Caller(ctx)
	if err != nil {
		return err
	}
	stream := events.NewID(events.OperationPrefix)
	from := handle.Origin{Actor: caller.UserID, CorrelationID: web.RequestID(ctx)}
	if err := a.begin(ctx, stream, from, o); err != nil {
		return err
	}
	err = look()
	return errors.Join(err, a.end(ctx, stream, from, err == nil))
}

func (a *Acts) begin(ctx context.Context, stream string, from handle.Origin, o Operation) error {
	to := handle.Target{Stream: stream, PartitionKey: stream, Fresh: from.CommandID == ""}
	_, err := handle.Command(ctx, a.Commands, to, from, commands.BeginOperation{Begun: Begun(a.Conn, o)})
	return err
}

func (a *Acts) end(ctx context.Context, stream string, from handle.Origin, succeeded bool) error {
	outcome := events.OperationFailed
	if succeeded {
		outcome = events.OperationSucceeded
	}
	from.CommandID, from.CommandDigest = "", ""
	_, err := handle.Command(ctx, a.Commands, handle.Target{Stream: stream, PartitionKey: stream}, from, commands.EndOperation{Outcome: outcome})
	return err
}
