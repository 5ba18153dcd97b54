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
	keysMinInterval  = 10 * time.Second // shortest time between the starts of two fetches
	keysMinMaxAge    = time.Minute
	keysPerMaxAge    = 5 // scheduled fetches in KeysMaxAge, so that some may fail
)

var (
	errUnknownKey = errors.New("no key of the issuer verifies the signature")
	errNoKeys     = errors.New("no keys of the issuer are known yet")
	errOldKeys    = errors.New("the issuer's keys were not confirmed for too long")
)

// keySet is the issuer's public keys. run fetches them on a fixed schedule that
// does not depend on tokens. A token that no known key verifies triggers an extra
// fetch, unless a fetch started within keysMinInterval.
//
// Keys expire maxAge after the start of the fetch that confirmed them. A key that
// the issuer withdraws is therefore refused after maxAge, even if the issuer stops
// answering.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time
	maxAge time.Duration
	log    *slog.Logger

	current atomic.Pointer[known]
	fetched atomic.Int64 // fetches that succeeded
	failed  atomic.Int64
	asked   chan struct{} // has room for one request for an extra fetch

	mu       sync.Mutex
	began    time.Time     // when the last fetch started
	fetching bool          // the last fetch has not ended
	ended    chan struct{} // closed when the current fetch ends, or the next one if none is running
}

// known is an immutable snapshot of the keys.
type known struct {
	keys    []jose.JSONWebKey
	epoch   int       // incremented whenever the issuer withdraws a key
	expires time.Time // zero before the first successful fetch
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

// outage returns why the keys cannot be used, or nil if they can.
func (k *known) outage(now time.Time) error {
	switch {
	case now.Before(k.expires):
		return nil
	case k.err != nil:
		return k.err
	}
	return errOldKeys
}

// payload verifies the signature and returns the signed payload and the keys that
// were used. outage is not nil if the signature could not be checked because the
// current keys are not known.
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
	return nil, with, with.err // if the fetch failed, the issuer may have a key that is not known
}

// ask waits up to keysFetchTimeout for the current fetch. If none is running, it
// requests an extra fetch and waits for that. It returns at once if the last fetch
// has ended and was too recent for another.
func (s *keySet) ask(ctx context.Context) error {
	s.mu.Lock()
	ended, fetching, recent := s.ended, s.fetching, s.recent()
	s.mu.Unlock()
	if recent && !fetching {
		return nil
	}
	if !fetching {
		select {
		case s.asked <- struct{}{}:
		default: // another token has requested it
		}
	}
	timeout := time.NewTimer(keysFetchTimeout)
	defer timeout.Stop()
	select {
	case <-ended:
		return nil
	case <-timeout.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recent reports whether the last fetch started within keysMinInterval. The
// caller holds s.mu.
func (s *keySet) recent() bool {
	return !s.began.IsZero() && s.now().Sub(s.began) < keysMinInterval
}

// run fetches the keys at once, then on schedule and on request until ctx ends.
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

// refresh fetches the keys and returns the time until the next scheduled fetch.
func (s *keySet) refresh(ctx context.Context) time.Duration {
	s.mu.Lock()
	began := s.now()
	s.began, s.fetching = began, true
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
	s.fetching, s.ended = false, make(chan struct{})
	s.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "the token issuer's keys could not be fetched", "error", err, "keys_expire", next.expires)
		}
		return keysMinInterval
	}
	return max(s.maxAge/keysPerMaxAge, keysMinInterval)
}
