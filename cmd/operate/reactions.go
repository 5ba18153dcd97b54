package operate

import (
	"context"

	"netsim/api"
	"netsim/cmd/connections"
	"netsim/cmd/operations"
	"netsim/cmd/service"
	"netsim/infra/reactor"
)

// RetryDeadLetters runs the handler of a dead letter again with its fact, in this
// process. For "" it retries all dead letters.
func (t *Tools) RetryDeadLetters(ctx context.Context, id string) (retried []api.RetriedDeadLetter, err error) {
	list, err := service.PriceList(&t.conn.Config)
	if err != nil {
		return nil, err
	}
	letters, err := t.Letters(ctx, id)
	if err != nil || len(letters) == 0 {
		return nil, err
	}
	return retried, t.writing(ctx, func(ctx context.Context, w *connections.Writer) error {
		return service.Reacting(ctx, t.conn, w, list, func(r *reactor.Reactor) error {
			retried = operations.RetryLetters(ctx, letters, func(ctx context.Context, l reactor.DeadLetter) error {
				return r.Retry(ctx, t.conn.Letters, l)
			})
			return ctx.Err()
		})
	})
}
