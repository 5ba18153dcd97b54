package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	keysFetchTimeout = 5 * time.Second
	keysMinInterval  = 10 * time.Second // between the beginnings of two fetches, whatever tokens come
	keysMinMaxAge    = time.Minute
	keysPerMaxAge    = 5 // scheduled fetches while keys are of use, so that some may fail
)

var (
	errUnknownKey = errors.New("no key of the issuer verifies the signature")
	errNoKeys     = errors.New("no keys of the issuer are known yet")
	errOldKeys    = errors.New("the issuer's keys were not confirmed for too long")
)

// keySet is the issuer's public keys. Its run fetches them on a schedule that
// no token moves. A token that no known key verifies asks for a fetch besides,
// and gets one when none began within keysMinInterval.
//
// Keys are of use for maxAge from when the fetch that confirmed them began. So
// a key that the issuer withdraws verifies nothing maxAge later, whether the
// issuer answers or not.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time
	maxAge time.Duration
	log    *slog.Logger

	current atomic.Pointer[known]
	fetched atomic.Int64 // fetches that succeeded
	failed  atomic.Int64
	asked   chan struct{} // holds one request for a fetch

	mu    sync.Mutex
	began time.Time     // when the last fetch began
	under bool          // it has not ended
	ended chan struct{} // closed when the fetch under way, or else the next, ends
}

// known is the keys at a moment. It does not change.
type known struct {
	keys    []jose.JSONWebKey
	epoch   int       // how often a key was withdrawn before
	expires time.Time // zero before the first fetch that succeeded
	err     error     // of the last fetch
}

func newKeySet(c *Config) *keySet {
	s := &keySet{
		url: c.JWKSURL, client: c.Client, now: c.Now, maxAge: c.KeysMaxAge, log: c.Log,
		asked: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	s.current.Store(&known{err: errNoKeys})
	return s
}

// outage says why the keys cannot be used, nil when they can.
func (k *known) outage(now time.Time) error {
	switch {
	case now.Before(k.expires):
		return nil
	case k.err != nil:
		return k.err
	}
	return errOldKeys
}

// payload verifies the signature and returns what was signed, and the keys that
// it was verified with. An outage is why that could not be done.
func (s *keySet) payload(ctx context.Context, jws *jose.JSONWebSignature) (signed []byte, with *known, outage error) {
	with = s.current.Load()
	if with.outage(s.now()) == nil {
		if signed, ok := verify(jws, with.keys); ok {
			return signed, with, nil
		}
	}
	if err := s.ask(ctx); err != nil {
		return nil, with, err
	}
	with = s.current.Load()
	if err := with.outage(s.now()); err != nil {
		return nil, with, err
	}
	if signed, ok := verify(jws, with.keys); ok {
		return signed, with, nil
	}
	return nil, with, with.err // of an issuer that may have another key by now
}

// ask waits for the fetch under way, or asks for one and waits for it, as long
// as a fetch may take. It returns at once when the last fetch began too recently
// for another.
func (s *keySet) ask(ctx context.Context) error {
	s.mu.Lock()
	ended, under, recent := s.ended, s.under, s.recent()
	s.mu.Unlock()
	if recent && !under {
		return nil
	}
	if !under {
		select {
		case s.asked <- struct{}{}:
		default: // another token asks already
		}
	}
	atMost := time.NewTimer(keysFetchTimeout)
	defer atMost.Stop()
	select {
	case <-ended:
		return nil
	case <-atMost.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recent reports whether the last fetch began within keysMinInterval.
func (s *keySet) recent() bool {
	return !s.began.IsZero() && s.now().Sub(s.began) < keysMinInterval
}

// run fetches the keys at once and then until ctx ends.
func (s *keySet) run(ctx context.Context) {
	scheduled := time.NewTimer(0)
	defer scheduled.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-scheduled.C:
		case <-s.asked:
			if s.tooSoon() {
				continue
			}
		}
		scheduled.Reset(s.refresh(ctx))
	}
}

func (s *keySet) tooSoon() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recent()
}

// refresh fetches the keys and returns when to do so next, by the schedule.
func (s *keySet) refresh(ctx context.Context) time.Duration {
	s.mu.Lock()
	began := s.now()
	s.began, s.under = began, true
	s.mu.Unlock()
	keys, err := fetchKeys(ctx, s.client, s.url)
	next := *s.current.Load()
	if next.err = err; err != nil {
		s.failed.Add(1)
	} else {
		s.fetched.Add(1)
		if !includes(keys, next.keys) {
			next.epoch++
		}
		next.keys, next.expires = keys, began.Add(s.maxAge)
	}
	s.current.Store(&next)
	s.mu.Lock()
	close(s.ended)
	s.under, s.ended = false, make(chan struct{})
	s.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "the token issuer's keys could not be fetched", "error", err, "keys_expire", next.expires)
		}
		return keysMinInterval
	}
	return max(s.maxAge/keysPerMaxAge, keysMinInterval)
}
