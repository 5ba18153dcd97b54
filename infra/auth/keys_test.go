package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"netsim/fault"
	"netsim/infra/auth"
)

func TestRotationPicksUpTheNewKey(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1")
	v := newVerifier(t, iss, c)
	mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(c)))

	iss.add(t, "k2")
	c.Advance(11 * time.Second)
	mustVerify(t.Context(), t, v, iss.token(t, "k2", userClaims(c)))
	if got := iss.fetched(); got != 2 {
		t.Errorf("fetches = %d, want 2", got)
	}
}

func TestUnknownKeysCauseNoStorm(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1")
	v := newVerifier(t, iss, c)
	stranger := newIssuer(t, "other")

	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			token := stranger.token(t, "other", userClaims(c, "sub", fmt.Sprint("user-", i)))
			if _, err := v.Verify(t.Context(), token); !fault.Is(err, fault.Unauthorized) {
				t.Errorf("verify: %v, want %s", err, fault.Unauthorized)
			}
		})
	}
	all.Wait()
	if got := iss.fetched(); got != 1 {
		t.Errorf("fetches = %d, want 1", got)
	}
}

func TestWithdrawnKeyIsForgotten(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1", "k2")
	v := newVerifier(t, iss, c)
	stolen := iss.token(t, "k1", userClaims(c))
	mustVerify(t.Context(), t, v, stolen)

	iss.withdraw("k1")
	c.Advance(10 * time.Minute)
	mustVerify(t.Context(), t, v, iss.token(t, "k2", userClaims(c))) // brings the new keys
	refuses(t, v, stolen)
}

func TestIssuerOutage(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1")
	v := newVerifier(t, iss, c)
	iss.setDown(true)
	token := iss.token(t, "k1", userClaims(c))

	if _, err := v.Verify(t.Context(), token); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("without keys: %v, want %s", err, fault.Unavailable)
	}
	iss.setDown(false)
	c.Advance(11 * time.Second)
	mustVerify(t.Context(), t, v, token)

	iss.setDown(true)
	c.Advance(20 * time.Minute)
	mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(c))) // the keys it has still serve
}

func TestKeySetWithKeysOfOtherKinds(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	iss.extra = []json.RawMessage{
		json.RawMessage(`{"kty":"QUANTUM","kid":"q"}`),
		json.RawMessage(`{"kty":"oct","kid":"secret","k":"AAAA"}`),
	}
	iss.addKey(jose.JSONWebKey{Key: weak, KeyID: "weak", Algorithm: "RS256"})
	iss.addKey(jose.JSONWebKey{Key: strong, KeyID: "encryption", Algorithm: "RS256", Use: "enc"})
	iss.addKey(jose.JSONWebKey{Key: strong, KeyID: "strong", Algorithm: "RS256", Use: "sig"})
	v := newVerifier(t, iss, c)

	mustVerify(t.Context(), t, v, iss.token(t, "strong", userClaims(c)))
	mustVerify(t.Context(), t, v, sign(t, jose.RS256, strong, userClaims(c))) // no kid
	refuses(t, v, iss.token(t, "weak", userClaims(c)))
	refuses(t, v, iss.token(t, "encryption", userClaims(c)))
}

func TestVerifiedTokensAreRemembered(t *testing.T) {
	t.Parallel()
	c, iss := newClock(), newIssuer(t, "k1")
	var noted atomic.Int32
	v := newVerifier(t, iss, c, func(a *auth.Config) {
		a.CacheSize = 4
		a.Directory = func(context.Context, auth.Caller) { noted.Add(1) }
	})
	token := iss.token(t, "k1", userClaims(c))
	for range 3 {
		mustVerify(t.Context(), t, v, token)
	}
	if got := noted.Load(); got != 1 {
		t.Errorf("directory called %d times for one token, want 1", got)
	}
	for i := range 20 { // more than the cache holds; the one in use stays
		mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(c, "sub", fmt.Sprint("user-", i))))
		mustVerify(t.Context(), t, v, token)
	}
	if got := noted.Load(); got != 21 {
		t.Errorf("directory called %d times, want 21", got)
	}
	c.Advance(time.Hour + 30*time.Second)
	refuses(t, v, token)
}

func BenchmarkVerifyRemembered(b *testing.B) {
	c, iss := newClock(), newIssuer(b, "k1")
	v := newVerifier(b, iss, c, func(a *auth.Config) { a.Now = nil })
	token := iss.token(b, "k1", userClaims(c, "exp", time.Now().Add(time.Hour).Unix(), "nbf", nil))
	mustVerify(b.Context(), b, v, token)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := v.Verify(b.Context(), token); err != nil {
				b.Error(err)
			}
		}
	})
}
