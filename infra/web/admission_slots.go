package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"netsim/fault"
)

// policy says how the slots of a class are shared.
type policy struct {
	share float64       // the largest fraction of the slots that one account may hold
	wait  time.Duration // the longest wait for a slot
	usual time.Duration // first estimate of how long a slot is held
	yield time.Duration // wait after which the slowest body yields its slot; 0 for never
}

// slots are the slots of a class, shared fairly by accounts. A request waits while
// no slot is free or its account may hold no more.
type slots struct {
	policy
	total, each int // slots in total, and at most for one account
	now         func() time.Time

	mu       sync.Mutex
	taken    int           // slots in use
	queued   int           // waiting requests of all accounts
	held     time.Duration // moving average of how long a request holds a slot
	turns    int64         // the last turn given to an account
	accounts map[string]*account
	bodies   map[*arrival]*account // that are read while their request holds a slot
}

// account is an account that holds slots or waits for some.
type account struct {
	limit   int      // slots that it may hold, as of its last request
	taken   int      // slots that it holds
	turn    int64    // orders accounts by when they arrived or last got a slot
	waiting []waiter // oldest request first
}

// waiter is a request that waits for a slot.
type waiter struct {
	granted chan struct{} // closed when the request gets a slot
	body    *arrival      // nil if it is not read while the request holds the slot
}

func newSlots(total int, p policy, now func() time.Time) *slots {
	return &slots{
		policy: p, total: total, each: max(1, int(float64(total)*p.share)),
		now: now, held: p.usual, accounts: map[string]*account{}, bodies: map[*arrival]*account{},
	}
}

// enter takes a slot for the account, which may hold at most limit slots. It waits
// for a slot if it can expect one in time. The caller calls leave when the request
// is answered; leave returns false if the request's body had to yield its slot.
func (s *slots) enter(ctx context.Context, name string, limit int64, body *arrival) (leave func() bool, err error) {
	s.mu.Lock()
	a := s.accounts[name]
	if a == nil {
		s.turns++
		a = &account{turn: s.turns}
		s.accounts[name] = a
	}
	a.limit = int(min(int64(s.each), limit))
	if a.taken < a.limit && s.taken < s.total {
		s.grantLocked(a, body)
		s.mu.Unlock()
		return s.leaving(name, a, body), nil
	}
	if err := s.refuseLocked(a, limit); err != nil {
		s.forgetLocked(name, a)
		s.mu.Unlock()
		return nil, err
	}
	w := waiter{make(chan struct{}), body}
	a.waiting = append(a.waiting, w)
	s.queued++
	s.mu.Unlock()

	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	var yield <-chan time.Time
	if s.yield > 0 {
		every := time.NewTicker(s.yield)
		defer every.Stop()
		yield = every.C
	}
	for waits := true; waits; {
		select {
		case <-w.granted:
			return s.leaving(name, a, body), nil
		case <-yield:
			if s.yieldTo(a, w) {
				yield = nil
			}
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
		}
		waits = false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(a.waiting, w)
	if i < 0 { // the request got a slot at the same time
		return s.leaving(name, a, body), nil
	}
	a.waiting = slices.Delete(a.waiting, i, i+1)
	s.queued--
	if err == nil {
		err = s.refusalLocked(a, limit, s.held)
	}
	s.forgetLocked(name, a)
	return nil, err
}

// yieldTo makes the slowest body of an account that holds more slots yield its slot, if
// the request still waits. It returns false when there is no such body yet.
func (s *slots) yieldTo(a *account, w waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(a.waiting, w) || a.taken >= a.limit {
		return false
	}
	slow := slowest(s.bodies, func(of *account) bool { return of.taken > a.taken })
	if slow == nil || !slow.lose(tooSlow()) {
		return false
	}
	delete(s.bodies, slow)
	return true
}

// willYieldLocked reports whether a body of an account that holds more slots is left for
// another request of the account, after those that wait and come before it.
func (s *slots) willYieldLocked(a *account) bool {
	left := 0
	for _, of := range s.bodies {
		if of.taken > a.taken {
			left++
		}
	}
	for _, other := range s.accounts {
		if other.taken <= a.taken {
			left -= min(len(other.waiting), max(0, other.limit-other.taken))
		}
	}
	return left > 0
}

// refuseLocked returns an error for a request that cannot expect a slot in time.
func (s *slots) refuseLocked(a *account, limit int64) error {
	if s.yield > 0 && a.taken+len(a.waiting) < a.limit && s.willYieldLocked(a) {
		return nil
	}
	if a.limit > 0 && s.total > 0 {
		wait := s.held * time.Duration(len(a.waiting)+1) / time.Duration(s.shareLocked(a))
		if s.wait > 0 && wait <= s.wait {
			return nil
		}
		return s.refusalLocked(a, limit, wait)
	}
	return s.refusalLocked(a, limit, s.wait)
}

// shareLocked returns how many slots the account gets when all accounts that
// hold or want slots compete.
func (s *slots) shareLocked(a *account) int {
	return min(a.limit, max(1, s.total/len(s.accounts)))
}

// refusalLocked returns the error for a request that expects to wait this long.
func (s *slots) refusalLocked(a *account, limit int64, wait time.Duration) error {
	retry := max(wait, time.Second)
	switch {
	case int64(a.taken) >= limit: // the quota is used up
		return fault.Exceeded(fault.Quota{Name: QuotaStreams, Limit: limit, Unit: "concurrent-requests"}, 5*time.Second,
			"the account may have %d streams open at a time", limit)
	case s.total > 0 && a.taken+len(a.waiting) >= s.shareLocked(a):
		return &fault.Fault{Code: fault.RateLimited, Message: "the account has too many requests of this kind at a time", RetryAfter: retry}
	}
	return &fault.Fault{Code: fault.Unavailable, Message: "too many requests of this kind at a time; repeat the request", RetryAfter: retry}
}

func (s *slots) grantLocked(a *account, body *arrival) {
	if body != nil {
		s.bodies[body] = a
	}
	a.taken++
	s.taken++
	s.turns++
	a.turn = s.turns
}

// leaving returns the function that releases the slot. How long a slot was held counts
// only if its body did not have to yield it.
func (s *slots) leaving(name string, a *account, body *arrival) func() bool {
	began := s.now()
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		stayed := body == nil || s.bodies[body] != nil
		if stayed {
			s.held += (s.now().Sub(began) - s.held) / 16
		}
		delete(s.bodies, body)
		a.taken--
		s.taken--
		for s.queued > 0 && s.taken < s.total {
			next := s.nextLocked()
			if next == nil {
				break
			}
			w := next.waiting[0]
			close(w.granted)
			next.waiting = next.waiting[1:]
			s.queued--
			s.grantLocked(next, w.body)
		}
		s.forgetLocked(name, a)
		return stayed
	}
}

// nextLocked returns the waiting account that holds the fewest slots, and among
// several the one with the lowest turn. It returns nil when no account may have
// another slot. A waiting account without a slot therefore gets one before a later
// account gets its second.
func (s *slots) nextLocked() *account {
	var next *account
	for _, a := range s.accounts {
		if len(a.waiting) == 0 || a.taken >= a.limit {
			continue
		}
		if next == nil || a.taken < next.taken || a.taken == next.taken && a.turn < next.turn {
			next = a
		}
	}
	return next
}

func (s *slots) forgetLocked(name string, a *account) {
	if a.taken == 0 && len(a.waiting) == 0 {
		delete(s.accounts, name)
	}
}
