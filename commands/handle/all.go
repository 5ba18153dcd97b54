package handle

import (
	"context"
	"errors"
	"slices"
	"time"

	"netsim/commands"
	"netsim/events"
)

// Sent is a command with its origin.
type Sent[S any] struct {
	From    Origin // with a command id of its own
	Command commands.Command[S]
}

// Priors is implemented by a log that can look up many commands at once.
type Priors interface {
	// Priors returns the facts that earlier runs of the commands left on the
	// stream, by command id.
	Priors(ctx context.Context, stream string, commandIDs []string) (map[string]events.Prior, error)
}

// All runs commands on one stream and returns their results in the same order. It
// loads the stream, locks the lane and waits once for all of them. A command that
// cannot run together with the others is run by Command. Command ids ensure that
// each command runs once.
//
// After an error some of the commands may have run.
func All[S any, P stateOf[S]](ctx context.Context, h *Handler, to Target, all []Sent[S]) ([]Result, error) {
	results := make([]Result, len(all))
	done := make([]bool, len(all))
	observe := h.observer(ctx)
	for pass := range 2 { // a second pass, in case another writer's record came first
		before := slices.Clone(done)
		err := together[S, P](ctx, h, to, all, results, done)
		for i, one := range all {
			switch {
			case done[i] && !before[i]:
				observe(one.Command, pass+1, results[i], nil)
			case !done[i] && err != nil:
				observe(one.Command, pass+1, Result{}, err)
			}
		}
		if err != nil {
			return results, err
		}
	}
	for i, one := range all {
		if done[i] {
			continue
		}
		var err error
		if results[i], err = Command[S, P](ctx, h, to, one.From, one.Command); err != nil {
			return results, err
		}
	}
	return results, nil
}

// together runs the commands that are not done and can run together, and marks them
// as done.
func together[S any, P stateOf[S]](ctx context.Context, h *Handler, to Target, all []Sent[S], results []Result, done []bool) error {
	log, ok := h.Log.(Priors)
	if !ok || !slices.Contains(done, false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.timeout())
	defer cancel()
	l := h.enter(to.Stream)
	defer h.leave(to.Stream, l)
	runs, ids := make([]*run, len(all)), make([]string, len(all))
	for i, one := range all {
		ids[i] = one.From.CommandID
		if !done[i] && l.tryClaim(ids[i]) {
			runs[i] = &run{Handler: h, lane: h.enter(to.Stream), to: to, from: one.From, claimed: true}
			defer runs[i].end()
		}
	}
	at, err := h.view(ctx, l, to, "", true)
	if err != nil {
		return err
	}
	priors, err := log.Priors(ctx, to.Stream, ids)
	if err != nil {
		return err
	}
	out := make([]*events.Event, len(all))
	l.mu.Lock()
	if t := at.tip; l.tip == t && t.head.Sequence >= at.sequence {
		now := h.Now().UTC().Truncate(time.Millisecond)
		for i, r := range runs {
			if r == nil {
				continue
			}
			if prior, found := priors[ids[i]]; found {
				done[i], _ = r.from.ran(&prior) // Command returns the fault
				results[i].Repeated = done[i]
				continue
			}
			state, ok := t.state.(P)
			if !ok {
				break // Command returns the error
			}
			data, refusal := all[i].Command.Decide((*S)(state), now)
			if refusal != nil || data == nil {
				continue // Command checks that the decision's basis is a fact
			}
			if out[i], err = r.append(ctx, t, now, data); err != nil {
				break // Command returns the error
			}
		}
	}
	l.mu.Unlock()
	return awaitAll(ctx, at.tip, runs, out, results, done)
}

// awaitAll waits for the verdicts, starting with the last record: when it is a
// fact, so is every record before it. A command whose record is not a fact stays
// undone, so that it runs again. After all verdicts it returns the first error.
func awaitAll(ctx context.Context, t *tip, runs []*run, out []*events.Event, results []Result, done []bool) (first error) {
	facts := false
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] == nil {
			continue
		}
		if at, err := runs[i].out.wait(ctx); facts && err == nil {
			runs[i].settle(t, runs[i].out, true)
			results[i], done[i] = Result{Event: out[i], At: at}, true
			continue
		}
		result, err := runs[i].await(ctx, t, out[i])
		switch {
		case err == nil:
			results[i], done[i], facts = result, true, true
		case !errors.Is(err, errLost):
			first = err
		}
	}
	return first
}

// tryClaim claims a command's id unless another run has claimed it.
func (l *lane) tryClaim(commandID string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, taken := l.claims[commandID]; taken || commandID == "" {
		return false
	}
	if l.claims == nil {
		l.claims = map[string]chan struct{}{}
	}
	l.claims[commandID] = make(chan struct{})
	return true
}
