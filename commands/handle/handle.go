// Package handle runs commands on the log. Command loads a stream's state, calls
// Decide, appends the event, and waits for the log's verdict.
package handle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/recent"
	"netsim/infra/wait"
)

// Target is the stream that a command is for.
type Target struct {
	Stream       string
	PartitionKey string // workspace id, or account id where there is none
	Fresh        bool   // the id is new, so there is nothing to load
}

// Result is the result of a command.
type Result struct {
	Event    *events.Event   // the fact; nil when there was nothing to change, or when Repeated
	At       events.Position // the position of Event
	Repeated bool            // the command had run before
	State    commands.State  // a copy of the state after Event; nil without an event, and from All
}

// Handler runs commands. Every stream in use has a lane, so that a command can
// decide on the state after records that the log has not judged yet.
type Handler struct {
	Log     Log
	Now     func() time.Time
	Timeout time.Duration      // how long a verdict may take, 0 for 10 s
	Keys    *events.WriterKeys // seal the records; nil seals nothing
	// Begin, when set, is called before a command runs, but not for a command of Each
	// without Values. The Log and Observe get the context that it returns.
	Begin func(ctx context.Context, command, stream string) context.Context
	// Observe, when set, is called once for every command that ends.
	Observe func(context.Context, Observation)
	// Held, when set, reports whether events of a type must not be written yet, because
	// processes that do not know the type may run. The command's fault is Unavailable.
	Held func(eventType string) bool
	// Turn, when set, waits until no other process has a turn on the stream, and makes them
	// wait until release is called. It is called for streams to which several processes
	// append at the same time. After an error the command runs without a turn.
	Turn func(ctx context.Context, stream string) (release func(), err error)

	mu        sync.Mutex
	lanes     map[string]*lane
	turns     map[string]*turn                 // of this process, by stream
	contended recent.Cache[string, contention] // by stream
}

const (
	maxAttempts    = 12
	defaultTimeout = 10 * time.Second
	maxTimeouts    = 10 // how many timeouts a background goroutine waits for a verdict
)

// stateOf ties a state's pointer to its value type.
type stateOf[S any] interface {
	*S
	commands.State
}

// Command runs cmd on the target stream and returns after the log has judged the
// appended record. When cmd appends nothing or refuses, Command returns only
// after it has loaded the stream, and after every record that the decision was
// based on has become a fact.
//
// When another writer's record came first, Command decides again from the new
// head, with jitter, and the processes that append to the stream take turns if the Handler
// has them. After a bounded number of attempts the fault is Conflict with
// RetryAfter, and nothing was done.
// When the verdict does not come in time, the fault is fault.Unknown, and a
// goroutine waits for the verdict. Until it comes, the same command and every
// command that decided on top of the record wait in this process, so that none of
// them returns a result that the verdict would contradict.
func Command[S any, P stateOf[S]](ctx context.Context, h *Handler, to Target, from Origin, cmd commands.Command[S]) (Result, error) {
	if h.Begin != nil {
		ctx = h.Begin(ctx, nameOf(cmd), to.Stream)
	}
	observe := h.observer(ctx)
	result, attempts, err := command[S, P](ctx, h, to, from, cmd)
	observe(cmd, attempts, result, err)
	return result, err
}

// command runs a command without Begin and Observe. It also returns the number of
// attempts.
func command[S any, P stateOf[S]](ctx context.Context, h *Handler, to Target, from Origin, cmd commands.Command[S]) (Result, int, error) {
	decide := func(s commands.State, now time.Time) (events.Data, error) {
		state, ok := s.(P)
		if !ok {
			return nil, fmt.Errorf("stream %s holds a %T", to.Stream, s)
		}
		return cmd.Decide((*S)(state), now)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.timeout())
	defer cancel()
	copied := func(s commands.State) commands.State {
		state := *(s.(P)) //nolint:forcetypeassert // decide has checked it
		return P(&state)
	}
	r := &run{Handler: h, lane: h.enter(to.Stream), to: to, from: from, decide: decide, copied: copied}
	defer r.end()
	result, err := r.attempt(ctx)
	return result, r.attempts, err
}

// run is one run of a command.
type run struct {
	*Handler
	lane     *lane
	to       Target
	from     Origin
	decide   func(commands.State, time.Time) (events.Data, error)
	copied   func(commands.State) commands.State
	claimed  bool
	attempts int
	out      *appended // the last appended record
}

// errLost is returned when the command's record, or one that its decision was based
// on, is not a fact.
var errLost = errors.New("another writer's record came first")

// attempt tries until the log has accepted a record, or there is a result without
// one. It tries maxAttempts times at most.
func (r *run) attempt(ctx context.Context) (Result, error) {
	if r.from.CommandID != "" {
		if err := r.lane.claim(ctx, r.from.CommandID); err != nil {
			return Result{}, fault.Unknown(err)
		}
		r.claimed = true
	}
	pause := pausesBetween()
	for r.attempts < maxAttempts {
		r.attempts++
		leave := r.takeTurn(ctx, r.to.Stream, false)
		result, err := r.try(ctx, r.from.CommandID != "")
		leave()
		if !errors.Is(err, errLost) {
			return result, err
		}
		r.lost(r.to.Stream)
		r.to.Fresh = false // the stream has a record now, or ours was rejected
		if err := wait.For(ctx, pause()); err != nil {
			return Result{}, fault.Unknown(err)
		}
	}
	return Result{}, &fault.Fault{
		Code: fault.Conflict, Message: r.to.Stream + " is being changed by too many requests at once; repeat the request",
		RetryAfter: time.Second, Cause: errLost,
	}
}

// pausesBetween returns random pauses, so that the writers of several processes do not
// collide again.
func pausesBetween() (next func() time.Duration) {
	pauses := wait.Doubling(time.Millisecond/2, 64*time.Millisecond)
	pauses.RandomizationFactor = 1
	return pauses.NextBackOff
}

// end releases the lane and the command's id, once the command's record has a
// verdict.
func (r *run) end() {
	release := func() {
		if r.claimed {
			r.lane.release(r.from.CommandID)
		}
		r.leave(r.to.Stream, r.lane)
	}
	if r.out == nil {
		release()
		return
	}
	select {
	case <-r.out.judged:
		release()
	default:
		go func() {
			<-r.out.judged
			release()
		}()
	}
}

// try makes one attempt. With load it loads the stream even when the lane has a tip.
func (r *run) try(ctx context.Context, load bool) (Result, error) {
	l := r.lane
	at, err := r.view(ctx, l, r.to, r.from.CommandID, load)
	if err != nil {
		return Result{}, err
	}
	if ran, err := r.from.ran(at.prior); ran || err != nil {
		return Result{Repeated: ran}, err
	}

	t := at.tip
	l.mu.Lock()
	if l.tip == t && t.head.Sequence < at.sequence {
		l.tip = nil // another process has appended to the stream
	}
	if l.tip != t {
		l.mu.Unlock()
		return Result{}, errLost
	}
	now := r.Now().UTC().Truncate(time.Millisecond)
	data, refusal := r.decide(t.state, now)
	if refusal != nil || data == nil {
		last := t.last
		l.mu.Unlock()
		if !at.loaded {
			return r.try(ctx, true)
		}
		return Result{}, answerAfter(ctx, last, refusal)
	}
	event, err := r.append(ctx, t, now, data)
	if err != nil {
		l.mu.Unlock()
		return Result{}, err
	}
	after := r.copied(t.state) // before the lane is unlocked and others evolve it
	l.mu.Unlock()
	result, err := r.await(ctx, t, event)
	if result.Event != nil {
		result.State = after
	}
	return result, err
}

// append appends the event after the tip. The lane is locked, so sequences are in
// the order of appends.
func (r *run) append(ctx context.Context, t *tip, now time.Time, data events.Data) (*events.Event, error) {
	family, err := events.FamilyOf(r.to.Stream)
	if err != nil {
		return nil, err
	}
	if h := r.Held; h != nil && h(data.EventType()) {
		return nil, fault.New(fault.Unavailable, "%s is not written before the upgrade of the service is finished", data.EventType())
	}
	value, err := events.Encode(data)
	if err != nil {
		return nil, err
	}
	e := events.Event{Data: data, Frame: events.Frame{
		ID: uuid.Must(uuid.NewV7()).String(), Type: data.EventType(),
		Stream: r.to.Stream, PartitionKey: r.to.PartitionKey,
		Sequence: t.head.Sequence + 1, PreviousHash: t.head.Hash,
		CommandID: r.from.CommandID, CommandDigest: r.from.CommandDigest,
		Time: now, Actor: r.from.Actor, CorrelationID: cmp.Or(r.from.CorrelationID, commands.RequestOf(t.state)), CauseID: r.from.CauseID,
		DataVersion: 1,
	}}
	var m events.Message
	m, e.Hash = e.Frame.Message(value)
	wait, err := r.Log.Append(ctx, family, r.to.PartitionKey, r.Keys.Seal(family, e.Hash, m))
	if err != nil {
		return nil, err
	}
	t.head = events.Head{Sequence: e.Sequence, Hash: e.Hash}
	t.state.Evolve(e)
	t.last = &appended{wait: wait, judged: make(chan struct{})}
	r.out = t.last
	return &e, nil
}

func (h *Handler) timeout() time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return defaultTimeout
}
