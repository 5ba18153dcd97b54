package writeapi

import (
	"context"
	"errors"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/infra/web"
)

// write is a request to run one command. It has the caller, the stream, and the
// origin of the command, which identifies repetitions.
type write struct {
	caller auth.Caller
	stream string
	origin handle.Origin
}

// create returns the write that makes a resource. The id of the resource is new, or
// derived from the idempotency key (completions.md section 1.1).
func create(ctx context.Context, operation, prefix, key string, body any) (write, error) {
	w, err := newWrite(ctx, operation, "", key, body)
	if key == "" {
		w.stream = events.NewID(prefix)
	} else {
		w.stream = events.DerivedID(prefix, w.caller.AccountID, operation, key)
	}
	return w, err
}

// change returns the write that changes an existing resource.
func change(ctx context.Context, operation, id, key string, body any) (write, error) {
	w, err := newWrite(ctx, operation, id, key, body)
	w.stream = id
	return w, err
}

func newWrite(ctx context.Context, operation, id, key string, body any) (write, error) {
	caller, ok := auth.CallerFrom(ctx)
	if !ok {
		return write{}, errors.New("the request has no caller")
	}
	from := handle.Origin{Actor: caller.UserID, CorrelationID: web.RequestID(ctx)}
	from, err := from.Keyed(caller.AccountID, operation, id, key, body)
	return write{caller: caller, origin: from}, err
}

// to returns the target of a new resource, in the partition of its workspace.
func (w write) to(workspace string) handle.Target {
	return handle.Target{Stream: w.stream, PartitionKey: workspace, Fresh: w.origin.CommandID == ""}
}

// existing returns the target of an existing resource.
func (w write) existing(workspace string) handle.Target {
	return handle.Target{Stream: w.stream, PartitionKey: workspace}
}

// repeated reports whether the write's command has run before.
func (a *API) repeated(ctx context.Context, w write) (bool, error) {
	return a.Commands.Repeated(ctx, w.stream, w.origin)
}

// once calls do unless the write's command has run before; done reports that it has.
// If do fails but the command has run in the meantime, because the same request was
// sent twice, once also reports done and returns no error.
func (a *API) once(ctx context.Context, w write, do func() error) (done bool, err error) {
	if done, err = a.repeated(ctx, w); done || err != nil {
		return done, err
	}
	if err = do(); err != nil {
		if done, again := a.repeated(ctx, w); done && again == nil {
			return true, nil
		}
	}
	return false, err
}

// oneAccount refuses a platform-wide caller, because a new resource must belong to
// one account.
func oneAccount(caller auth.Caller) error {
	if caller.Platformwide() {
		return fault.New(fault.Forbidden, "a token of one account is required, this one acts for all")
	}
	return nil
}

// matchOf reads an If-Match header (completions.md section 1.5).
func matchOf(header string) (commands.Match, error) {
	if header == "" {
		return commands.Match{}, nil
	}
	given, err := web.ParseTags("If-Match", header)
	if err != nil {
		return commands.Match{}, err
	}
	m := commands.Match{Given: true}
	m.Tags, m.Any = given.Strong()
	return m, nil
}
