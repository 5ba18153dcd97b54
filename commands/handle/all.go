package handle

import (
	"context"
	"errors"
	"slices"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/wait"
)

// Sent is a command with its origin.
type Sent[S any] struct {
	From    Origin // with a command id of its own
	Command commands.Command[S]
	Values  context.Context // for Begin, Observe and the Log; nil for those of the call, and Begin is not called
}

// Priors is implemented by a log that can look up many commands at once.
type Priors interface {
	// Priors returns the facts that earlier runs of the commands left on the
	// stream, by command id.
	Priors(ctx context.Context, stream string, commandIDs []string) (map[string]events.Prior, error)
}

// All runs commands as Each does. It returns the first error; some of the commands
// may have run then.
func All[S any, P stateOf[S]](ctx context.Context, h *Handler, to Target, all []Sent[S]) ([]Result, error) {
	results, errs := Each[S, P](ctx, h, to, all)
	for _, err := range errs {
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// Each runs commands on one stream and returns a result and an error of each, in
// the same order. It loads the stream, locks the lane and waits once for all of
// them, and again, a bounded number of times, when another writer's record came first. A
// command that cannot run together with the others, such as one that refuses, runs alone.
// Command ids ensure that each command runs once.
//
// When the log or the read model does not answer, all commands that have not run
// return that error.
func Each[S any, P stateOf[S]](ctx context.Context, h *Handler, to Target, all []Sent[S]) ([]Result, []error) {
	g := &group[S]{
		Handler: h, to: to, all: all, ctxs: make([]context.Context, len(all)),
		results: make([]Result, len(all)), errs: make([]error, len(all)), done: make([]bool, len(all)),
	}
	observe := make([]func(any, int, Result, error), len(all))
	for i, one := range all {
		c := ctx
		if one.Values != nil {
			c = withValues{ctx, one.Values}
			if h.Begin != nil {
				c = h.Begin(c, nameOf(one.Command), to.Stream)
			}
		}
		g.ctxs[i], observe[i] = c, h.observer(c)
	}
	attempts := make([]int, len(all))
	var outage error
	passes := maxPasses
	if len(all) == 1 {
		passes = 0 // alone, a command shares its look-up with those of other streams
	}
	pause := pausesBetween()
	for pass := 0; pass < passes && slices.Contains(g.done, false); pass++ {
		for i := range all {
			if !g.done[i] {
				attempts[i]++
			}
		}
		leave := h.takeTurn(context.WithoutCancel(ctx), to.Stream, true) // many records are lost with the first
		outage = together[S, P](ctx, g)
		leave()
		if !errors.Is(outage, errLost) {
			break
		}
		outage = nil
		h.lost(to.Stream)
		wait.For(context.WithoutCancel(ctx), pause()) //nolint:errcheck // the context does not end
	}
	for i, one := range all {
		if !g.done[i] && outage != nil {
			g.errs[i] = outage
		} else if !g.done[i] {
			var more int
			g.results[i], more, g.errs[i] = command[S, P](g.ctxs[i], h, to, one.From, one.Command)
			attempts[i] += more
			if fault.Is(g.errs[i], fault.Unavailable) {
				outage = g.errs[i]
			}
		}
		observe[i](one.Command, attempts[i], g.results[i], g.errs[i])
	}
	return g.results, g.errs
}

// maxPasses is how often commands run together before those that are left run alone, each
// with its own attempts.
const maxPasses = 8

// withValues is a context with the values of another one.
type withValues struct {
	context.Context
	values context.Context
}

func (c withValues) Value(key any) any { return c.values.Value(key) }

// group is commands that run together.
type group[S any] struct {
	*Handler
	to      Target
	all     []Sent[S]
	ctxs    []context.Context
	results []Result
	errs    []error
	done    []bool
}

// together runs the commands that are not done and can run together, and marks them
// as done. Its error concerns the log or the read model, not a single command: errLost when
// another writer's record came first, so that they can run together again.
func together[S any, P stateOf[S]](ctx context.Context, g *group[S]) error {
	log, ok := g.Log.(Priors)
	if !ok || !slices.Contains(g.done, false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.timeout())
	defer cancel()
	l := g.enter(g.to.Stream)
	defer g.leave(g.to.Stream, l)
	runs, ids := make([]*run, len(g.all)), make([]string, len(g.all))
	for i, one := range g.all {
		ids[i] = one.From.CommandID
		if !g.done[i] && l.tryClaim(ids[i]) {
			runs[i] = &run{Handler: g.Handler, lane: g.enter(g.to.Stream), to: g.to, from: one.From, claimed: true}
			defer runs[i].end()
		}
	}
	at, err := g.view(ctx, l, g.to, "", true)
	if err != nil {
		return err
	}
	priors, err := log.Priors(ctx, g.to.Stream, ids)
	if err != nil {
		return err
	}
	out := make([]*events.Event, len(g.all))
	l.mu.Lock()
	stale := at.tip.head.Sequence < at.sequence
	if stale && l.tip == at.tip {
		l.tip = nil // another process has appended to the stream
	}
	if t := at.tip; l.tip == t {
		now := g.Now().UTC().Truncate(time.Millisecond)
		for i, r := range runs {
			if r == nil {
				continue
			}
			if prior, found := priors[ids[i]]; found {
				g.done[i], _ = r.from.ran(&prior) // command returns the fault
				g.results[i].Repeated = g.done[i]
				continue
			}
			state, ok := t.state.(P)
			if !ok {
				break // command returns the error
			}
			data, refusal := g.all[i].Command.Decide((*S)(state), now)
			if refusal != nil || data == nil {
				continue // command checks that the decision's basis is a fact
			}
			if out[i], err = r.append(withValues{ctx, g.ctxs[i]}, t, now, data); err != nil {
				break // command returns the error
			}
		}
	}
	lost := l.tip != at.tip
	l.mu.Unlock()
	err = awaitAll(ctx, at.tip, g, runs, out)
	if err == nil && lost {
		err = errLost
	}
	return err
}

// awaitAll waits for the verdicts, starting with the last record: when it is a
// fact, so is every record before it. A command whose record is not a fact stays
// undone, so that it runs again. The error is that of the first record that has one, else
// errLost if a record is not a fact.
func awaitAll[S any](ctx context.Context, t *tip, g *group[S], runs []*run, out []*events.Event) (first error) {
	facts := false
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] == nil {
			continue
		}
		if at, err := runs[i].out.wait(ctx); facts && err == nil {
			runs[i].settle(t, runs[i].out, true)
			g.results[i], g.done[i] = Result{Event: out[i], At: at}, true
			continue
		}
		result, err := runs[i].await(withValues{ctx, g.ctxs[i]}, t, out[i])
		switch {
		case err == nil:
			g.results[i], g.done[i], facts = result, true, true
		case first == nil || !errors.Is(err, errLost):
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
