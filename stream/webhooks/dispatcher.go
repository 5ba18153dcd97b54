package webhooks

import (
	"context"
	"net/http"
	"time"
)

// dispatch sends the messages that are due, until ctx ends or a commit fails. It waits for
// a signal that there may be some, or for the next attempt that is due.
func (s *session) dispatch(ctx context.Context) error {
	for {
		next, err := s.sendDue(ctx)
		if err != nil || ctx.Err() != nil {
			return ignoreEnd(ctx, err)
		}
		timer := time.NewTimer(next)
		select {
		case <-s.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// ignoreEnd returns nil instead of an error that comes from the end of ctx.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// longest is how long the dispatcher waits at most.
const longest = time.Hour

// sendDue begins the attempts that are due and for which there is room, and returns how
// long nothing else is due.
func (s *session) sendDue(ctx context.Context) (next time.Duration, err error) {
	s.mu.Lock()
	now := s.Now()
	webhooks, rooms, next := s.roomsLocked(now)
	sending := make([]int64, 0, len(s.numbers))
	for number := range s.numbers {
		sending = append(sending, number)
	}
	err = s.failed
	s.mu.Unlock()
	if err != nil || len(webhooks) == 0 {
		return next, err
	}
	all, err := s.readDue(ctx, webhooks, rooms, sending, now)
	if err != nil {
		return 0, err
	}
	room := map[string]int{}
	for i, id := range webhooks {
		room[id] = rooms[i]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range all {
		m := &all[i]
		w := s.webhooks[m.webhook]
		switch {
		case m.body == nil || room[m.webhook] == 0 || !w.sends() || !w.current():
			w.due = earlier(w.due, m.due)
			next = min(next, max(m.due.Sub(now), 0))
		default:
			room[m.webhook]--
			w.sending++
			s.numbers[m.number] = true
			s.sends.Go(func() { s.attempt(ctx, w, m) })
		}
	}
	return next, nil
}

// roomsLocked returns the webhooks of which a message may be due, how many attempts of
// each may begin, and how long nothing is due of the others. Webhooks come in a random
// order, so that none has more of the attempts than the others.
func (s *session) roomsLocked(now time.Time) (ids []string, rooms []int, next time.Duration) {
	next = longest
	free := s.Limits.PerProcess - len(s.numbers)
	for id, w := range s.webhooks {
		room := min(w.limit, w.messages) - w.sending
		if w.due.IsZero() || !w.sends() || !w.current() || room <= 0 || free == 0 {
			continue // there is a signal when that changes
		}
		at := w.due
		if at.Before(w.slow) {
			at = w.slow
		}
		if wait := at.Sub(now); wait > 0 {
			next = min(next, wait)
			continue
		}
		room = min(room, free)
		free -= room
		w.due = time.Time{} // set again by what is read, and by what is committed meanwhile
		ids, rooms = append(ids, id), append(rooms, room)
	}
	return ids, rooms, next
}

// earlier returns the earlier of two times of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// attempt sends a message, and commits what came of it. An attempt that the end of the
// process cuts off is none.
func (s *session) attempt(ctx context.Context, w *webhook, m *message) {
	s.mu.Lock()
	sub, keys := w.sub, w.keys
	s.mu.Unlock()
	began := s.Now()
	got := s.sender.send(s.sending, sub.URL, messageID(m.webhook, m.event), m.body, keys.at(began))
	if got.refusal != "" && s.sending.Err() != nil || s.hook("sent") != nil {
		return
	}
	c := &change{sent: m, made: Attempt{Event: m.event, Type: m.kind, Stream: m.stream, Count: m.attempts + 1, At: began, Outcome: Delivered}}
	c.made.take(got)
	if c.made.Outcome == Failed {
		c.due = s.Now().Add(max(pauseAfter(c.made.Count, s.Limits.FirstPause, s.Random()), got.retryAfter))
		if c.made.Count >= MaxAttempts {
			c.made.Outcome = Dropped
			s.Log.WarnContext(ctx, "an event was not delivered to a webhook, and is dropped", "webhook", m.webhook, "event", m.event, "attempts", c.made.Count, "status", got.status)
		}
	}
	s.adapt(w, got)
	if got.status == http.StatusGone {
		s.sends.Go(func() { s.disable(ctx, w, &sub, "the receiver answered 410 Gone") })
	}
	if s.submit(c) != nil {
		return // the session ends
	}
	s.count(func(r *Report) {
		r.Attempts[c.made.Outcome]++
		if c.made.Outcome == Delivered && c.made.Count == 1 {
			r.Lag = s.Now().Sub(m.recorded)
		}
	})
}

// adapt changes how many attempts of a webhook run at a time: fewer when they fail, so that
// receivers that do not answer take little of the process, and more when they succeed. A
// receiver that asks for it gets nothing for a while.
func (s *session) adapt(w *webhook, got answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case got.refusal == "":
		w.limit = min(w.limit+1, s.Limits.PerWebhook)
	case got.status == http.StatusTooManyRequests || got.status == http.StatusServiceUnavailable:
		w.limit = 1
		w.slow = s.Now().Add(max(got.retryAfter, s.Limits.FirstPause))
	default:
		w.limit = max(w.limit/2, 1)
	}
}
