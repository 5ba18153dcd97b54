package operations

import (
	"context"
	"slices"

	"netsim/api"
	"netsim/fault"
	"netsim/infra/reactor"
)

// openLetters returns the open dead letters.
func (v *View) openLetters(ctx context.Context) ([]reactor.DeadLetter, error) {
	open, err := v.Conn.Letters.Open(ctx)
	return open, silent(ctx, err)
}

// DeadLetters returns at most limit open dead letters, by id; 0 is for all.
func (v *View) DeadLetters(ctx context.Context, limit int) (list api.DeadLetterList, err error) {
	open, err := v.Letters(ctx, "")
	if err != nil {
		return list, err
	}
	open, list.Total = first(open, limit)
	list.Items = api.Each(open, deadLetter)
	return list, nil
}

func deadLetter(l *reactor.DeadLetter) api.DeadLetter {
	return api.DeadLetter{
		ID: l.ID, Handler: l.Handler, Family: string(l.Family), Partition: int64(l.Partition), Offset: l.Offset,
		Stream: l.Stream, Type: l.Type, EventID: l.EventID, Reason: text(l.Reason), Since: timestamp(l.Since),
	}
}

// Letters returns the open dead letter with an id, or NotFound; for "" all open ones.
func (v *View) Letters(ctx context.Context, id string) ([]reactor.DeadLetter, error) {
	if _, err := v.describe(ctx); err != nil { // which is quicker than the letters when the log does not answer
		return nil, err
	}
	open, err := v.openLetters(ctx)
	if err != nil || id == "" {
		return open, err
	}
	at := slices.IndexFunc(open, func(l reactor.DeadLetter) bool { return l.ID == id })
	if at < 0 {
		return nil, fault.New(fault.NotFound, "there is no open dead letter %s", id)
	}
	return open[at : at+1], nil
}

// LetterContent returns a dead letter with its data, as the log has it.
func (v *View) LetterContent(ctx context.Context, l reactor.DeadLetter) (api.DeadLetterContent, error) {
	data, err := v.Conn.Letters.Body(ctx, l)
	s := deadLetter(&l)
	return api.DeadLetterContent{
		ID: s.ID, Handler: s.Handler, Family: s.Family, Partition: s.Partition, Offset: s.Offset,
		Stream: s.Stream, Type: s.Type, EventID: s.EventID, Reason: s.Reason, Since: s.Since, Data: data,
	}, silent(ctx, err)
}

// RetryLetters passes each letter to retry, until ctx ends. The letters that it returns
// have the error of their retry, or are settled.
func RetryLetters(ctx context.Context, letters []reactor.DeadLetter, retry func(context.Context, reactor.DeadLetter) error) []api.RetriedDeadLetter {
	retried := []api.RetriedDeadLetter{}
	for i := range letters {
		if ctx.Err() != nil {
			break
		}
		failed := ""
		if err := retry(ctx, letters[i]); err != nil {
			failed = err.Error()
		}
		retried = append(retried, retriedLetter(&letters[i], failed))
	}
	return retried
}

func retriedLetter(l *reactor.DeadLetter, failed string) api.RetriedDeadLetter {
	s := deadLetter(l)
	return api.RetriedDeadLetter{
		ID: s.ID, Handler: s.Handler, Family: s.Family, Partition: s.Partition, Offset: s.Offset,
		Stream: s.Stream, Type: s.Type, EventID: s.EventID, Reason: s.Reason, Since: s.Since, Error: text(failed),
	}
}
