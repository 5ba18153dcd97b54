package commands

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"netsim/events"
	"netsim/fault"
)

// Target is the stream that a command is for.
type Target struct {
	Stream       string
	PartitionKey string // workspace id, or account id where there is none
	Fresh        bool   // the id has just been made: nothing can be there yet
}

// Origin says who sends a command and why.
type Origin struct {
	Actor         string // user id, or "system"
	CommandID     string // from the idempotency key or the cause; "" for none
	CommandDigest string // of the request's body
	CorrelationID string
	CauseID       string // the event that is reacted to
}

// Result is what became of a command.
type Result struct {
	Event    *events.Event   // the fact; nil when there was nothing to do or when Repeated
	At       events.Position // of Event
	Repeated bool            // the command had run before
}

// Handler runs commands. Within it every stream in use has a lane, in which
// decisions fold over what has been appended but not yet judged.
type Handler struct {
	Log     Log
	Now     func() time.Time
	Timeout time.Duration // how long a verdict may take, 0 for 10 s

	mu    sync.Mutex
	lanes map[string]*lane
}

const (
	maxAttempts    = 12
	defaultTimeout = 10 * time.Second
)

// stateOf ties a state's pointer to its value type.
type stateOf[S any] interface {
	*S
	State
}

// Handle runs cmd on the target stream and returns once the log has judged
// what it appended. An answer of the command itself (nothing to do, or a
// refusal) is given only when everything that it was based on is a fact, and
// when that is not older than the command.
//
// A record that lost its place to another writer is decided again from the
// new head, with jitter, a bounded number of times; after that the fault is
// Conflict. When no verdict comes the fault is fault.Unknown.
func Handle[S any, P stateOf[S]](ctx context.Context, h *Handler, to Target, from Origin, cmd Command[S]) (Result, error) {
	decide := func(s State, now time.Time) (events.Data, error) {
		state, ok := s.(P)
		if !ok {
			return nil, fmt.Errorf("stream %s holds a %T", to.Stream, s)
		}
		return cmd.Decide((*S)(state), now)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.timeout())
	defer cancel()

	l := h.enter(to.Stream)
	defer h.leave(to.Stream, l)
	if from.CommandID != "" {
		if err := l.claim(ctx, from.CommandID); err != nil {
			return Result{}, fault.Unknown(err)
		}
		defer l.release(from.CommandID)
	}
	for attempt := range maxAttempts {
		result, err := h.try(ctx, l, to, from, decide, from.CommandID != "")
		if !errors.Is(err, errLost) {
			return result, err
		}
		to.Fresh = false // something is there, or was lost on the way
		if err := pause(ctx, attempt); err != nil {
			return Result{}, fault.Unknown(err)
		}
	}
	return Result{}, fault.New(fault.Conflict, "%s is being changed by too many requests at once", to.Stream)
}

// errLost says that a decision stood on a record that is not a fact.
var errLost = errors.New("lost its place in the stream")

type decision func(State, time.Time) (events.Data, error)

// try decides once. With look it looks the stream up even when the lane has a
// tip.
func (h *Handler) try(ctx context.Context, l *lane, to Target, from Origin, decide decision, look bool) (Result, error) {
	at, err := h.view(ctx, l, to, from.CommandID, look)
	if err != nil {
		return Result{}, err
	}
	if prior := at.prior; prior != nil {
		if prior.Digest != from.CommandDigest {
			return Result{}, fault.New(fault.Unprocessable, "the idempotency key was used with another request")
		}
		return Result{Repeated: true}, nil
	}

	t := at.tip
	l.mu.Lock()
	if l.tip == t && t.head.Sequence < at.sequence {
		l.tip = nil // another process has moved the stream on
	}
	if l.tip != t {
		l.mu.Unlock()
		return Result{}, errLost
	}
	now := h.Now().UTC().Truncate(time.Millisecond)
	data, refusal := decide(t.state, now)
	if refusal != nil || data == nil {
		last := t.last
		l.mu.Unlock()
		if !at.looked {
			return h.try(ctx, l, to, from, decide, true)
		}
		return Result{}, answerAfter(ctx, last, refusal)
	}
	a, event, err := h.append(t, to, from, now, data)
	l.mu.Unlock()
	if err != nil {
		return Result{}, err
	}
	return h.await(ctx, l, t, a, event)
}

// append puts the decided event on top of the tip. The lane is locked, so the
// order of sequences is the order of appends.
func (h *Handler) append(t *tip, to Target, from Origin, now time.Time, data events.Data) (*appended, *events.Event, error) {
	family, err := events.FamilyOf(to.Stream)
	if err != nil {
		return nil, nil, err
	}
	value, err := events.Encode(data)
	if err != nil {
		return nil, nil, err
	}
	e := events.Event{Data: data, Frame: events.Frame{
		ID: uuid.Must(uuid.NewV7()).String(), Type: data.EventType(),
		Stream: to.Stream, PartitionKey: to.PartitionKey,
		Sequence: t.head.Sequence + 1, PreviousHash: t.head.Hash,
		CommandID: from.CommandID, CommandDigest: from.CommandDigest,
		Time: now, Actor: from.Actor, CorrelationID: from.CorrelationID, CauseID: from.CauseID,
		DataVersion: 1,
	}}
	if err := e.Frame.Check(); err != nil {
		return nil, nil, err
	}
	var m events.Message
	m, e.Hash = e.Frame.Message(value)
	wait, err := h.Log.Append(family, to.PartitionKey, m)
	if err != nil {
		return nil, nil, err
	}
	t.head = events.Head{Sequence: e.Sequence, Hash: e.Hash}
	t.state.Evolve(e)
	t.last = &appended{wait: wait, judged: make(chan struct{})}
	return t.last, &e, nil
}

// await waits for the verdict on what has been appended and tells it to
// everyone whose decision stands on it.
func (h *Handler) await(ctx context.Context, l *lane, t *tip, a *appended, e *events.Event) (Result, error) {
	verdict, at, err := h.judge(ctx, a)
	a.fact = err == nil && (verdict == events.Accepted || verdict == events.Duplicate)
	if !a.fact {
		l.drop(t) // first, so that whoever is told starts from another tip
	}
	close(a.judged)
	switch {
	case a.fact:
		return Result{Event: e, At: at}, nil
	case err == nil:
		return Result{}, errLost
	case fault.CodeOf(err) != fault.Internal:
		return Result{}, err // the log says itself what is known
	default:
		return Result{}, fault.Unknown(err)
	}
}

func (h *Handler) judge(ctx context.Context, a *appended) (events.Verdict, events.Position, error) {
	at, err := a.wait(ctx)
	if err != nil {
		return "", at, err
	}
	verdict, err := h.Log.Verdict(ctx, at)
	return verdict, at, err
}

// answerAfter gives a command's own answer once what it stands on is a fact.
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

// pause waits a random time that grows with the attempts, so that writers on
// several nodes do not meet again.
func pause(ctx context.Context, attempt int) error {
	limit := time.Millisecond << min(attempt, 7)
	timer := time.NewTimer(rand.N(limit))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Handler) timeout() time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return defaultTimeout
}
