package web

import (
	"context"
	"slices"
	"sync"
	"time"

	"netsim/fault"
)

// policy is how the slots of a class are shared.
type policy struct {
	share float64       // the most of the slots that one account holds
	wait  time.Duration // the longest wait for a slot
	usual time.Duration // how long a slot is held, until it is measured
}

// slots are the slots of a class, shared fairly by accounts. A request waits only
// while no slot that its account may use is free.
type slots struct {
	policy
	total, each int
	now         func() time.Time

	mu       sync.Mutex
	taken    int
	queued   int           // waiting requests of all accounts
	held     time.Duration // moving average of how long a request holds a slot
	turns    int64
	accounts map[string]*account
}

// account is an account that holds slots or waits for some.
type account struct {
	most    int // slots that it may hold, as of its last request
	taken   int
	turn    int64           // orders accounts by when they came or last got a slot
	waiting []chan struct{} // oldest first; each is closed with its slot
}

func newSlots(total int, p policy, now func() time.Time) *slots {
	return &slots{
		policy: p, total: total, each: max(1, int(float64(total)*p.share)),
		now: now, held: p.usual, accounts: map[string]*account{},
	}
}

// enter takes a slot for the account, which may hold at most so many, and waits
// for one if it can expect one in time. The caller calls leave when the request is
// answered.
func (s *slots) enter(ctx context.Context, name string, most int64) (leave func(), err error) {
	s.mu.Lock()
	a := s.accounts[name]
	if a == nil {
		s.turns++
		a = &account{turn: s.turns}
		s.accounts[name] = a
	}
	a.most = int(min(int64(s.each), most))
	if a.taken < a.most && s.taken < s.total {
		s.grantLocked(a)
		s.mu.Unlock()
		return s.leaving(name, a), nil
	}
	if err := s.hopelessLocked(a, most); err != nil {
		s.forgetLocked(name, a)
		s.mu.Unlock()
		return nil, err
	}
	one := make(chan struct{})
	a.waiting = append(a.waiting, one)
	s.queued++
	s.mu.Unlock()

	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	select {
	case <-one:
		return s.leaving(name, a), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(a.waiting, one)
	if i < 0 { // it got a slot at the same time
		return s.leaving(name, a), nil
	}
	a.waiting = slices.Delete(a.waiting, i, i+1)
	s.queued--
	if err == nil {
		err = s.refusalLocked(a, most, s.held)
	}
	s.forgetLocked(name, a)
	return nil, err
}

// hopelessLocked refuses a request that could not expect a slot in time.
func (s *slots) hopelessLocked(a *account, most int64) error {
	if a.most > 0 && s.total > 0 {
		wait := s.held * time.Duration(len(a.waiting)+1) / time.Duration(s.shareLocked(a))
		if s.wait > 0 && wait <= s.wait {
			return nil
		}
		return s.refusalLocked(a, most, wait)
	}
	return s.refusalLocked(a, most, s.wait)
}

// shareLocked returns how many slots the account gets when all accounts that
// hold or want slots compete.
func (s *slots) shareLocked(a *account) int {
	return min(a.most, max(1, s.total/len(s.accounts)))
}

// refusalLocked returns the error for a request that would have to wait so long.
func (s *slots) refusalLocked(a *account, most int64, wait time.Duration) error {
	retry := max(wait, time.Second)
	switch {
	case int64(a.taken) >= most: // its quota is below the share
		return fault.Exceeded(fault.Quota{Name: QuotaStreams, Limit: most, Unit: "concurrent-requests"}, 5*time.Second,
			"the account has %d streams open at a time", most)
	case s.total > 0 && a.taken+len(a.waiting) >= s.shareLocked(a):
		return &fault.Fault{Code: fault.RateLimited, Message: "the account has too many requests of this kind at a time", RetryAfter: retry}
	}
	return &fault.Fault{Code: fault.Unavailable, Message: "too many requests of this kind at a time; repeat the request", RetryAfter: retry}
}

func (s *slots) grantLocked(a *account) {
	a.taken++
	s.taken++
	s.turns++
	a.turn = s.turns
}

// leaving returns the function that frees the slot.
func (s *slots) leaving(name string, a *account) func() {
	began := s.now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held += (s.now().Sub(began) - s.held) / 16
		a.taken--
		s.taken--
		for s.queued > 0 && s.taken < s.total {
			next := s.nextLocked()
			if next == nil {
				break
			}
			close(next.waiting[0])
			next.waiting = next.waiting[1:]
			s.queued--
			s.grantLocked(next)
		}
		s.forgetLocked(name, a)
	}
}

// nextLocked returns the waiting account that holds the fewest slots, the one with
// the lowest turn if there are several; nil when none may have another slot. Every
// waiting account is therefore served before one that came later gets a second
// slot.
func (s *slots) nextLocked() *account {
	var next *account
	for _, a := range s.accounts {
		if len(a.waiting) == 0 || a.taken >= a.most {
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
