package webhooks

import (
	"context"
	"fmt"
)

// submit commits a change together with those of others, and waits for that.
func (s *session) submit(c *change) error {
	c.done = make(chan error, 1)
	s.mu.Lock()
	s.changes = append(s.changes, c)
	s.mu.Unlock()
	signal(s.queued)
	if err := <-c.done; err != nil {
		return fmt.Errorf("%w: %w", errCommit, err)
	}
	return nil
}

// commitUntil commits what is submitted, one transaction at a time, so that a lane is never
// changed by two. Each transaction has all that was submitted during the one before.
func (s *session) commitUntil(ended <-chan struct{}) {
	for {
		select {
		case <-s.queued:
			s.commitSubmitted()
		case <-ended:
			s.commitSubmitted()
			return
		}
	}
}

func (s *session) commitSubmitted() {
	s.mu.Lock()
	changes, err := s.changes, s.failed
	s.changes = nil
	s.mu.Unlock()
	if len(changes) == 0 {
		return
	}
	var removed map[string]int
	if err == nil {
		removed, err = s.commit(context.WithoutCancel(s.sending), changes)
	}
	s.mu.Lock()
	s.failed = err
	for id, count := range removed {
		w := s.webhooks[id]
		w.messages -= count
		signal(w.room)
	}
	for _, c := range changes {
		s.settleLocked(c, err == nil)
	}
	s.mu.Unlock()
	for _, c := range changes {
		c.done <- err
	}
	signal(s.wake)
}

// settleLocked takes over what was committed.
func (s *session) settleLocked(c *change, committed bool) {
	if c.sent != nil {
		delete(s.numbers, c.sent.number)
		w := s.webhooks[c.sent.webhook]
		w.sending--
		w.due = s.Now()
	}
	if c.read == nil || !committed {
		return
	}
	w := s.webhooks[c.read.webhook]
	w.at = c.read
	if c.drop {
		w.messages = 0
	}
	if w.messages += len(c.add); len(c.add) > 0 {
		w.due = s.Now()
	}
}

// untrimmed counts the attempts that are stored, and returns the webhooks of which so many
// were stored that the oldest are to be removed.
func (s *session) untrimmed(attempts []made) (full []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range attempts {
		w := s.webhooks[attempts[i].webhook]
		if w.attempts++; w.attempts > keptAttempts {
			w.attempts = 0
			full = append(full, attempts[i].webhook)
		}
	}
	return full
}
