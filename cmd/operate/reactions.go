package operate

import (
	"context"
	"fmt"

	"netsim/cmd/connections"
	"netsim/cmd/service"
	"netsim/infra/reactor"
)

// DeadLetters returns the open dead letter with the id, or all open ones for "".
func (t *Tools) DeadLetters(ctx context.Context, id string) ([]reactor.DeadLetter, error) {
	open, err := t.conn.Letters.Open(ctx)
	if err != nil || id == "" {
		return open, err
	}
	for _, l := range open {
		if l.ID == id {
			return []reactor.DeadLetter{l}, nil
		}
	}
	return nil, fmt.Errorf("there is no open dead letter %s", id)
}

// DeadLetterBody reads the data of a dead letter's fact from the log.
func (t *Tools) DeadLetterBody(ctx context.Context, l reactor.DeadLetter) (string, error) {
	return t.conn.Letters.Body(ctx, l)
}

// Retried is a dead letter and the error of its retry. The error is "" when the letter is
// settled.
type Retried struct {
	reactor.DeadLetter
	Error string `json:"error,omitempty"`
}

// RetryDeadLetters runs the handler of a dead letter again with its fact, in this
// process. For "" it retries all dead letters.
func (t *Tools) RetryDeadLetters(ctx context.Context, id string) (retried []Retried, err error) {
	list, err := service.PriceList(&t.conn.Config)
	if err != nil {
		return nil, err
	}
	letters, err := t.DeadLetters(ctx, id)
	if err != nil || len(letters) == 0 {
		return nil, err
	}
	return retried, t.writing(ctx, func(ctx context.Context, w *connections.Writer) error {
		return service.Reacting(ctx, t.conn, w, list, func(r *reactor.Reactor) error {
			for _, l := range letters {
				again := Retried{DeadLetter: l}
				if err := r.Retry(ctx, t.conn.Letters, l); err != nil {
					again.Error = err.Error()
				}
				retried = append(retried, again)
			}
			return ctx.Err()
		})
	})
}
