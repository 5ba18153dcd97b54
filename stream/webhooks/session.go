package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"netsim/infra/wait"
)

// session is the work of the process that delivers, from the committed positions and
// messages on, until something fails.
type session struct {
	*Deliverer
	epoch   int64
	readers *errgroup.Group
	sends   sync.WaitGroup // attempts, and what disables webhooks
	sending context.Context
	wake    chan struct{} // buffered, 1: a message may be due, or there is room for an attempt
	queued  chan struct{} // buffered, 1: there are changes

	mu       sync.Mutex
	webhooks map[string]*webhook
	numbers  map[int64]bool // of the messages that are being sent, until what came of it is committed
	changes  []*change
	failed   error // of a commit; nothing is committed any more
}

// webhook is what a session knows of a webhook. It is guarded by the session.
type webhook struct {
	sub      Subscription
	keys     signingKeys
	unsigned error  // why there are no keys
	stop     func() // ends its reader; nil without one

	at       *position     // that is committed; nil before its begin
	messages int           // that wait for delivery
	sending  int           // attempts
	limit    int           // of concurrent attempts: 1 at first, more as they succeed
	due      time.Time     // when a message may be due, zero for none
	slow     time.Time     // no attempt before, as the receiver asked
	off      bool          // it is being disabled
	attempts int           // since the attempts were trimmed
	room     chan struct{} // buffered, 1: messages were removed
}

const (
	commitTimeout = 10 * time.Second
	// grace is how long attempts may go on when the process ends. What is cut off then is
	// sent again.
	grace = 2 * time.Second
)

// deliver delivers until ctx ends or something fails.
func (d *Deliverer) deliver(ctx context.Context, epoch int64) error {
	if err := d.Create(ctx); err != nil {
		return err
	}
	if begun, err := d.Pool.Exec(ctx, statement("begin"), epoch); err != nil || begun.RowsAffected() == 0 {
		return cmp.Or(err, errLost)
	}
	s := &session{Deliverer: d, epoch: epoch, wake: make(chan struct{}, 1), queued: make(chan struct{}, 1), webhooks: map[string]*webhook{}, numbers: map[int64]bool{}}
	d.hold(s)
	var cut context.CancelFunc
	s.sending, cut = context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	ended := make(chan struct{})
	committed := make(chan struct{})
	go func() {
		defer close(committed)
		s.commitUntil(ended)
	}()
	s.readers, ctx = errgroup.WithContext(ctx)
	s.readers.Go(func() error { return s.follow(ctx) })
	s.readers.Go(func() error { return s.dispatch(ctx) })
	err := s.readers.Wait()
	late := time.AfterFunc(grace, cut)
	defer late.Stop()
	s.sends.Wait()
	close(ended)
	<-committed
	return err
}

// follow keeps the readers like the subscriptions.
func (s *session) follow(ctx context.Context) error {
	kept, err := s.readKept(ctx)
	if err != nil {
		return err
	}
	var swept time.Time
	for {
		subs, err := s.Source.Subscriptions(ctx)
		if err != nil {
			return fmt.Errorf("read the webhooks: %w", err)
		}
		known := map[string]bool{}
		for i := range subs {
			known[subs[i].ID] = true
			s.put(ctx, &subs[i], kept)
		}
		s.stopExcept(known)
		signal(s.wake)
		s.count(func(r *Report) { r.Error = nil })
		if now := s.Now(); now.Sub(swept) >= sweepEvery {
			if err := s.sweep(ctx, known, now); err != nil {
				return err
			}
			swept = now
		}
		select {
		case <-s.Source.Changed():
		case <-ctx.Done():
			return nil
		}
	}
}

// put takes a subscription and restarts its reader if it is new or has changed.
func (s *session) put(ctx context.Context, sub *Subscription, kept map[string]webhook) {
	s.mu.Lock()
	w := s.webhooks[sub.ID]
	switch {
	case w == nil:
		w = &webhook{at: kept[sub.ID].at, messages: kept[sub.ID].messages, limit: 1, attempts: keptAttempts, room: make(chan struct{}, 1)}
		s.webhooks[sub.ID] = w
	case w.sub.Version == sub.Version:
		s.mu.Unlock()
		return
	}
	stop := w.stop
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
	keys, err := s.Keys.signing(sub)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && w.unsigned == nil {
		s.Log.ErrorContext(ctx, "a webhook cannot be signed and waits", "webhook", sub.ID, "error", err)
	}
	w.sub, w.keys, w.unsigned, w.stop = *sub, keys, err, nil
	w.off, w.slow, w.due = false, time.Time{}, s.Now()
	if w.sends() {
		w.stop = s.start(ctx, w, *sub)
	}
}

// sends reports whether the webhook is read and its messages are sent.
func (w *webhook) sends() bool { return w.sub.Active && !w.off && w.unsigned == nil }

// current reports whether the messages that wait are to be sent: those from before a replay
// are about to be dropped.
func (w *webhook) current() bool { return w.at != nil && w.at.replay >= w.sub.Replay }

// start starts a reader, and returns what ends it and waits for its end.
func (s *session) start(ctx context.Context, w *webhook, sub Subscription) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	s.readers.Go(func() error {
		defer close(ended)
		return s.read(ctx, w, &sub)
	})
	return func() {
		cancel()
		<-ended
	}
}

// stopExcept ends the work of webhooks that do not exist any more, or for the moment.
func (s *session) stopExcept(known map[string]bool) {
	var stops []func()
	s.mu.Lock()
	for id, w := range s.webhooks {
		if !known[id] {
			w.sub.Active, w.sub.Version = false, -1
			if w.stop != nil {
				stops = append(stops, w.stop)
				w.stop = nil
			}
		}
	}
	s.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// sweepEvery is how often, while webhooks change, what is kept of deleted ones is looked
// for. It is removed keepDeleted after their end: a read model that is being rebuilt has no
// webhooks for a while.
const (
	sweepEvery  = time.Hour
	keepDeleted = 7 * 24 * time.Hour
)

func (s *session) sweep(ctx context.Context, known map[string]bool, now time.Time) error {
	ids := slices.AppendSeq([]string{}, maps.Keys(known)) // not nil, which would be NULL
	b := &pgx.Batch{}                                     // one transaction
	b.Queue(statement("seen"), ids, now)
	b.Queue(statement("deleted"), now.Add(-keepDeleted))
	b.Queue(statement("messages without"))
	b.Queue(statement("attempts without"), ids)
	if err := s.Pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("remove what is kept of deleted webhooks: %w", err)
	}
	return nil
}

// readKept returns what is kept of each webhook: its position, and how many messages wait.
func (s *session) readKept(ctx context.Context) (map[string]webhook, error) {
	all := map[string]webhook{}
	rows, err := s.Pool.Query(ctx, statement("kept"))
	if err == nil {
		var at position
		var offsets []byte
		var messages int
		_, err = pgx.ForEachRow(rows, []any{&at.webhook, &at.replay, &at.losses, &offsets, &messages}, func() error {
			one := at
			all[at.webhook] = webhook{at: &one, messages: messages}
			return json.Unmarshal(offsets, &one.offsets)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read the positions of webhooks: %w", err)
	}
	return all, nil
}

// full reports whether the webhook has so many messages that its reading waits.
func (s *session) full(w *webhook) bool { return s.waiting(w) >= s.Limits.Messages }

// waiting returns how many messages of the webhook wait, without those that a replay drops.
func (s *session) waiting(w *webhook) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.current() {
		return 0
	}
	return w.messages
}

// awaitRoom waits while the webhook is full, and then until a quarter of its messages is
// delivered: a reader that begins again has to find its position first.
func (s *session) awaitRoom(ctx context.Context, w *webhook) error {
	for most := s.Limits.Messages; s.waiting(w) >= most; most = s.Limits.Messages * 3 / 4 {
		select {
		case <-w.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// disable disables a webhook, and tries until that is done or ctx ends. Until then nothing
// is sent to it.
func (s *session) disable(ctx context.Context, w *webhook, sub *Subscription, reason string) {
	s.mu.Lock()
	if w.off || w.sub.Version != sub.Version {
		s.mu.Unlock()
		return
	}
	w.off = true
	s.mu.Unlock()
	s.Log.WarnContext(ctx, "a webhook is disabled", "webhook", sub.ID, "reason", reason)
	for pauses := wait.Doubling(retryFirst, retryMost); ctx.Err() == nil; {
		err := s.Disable(ctx, sub.ID, reason)
		if err == nil {
			s.count(func(r *Report) { r.Disabled++ })
			return
		}
		s.Log.WarnContext(ctx, "a webhook could not be disabled; it is tried again", "webhook", sub.ID, "error", err)
		wait.For(ctx, pauses.NextBackOff()) //nolint:errcheck // the loop checks the context
	}
}

// signal sends a value unless one is waiting.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
