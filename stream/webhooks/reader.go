package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"netsim/fault"
	"netsim/infra/wait"
	"netsim/stream/feed"
)

// position is how far a webhook has been read. It does not change.
type position struct {
	webhook string
	replay  int
	losses  string
	offsets feed.Offsets
}

// after returns the position with other offsets.
func (p *position) after(offsets feed.Offsets) *position {
	next := *p
	next.offsets = offsets
	return &next
}

func (p *position) text() string {
	text, _ := json.Marshal(p.offsets) //nolint:errchkjson // numbers always encode
	return string(text)
}

// The pauses of a reader after a failure.
const (
	retryFirst = time.Second
	retryMost  = 30 * time.Second
)

// saveEvery is how often the position of a webhook is stored that gets nothing.
const saveEvery = time.Minute

// read reads the events of a webhook and commits them as messages, until ctx ends. Each
// commit has the position after its messages, so each event becomes a message once. The
// error is that of a commit; whatever else fails is tried again.
func (s *session) read(ctx context.Context, w *webhook, sub *Subscription) error {
	pauses, failing := wait.Doubling(retryFirst, retryMost), false
	for ctx.Err() == nil {
		err := s.readOnce(ctx, w, sub, func() { pauses.Reset(); failing = false })
		switch {
		case err == nil || ctx.Err() != nil:
			continue
		case errors.Is(err, errCommit):
			return err
		}
		if refusal, is := errors.AsType[*fault.Fault](err); is && refusal.Code == fault.Validation {
			s.disable(ctx, w, sub, refusal.Message)
			return nil
		}
		if !failing {
			s.Log.WarnContext(ctx, "the events of a webhook could not be read; it is tried again", "webhook", sub.ID, "error", err)
			failing = true
		}
		wait.For(ctx, pauses.NextBackOff()) //nolint:errcheck // the loop checks the context
	}
	return nil
}

// errCommit wraps the error of a commit, after which nothing can be committed.
var errCommit = errors.New("the deliverer ends")

// readOnce reads with one feed until it ends, or the webhook has so many messages that its
// reading waits.
func (s *session) readOnce(ctx context.Context, w *webhook, sub *Subscription, well func()) error {
	if err := s.awaitRoom(ctx, w); err != nil {
		return err
	}
	f, at, err := s.open(ctx, w, sub)
	if err != nil {
		return err
	}
	defer f.Close()
	saved := s.Now()
	for !s.full(w) {
		c := &change{}
		reason := f.Next(ctx, func(e *feed.Entry, _ []byte) {
			if e != nil {
				c.add = append(c.add, message{webhook: sub.ID, stream: e.Stream, event: e.ID, kind: e.Type, recorded: e.RecordedAt, body: e.JSON})
			}
		})
		if now := s.Now(); len(c.add) > 0 || now.Sub(saved) >= saveEvery {
			c.read, saved = at.after(f.Offsets()), now
			if err := s.submit(c); err != nil {
				return err
			}
			well()
		}
		switch reason {
		case "":
		case feed.Slow:
			return nil // it goes on from its position
		case feed.Unauthorized:
			return errOtherLog()
		default:
			return fmt.Errorf("the feed has ended: %s", reason)
		}
	}
	return nil
}

// errOtherLog refuses a position from before records were lost, in the words of the feed.
func errOtherLog() error {
	return fault.New(fault.Validation, "the log has lost records; replay the webhook from a time")
}

// open opens the feed of a webhook at its position, or at its begin, or at that of a replay.
func (s *session) open(ctx context.Context, w *webhook, sub *Subscription) (*feed.Feed, *position, error) {
	losses, err := s.Losses(ctx)
	if err != nil {
		return nil, nil, err
	}
	query := sub.Query
	query.Check = func(ctx context.Context) error {
		if now, err := s.Losses(ctx); err == nil && now != losses {
			return errOtherLog()
		}
		return nil
	}
	s.mu.Lock()
	at, waiting := w.at, w.messages
	s.mu.Unlock()
	start := feed.Start{Position: sub.Position, Since: sub.Since}
	begins := at == nil || at.replay < sub.Replay
	switch {
	case begins:
		if at != nil {
			s.Log.InfoContext(ctx, "a webhook is replayed; the messages that wait are dropped, and come again", "webhook", sub.ID, "messages", waiting)
		}
		at = &position{webhook: sub.ID, replay: sub.Replay, losses: losses}
	case at.losses != losses:
		return nil, nil, errOtherLog()
	default:
		start = feed.Start{Offsets: at.offsets}
	}
	f, err := s.Hub.Open(ctx, query, start)
	if err != nil {
		return nil, nil, err
	}
	// What begins now has begun for ever: a begin after the next crash would be later.
	if offsets := f.Offsets(); begins || !maps.EqualFunc(at.offsets, offsets, slices.Equal) {
		at = at.after(offsets)
		if err := s.submit(&change{read: at, drop: begins}); err != nil {
			f.Close()
			return nil, nil, err
		}
	}
	return f, at, nil
}
