package handle

import (
	"context"
	"fmt"

	"netsim/events"
	"netsim/fault"
)

// await waits for the verdict on the appended record. When it does not come in
// time, await returns fault.Unknown and a goroutine waits much longer.
func (r *run) await(ctx context.Context, t *tip, e *events.Event) (Result, error) {
	a := r.out
	verdict, at, err := r.judge(ctx, a)
	if err != nil && ctx.Err() != nil {
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxTimeouts*r.timeout())
			defer cancel()
			verdict, _, err := r.judge(ctx, a)
			r.settle(t, a, err == nil && fact(verdict))
		}()
		return Result{}, fault.Unknown(err)
	}
	r.settle(t, a, err == nil && fact(verdict))
	switch {
	case a.fact:
		return Result{Event: e, At: at}, nil
	case err == nil && verdict == events.Forged:
		return Result{}, fmt.Errorf("append to %s: the log does not accept this process's seal: NETSIM_WRITER_KEYS is missing, or its first key is not one that every process has", r.to.Stream)
	case err == nil:
		return Result{}, errLost
	case fault.CodeOf(err) != fault.Internal:
		return Result{}, err // the log's own fault
	default:
		return Result{}, fault.Unknown(err)
	}
}

func (r *run) judge(ctx context.Context, a *appended) (events.Verdict, events.Position, error) {
	at, err := a.wait(ctx)
	if err != nil {
		return "", at, err
	}
	verdict, err := r.Log.Verdict(ctx, at)
	return verdict, at, err
}

func fact(v events.Verdict) bool { return v == events.Accepted || v == events.Duplicate }

// settle publishes the verdict to the commands that decided on top of the record.
func (r *run) settle(t *tip, a *appended, fact bool) {
	if !fact {
		r.lane.drop(t) // before the others wake up and use the lane
	}
	a.fact = fact
	close(a.judged)
}

// answerAfter returns the refusal, which may be nil, once the last record that the
// decision was based on is a fact.
func answerAfter(ctx context.Context, last *appended, refusal error) error {
	if last == nil {
		return refusal
	}
	select {
	case <-last.judged:
		if last.fact {
			return refusal
		}
		return errLost
	case <-ctx.Done():
		return fault.Unknown(ctx.Err())
	}
}
