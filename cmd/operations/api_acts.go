package operations

import (
	"context"

	"netsim/api"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/projector"
	"netsim/infra/reactor"
)

// RetryParkedStream implements POST /operations/parked-facts/{stream}/retry.
func (a *API) RetryParkedStream(ctx context.Context, r api.RetryParkedStreamRequestObject) (api.RetryParkedStreamResponseObject, error) {
	of := projector.ParkedQuery{Schema: projector.Live, Stream: r.Stream, Limit: shownItems}
	done, err := a.Acts.Do(ctx, asked{
		name: "RetryParkedStream", resource: r.Stream, key: r.Params.IdempotencyKey,
		operation: Operation{"streams retry", []string{"stream=" + r.Stream}},
		check: func(ctx context.Context) error {
			list, err := a.View.Parked(ctx, of)
			if err == nil && list.Total == 0 {
				err = fault.New(fault.NotFound, "stream %s is not parked", r.Stream)
			}
			return err
		},
		run: func(ctx context.Context, _ handle.Origin) (bool, error) {
			err := projector.RetryParked(ctx, a.View.DB, r.Stream, a.View.Conn.Config.VerdictTimeout)
			if fault.Is(err, fault.NotFound) { // another retry came first
				return true, nil
			}
			if err != nil {
				return false, err
			}
			list, err := a.View.Parked(ctx, of)
			return list.Total == 0, err
		},
	})
	if err != nil {
		return nil, err
	}
	left, err := a.View.Parked(ctx, of)
	return api.RetryParkedStream200JSONResponse{Operation: done, Items: left.Items, Total: left.Total}, err
}

// RetryDeadLetter implements POST /operations/dead-letters/{handler}/{family}/{partition}/{offset}/retry.
func (a *API) RetryDeadLetter(ctx context.Context, r api.RetryDeadLetterRequestObject) (api.RetryDeadLetterResponseObject, error) {
	id := reactor.LetterID(r.HandlerName, events.Position{Family: events.Family(r.Family), Partition: int32(r.Partition), Offset: r.Offset})
	retry := asked{name: "RetryDeadLetter", resource: id, key: r.Params.IdempotencyKey, operation: Operation{"reactions retry", []string{"letter=" + id}}}
	retried, err := a.retryLetters(ctx, retry, id, shownItems)
	return api.RetryDeadLetter200JSONResponse(retried), err
}

// RetryDeadLetters implements POST /operations/dead-letters/retry.
func (a *API) RetryDeadLetters(ctx context.Context, r api.RetryDeadLettersRequestObject) (api.RetryDeadLettersResponseObject, error) {
	retry := asked{name: "RetryDeadLetters", key: r.Params.IdempotencyKey, operation: Operation{"reactions retry", []string{"all=true"}}}
	retried, err := a.retryLetters(ctx, retry, "", limitOf(r.Params.Limit))
	return api.RetryDeadLetters200JSONResponse(retried), err
}

// retryLetters retries the dead letter with the id, or all for "".
func (a *API) retryLetters(ctx context.Context, r asked, id string, limit int) (api.DeadLetterRetry, error) {
	failed := map[string]string{} // by letter
	r.check = func(ctx context.Context) error {
		_, err := a.View.Letters(ctx, id)
		return err
	}
	r.run = func(ctx context.Context, _ handle.Origin) (bool, error) {
		letters, err := a.View.Letters(ctx, id)
		if fault.Is(err, fault.NotFound) { // another retry came first
			return true, nil
		}
		if err != nil {
			return false, err
		}
		for _, l := range RetryLetters(ctx, letters, a.Acts.Retry) {
			if l.Error != "" {
				failed[l.ID] = l.Error
			}
		}
		return len(failed) == 0, ctx.Err()
	}
	done, err := a.Acts.Do(ctx, r)
	if err != nil {
		return api.DeadLetterRetry{}, err
	}
	open, err := a.View.Letters(ctx, id)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return api.DeadLetterRetry{}, err
	}
	left, total := first(open, limit)
	return api.DeadLetterRetry{Operation: done, Total: total, Items: api.Each(left, func(l *reactor.DeadLetter) api.RetriedDeadLetter {
		return retriedLetter(l, failed[l.ID])
	})}, nil
}

// TerminateRun implements POST /operations/runs/{sim_id}/terminate.
func (a *API) TerminateRun(ctx context.Context, r api.TerminateRunRequestObject) (api.TerminateRunResponseObject, error) {
	done, err := a.Acts.Do(ctx, asked{
		name: "TerminateRun", resource: r.SimID, key: r.Params.IdempotencyKey, body: r.Body,
		operation: Operation{"runs terminate", []string{"simulation=" + r.SimID, "reason=" + r.Body.Reason}},
		check:     func(ctx context.Context) error { return a.Acts.Terminate.Check(ctx, r.SimID) },
		run: func(ctx context.Context, from handle.Origin) (bool, error) {
			agreed, err := a.Acts.Terminate.Run(ctx, r.SimID, from)
			if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) { // it has ended meanwhile
				return false, nil
			}
			return agreed, err
		},
	})
	return api.TerminateRun200JSONResponse(done), err
}
