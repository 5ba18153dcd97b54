package operations

import (
	"context"
	"errors"

	"netsim/api"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/postgres"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
)

// asked is what an operator asks the API to do.
type asked struct {
	name      string // of the API's operation
	resource  string // in the path; "" for none
	key       string // the idempotency key; "" for none
	body      any    // of the request
	operation Operation
	// check refuses what cannot begin. It is not called for an act that has begun before.
	check func(context.Context) error
	// run does it, and reports whether it succeeded. An error says that this is not known
	// yet. It may be called again after an error. Commands that derive their ids from from
	// are run once.
	run func(ctx context.Context, from handle.Origin) (succeeded bool, err error)
}

// Do does what an operator asks for between two events in the log: that the act began, and
// how it ended. Under one idempotency key it is done once, whichever process gets the
// requests: an act that has ended is shown as it ended. One that has begun and not ended, because
// its process was killed or had no time, is done to its end.
func (a *Acts) Do(ctx context.Context, r asked) (api.OperatorAct, error) {
	caller, err := access.Caller(ctx)
	if err != nil {
		return api.OperatorAct{}, err
	}
	stream := events.NewID(events.OperationPrefix)
	from, err := handle.Origin{Actor: caller.UserID, CorrelationID: web.RequestID(ctx)}.Keyed(caller.AccountID, r.name, r.resource, r.key, r.body)
	if err != nil {
		return api.OperatorAct{}, err
	}
	if r.key != "" {
		stream = events.DerivedID(events.OperationPrefix, caller.AccountID, r.name, r.resource, r.key)
		release, err := a.Conn.Locks.Try(ctx, stream)
		if errors.Is(err, postgres.ErrHeld) {
			return api.OperatorAct{}, fault.Unknown(err)
		}
		if err != nil {
			return api.OperatorAct{}, err
		}
		defer release()
	}
	begun, err := a.Commands.Repeated(ctx, stream, from)
	if err == nil && !begun {
		if err = r.check(ctx); err == nil {
			err = a.begin(ctx, stream, from, r.operation)
		}
	}
	if err != nil {
		return api.OperatorAct{}, err
	}
	o, err := projections.ReadOperation(ctx, a.DB, stream)
	if err == nil && o.Outcome == "" {
		if err = a.finish(ctx, stream, from, r); err == nil {
			o, err = projections.ReadOperation(ctx, a.DB, stream)
		}
	}
	if err != nil {
		return api.OperatorAct{}, err
	}
	return act(&o)
}

// finish does what has begun, and records its end. What did not end is left without one,
// for a repetition under its key.
func (a *Acts) finish(ctx context.Context, stream string, from handle.Origin, r asked) error {
	succeeded, err := r.run(ctx, from.Derive(stream))
	if err != nil && r.key != "" {
		return err
	}
	return errors.Join(err, a.end(ctx, stream, from, succeeded && err == nil))
}
