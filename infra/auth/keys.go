package auth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
)

const (
	keysFetchTimeout = 5 * time.Second
	keysMinInterval  = 10 * time.Second // between fetches, however many unknown key ids come
	keysMaxAge       = 10 * time.Minute // then fetched again, so that a withdrawn key goes
	keysMaxBytes     = 1 << 20
	keysMaxCount     = 64
	minRSABits       = 2048
)

var errUnknownKey = errors.New("no key of the issuer verifies the signature")

// keySet is the issuer's public keys. They are fetched when a token names a
// key that is not known and when they are old, never more often than once per
// keysMinInterval. While the issuer does not answer the known keys remain.
type keySet struct {
	url       string
	client    *http.Client
	now       func() time.Time
	withdrawn func() // called when a fetch no longer has a key that was known

	fetching singleflight.Group

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time // last success
	tried   time.Time // last attempt
	err     error     // of the last attempt
}

// payload verifies the signature and returns what was signed. An outage is
// the error of a fetch that had to succeed for an answer.
func (s *keySet) payload(ctx context.Context, jws *jose.JSONWebSignature) (signed []byte, outage, err error) {
	keys, fresh, _ := s.known()
	if fresh {
		if signed, ok := verify(jws, keys); ok {
			return signed, nil, nil
		}
	}
	if err := s.refresh(ctx); err != nil {
		return nil, err, err
	}
	keys, _, outage = s.known()
	if signed, ok := verify(jws, keys); ok {
		return signed, nil, nil
	}
	return nil, outage, errUnknownKey
}

func (s *keySet) known() (keys []jose.JSONWebKey, fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys, s.now().Sub(s.fetched) < keysMaxAge, s.err
}

// refresh fetches the keys unless that was tried just now. Callers at the same
// time share one fetch, which outlives the caller that began it. The error is
// the context's; the fetch's own is kept with the keys.
func (s *keySet) refresh(ctx context.Context) error {
	done := s.fetching.DoChan("", func() (any, error) {
		s.mu.Lock()
		recent := s.now().Sub(s.tried) < keysMinInterval
		s.tried = s.now()
		s.mu.Unlock()
		if !recent {
			s.store(s.fetch(context.WithoutCancel(ctx)))
		}
		return nil, nil
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *keySet) store(keys []jose.JSONWebKey, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err = err; err != nil {
		return
	}
	gone := !includes(keys, s.keys)
	s.keys, s.fetched = keys, s.now()
	if gone {
		s.withdrawn()
	}
}

func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, keysFetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch the issuer's keys: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the issuer's keys: status %d", resp.StatusCode)
	}
	return readKeys(io.LimitReader(resp.Body, keysMaxBytes))
}

// readKeys reads a JWK set and keeps the keys that can verify tokens. A key of
// an unknown kind is passed over, as RFC 7517 section 5 asks.
func readKeys(r io.Reader) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(r).Decode(&set); err != nil {
		return nil, fmt.Errorf("read the issuer's keys: %w", err)
	}
	if len(set.Keys) > keysMaxCount {
		return nil, fmt.Errorf("read the issuer's keys: %d keys, at most %d are accepted", len(set.Keys), keysMaxCount)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if json.Unmarshal(raw, &k) == nil && usable(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("read the issuer's keys: none can verify a signature")
	}
	return keys, nil
}

// usable reports whether the key may verify tokens: public, meant for
// signatures, and not a weak one.
func usable(k jose.JSONWebKey) bool {
	if !k.Valid() || !k.IsPublic() || (k.Use != "" && k.Use != "sig") {
		return false
	}
	if key, ok := k.Key.(*rsa.PublicKey); ok {
		return key.N.BitLen() >= minRSABits
	}
	return true
}

// verify tries the keys that the signature's header allows: its key id, or
// any when it names none.
func verify(jws *jose.JSONWebSignature, keys []jose.JSONWebKey) ([]byte, bool) {
	header := jws.Signatures[0].Header
	for i := range keys {
		k := &keys[i]
		if header.KeyID != "" && header.KeyID != k.KeyID || k.Algorithm != "" && k.Algorithm != header.Algorithm {
			continue
		}
		if signed, err := jws.Verify(k); err == nil {
			return signed, true
		}
	}
	return nil, false
}

// includes reports whether every key of want is among keys.
func includes(keys, want []jose.JSONWebKey) bool {
	for _, w := range want {
		if !slices.ContainsFunc(keys, func(k jose.JSONWebKey) bool { return same(k, w) }) {
			return false
		}
	}
	return true
}

func same(a, b jose.JSONWebKey) bool {
	x, errX := a.Thumbprint(crypto.SHA256)
	y, errY := b.Thumbprint(crypto.SHA256)
	return errX == nil && errY == nil && a.KeyID == b.KeyID && bytes.Equal(x, y)
}
