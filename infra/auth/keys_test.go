package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"netsim/fault"
	"netsim/infra/auth"
)

// bubble runs the test in a synctest bubble, where only fake time passes, with an
// issuer of the keys and a verifier that has fetched them.
func bubble(t *testing.T, kids []string, test func(t *testing.T, iss *issuer, v *auth.Verifier), change ...func(*auth.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		iss := newKeys(t, kids...)
		change = append(change, func(c *auth.Config) { c.Client = &http.Client{Transport: iss} })
		v := newVerifier(t, iss, time.Now, change...)
		synctest.Wait()
		test(t, iss, v)
	})
}

// pass advances the bubble's time.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// long returns the claims of a token that outlasts every test.
func long(pairs ...any) map[string]any {
	return userClaims(time.Now, append([]any{"exp", time.Now().Add(1000 * time.Hour).Unix()}, pairs...)...)
}

func TestRotationPicksUpTheNewKey(t *testing.T) {
	t.Parallel()
	bubble(t, []string{"k1"}, func(t *testing.T, iss *issuer, v *auth.Verifier) {
		mustVerify(t.Context(), t, v, iss.token(t, "k1", long()))
		iss.add(t, "k2")
		pass(11 * time.Second)
		mustVerify(t.Context(), t, v, iss.token(t, "k2", long()))
		if got := iss.fetched(); got != 2 {
			t.Errorf("fetches = %d, want 2", got)
		}
	})
}

func TestUnknownKeysCauseNoStorm(t *testing.T) {
	t.Parallel()
	bubble(t, []string{"k1"}, func(t *testing.T, iss *issuer, v *auth.Verifier) {
		otherIssuer := newKeys(t, "other")
		pass(11 * time.Second)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				token := otherIssuer.token(t, "other", long("sub", fmt.Sprint("user-", i)))
				if _, err := v.Verify(t.Context(), token); !fault.Is(err, fault.Unauthorized) {
					t.Errorf("verify: %v, want %s", err, fault.Unauthorized)
				}
			})
		}
		all.Wait()
		if got := iss.fetched(); got != 2 {
			t.Errorf("fetches = %d, want 2: the first and one extra for all 200 tokens", got)
		}
	})
}

// TestBadTokensPostponeNothing sends tokens of an unknown key for an hour, at
// several rates. At every rate the keys are fetched at most once in ten seconds, a
// withdrawn key is refused within KeysMaxAge, even if the issuer hangs, and a new
// key is known ten seconds after its first token.
func TestBadTokensPostponeNothing(t *testing.T) {
	t.Parallel()
	const maxAge = 10 * time.Minute
	for _, every := range []time.Duration{
		time.Second, 3 * time.Second, 9 * time.Second, 10 * time.Second, 11 * time.Second, 45 * time.Second, 13 * time.Minute,
	} {
		for name, hangs := range map[string]bool{"answers": false, "hangs": true} {
			t.Run(fmt.Sprintf("%s %s", every, name), func(t *testing.T) {
				t.Parallel()
				bubble(t, []string{"k1", "k2"}, func(t *testing.T, iss *issuer, v *auth.Verifier) {
					stolen, good := iss.token(t, "k1", long()), iss.token(t, "k2", long())
					go sendEvery(t, every, newKeys(t, "other").token(t, "other", long()), v)
					pass(time.Hour)
					mustVerify(t.Context(), t, v, stolen)
					if got := iss.closest(); got < 10*time.Second {
						t.Errorf("two fetches within %s, want at least 10s between them", got)
					}

					iss.withdraw("k1")
					iss.fail(false, hangs)
					pass(maxAge)
					_, err := v.Verify(t.Context(), stolen)
					want := fault.Unauthorized
					if hangs {
						want = fault.Unavailable
					}
					if !fault.Is(err, want) {
						t.Fatalf("verify with a withdrawn key after %s: %v, want %s", maxAge, err, want)
					}

					iss.fail(false, false)
					iss.add(t, "k3")
					pass(15 * time.Second) // the fetch that hangs, and the interval after it
					fresh := iss.token(t, "k3", long())
					v.Verify(t.Context(), fresh) //nolint:errcheck // the call triggers a fetch
					pass(10 * time.Second)
					mustVerify(t.Context(), t, v, fresh)
					mustVerify(t.Context(), t, v, good)
				}, func(c *auth.Config) { c.KeysMaxAge = maxAge })
			})
		}
	}
}

// sendEvery verifies the token at every interval until the test ends.
func sendEvery(t *testing.T, every time.Duration, token string, v *auth.Verifier) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-t.Context().Done():
			return
		case <-tick.C:
			go v.Verify(t.Context(), token) //nolint:errcheck // the token is always refused
		}
	}
}

// While the issuer hangs, a token of a known key is verified at once, although
// another token waits for a fetch.
func TestUnknownKeysDelayNoOtherToken(t *testing.T) {
	t.Parallel()
	bubble(t, []string{"k1"}, func(t *testing.T, iss *issuer, v *auth.Verifier) {
		pass(11 * time.Second)
		iss.fail(false, true)
		go v.Verify(t.Context(), newKeys(t, "other").token(t, "other", long())) //nolint:errcheck // the call waits for a fetch
		synctest.Wait()
		began := time.Now()
		mustVerify(t.Context(), t, v, iss.token(t, "k1", long()))
		if took := time.Since(began); took > 0 {
			t.Errorf("a token of a known key waited %s, want no wait", took)
		}
	})
}

// No token, cached or not, is accepted while the issuer is down at the start, or
// down for longer than KeysMaxAge. Keys reports the outage.
func TestKeysExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		iss := newKeys(t, "k1")
		iss.fail(true, false)
		v := newVerifier(t, iss, time.Now, func(c *auth.Config) { c.Client = &http.Client{Transport: iss} })
		token := iss.token(t, "k1", long())
		verifyIs := func(want fault.Code, step string) {
			t.Helper()
			_, err := v.Verify(t.Context(), token)
			if want == "" && err != nil || want != "" && !fault.Is(err, want) {
				t.Fatalf("verify %s: %v, want code %q", step, err, want)
			}
		}
		verifyIs(fault.Unavailable, "while the issuer is down at the start")
		if expire, err := v.Keys(); !expire.IsZero() || err == nil {
			t.Errorf("Keys before the first fetch = %v, %v; want the zero time and an error", expire, err)
		}
		iss.fail(false, false)
		pass(10 * time.Second)
		verifyIs("", "ten seconds after the issuer is up")
		if expire, err := v.Keys(); !expire.Equal(time.Now().Add(10*time.Minute)) || err != nil {
			t.Errorf("Keys at %v = %v, %v; want ten minutes later and no error", time.Now(), expire, err)
		}

		iss.fail(true, false)
		pass(10*time.Minute - time.Second)
		verifyIs("", "before the keys expire")
		if _, err := v.Keys(); err == nil {
			t.Error("Keys during an outage: no error, want the failed fetch")
		}
		pass(time.Second)
		verifyIs(fault.Unavailable, "after the keys expired")
		iss.fail(false, false)
		pass(10 * time.Second)
		verifyIs("", "ten seconds after the issuer is back")
	})
}

// Keys of other types, weak keys and encryption keys in the set verify nothing,
// and the usable key beside them still does.
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

func TestVerifiedTokensAreCached(t *testing.T) {
	t.Parallel()
	var stored atomic.Int32 // calls of Directory
	bubble(t, []string{"k1"}, func(t *testing.T, iss *issuer, v *auth.Verifier) {
		token := iss.token(t, "k1", userClaims(time.Now))
		for range 3 {
			mustVerify(t.Context(), t, v, token)
		}
		if got := stored.Load(); got != 1 {
			t.Errorf("directory called %d times for one token, want 1", got)
		}
		for i := range 20 { // more tokens than the cache holds; the one in use stays
			mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(time.Now, "sub", fmt.Sprint("user-", i))))
			mustVerify(t.Context(), t, v, token)
		}
		if got := stored.Load(); got != 21 {
			t.Errorf("directory called %d times, want 21", got)
		}
		pass(time.Hour + 30*time.Second)
		refuses(t, v, token)
	}, func(c *auth.Config) {
		c.CacheSize = 4
		c.Directory = func(context.Context, auth.Caller) { stored.Add(1) }
	})
}

func BenchmarkVerifyCached(b *testing.B) {
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
