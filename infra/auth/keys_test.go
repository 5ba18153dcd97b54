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

// bubble runs a test in which only injected time passes, with an issuer of the
// keys and a verifier that has fetched them.
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

// pass lets time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// long is a token's claims that outlast every test.
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
		stranger := newKeys(t, "other")
		pass(11 * time.Second)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				token := stranger.token(t, "other", long("sub", fmt.Sprint("user-", i)))
				if _, err := v.Verify(t.Context(), token); !fault.Is(err, fault.Unauthorized) {
					t.Errorf("verify: %v, want %s", err, fault.Unauthorized)
				}
			})
		}
		all.Wait()
		if got := iss.fetched(); got != 2 {
			t.Errorf("fetches = %d, want the first and one that 200 tokens asked for", got)
		}
	})
}

// TestBadTokensPostponeNothing sends tokens of a stranger at many rates for an
// hour. Whatever the rate, a key that is withdrawn is refused within its
// promised time and the issuer is not asked too often. A key that is new is
// known ten seconds after its first token, and while the issuer hangs other
// tokens do not wait.
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
					go annoy(t, newKeys(t, "other").token(t, "other", long()), v, every)
					pass(time.Hour)
					mustVerify(t.Context(), t, v, stolen)
					if got := iss.closest(); got < 10*time.Second {
						t.Errorf("two fetches within %s", got)
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
						t.Fatalf("a withdrawn key after %s: %v, want %s", maxAge, err, want)
					}

					iss.fail(false, false)
					iss.add(t, "k3")
					pass(15 * time.Second) // a fetch that hangs, and the interval
					fresh := iss.token(t, "k3", long())
					v.Verify(t.Context(), fresh) //nolint:errcheck // it asks
					pass(10 * time.Second)
					mustVerify(t.Context(), t, v, fresh)
					mustVerify(t.Context(), t, v, good)
				}, func(c *auth.Config) { c.KeysMaxAge = maxAge })
			})
		}
	}
}

// annoy sends the token again and again until the test ends.
func annoy(t *testing.T, token string, v *auth.Verifier, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-t.Context().Done():
			return
		case <-tick.C:
			go v.Verify(t.Context(), token) //nolint:errcheck // it is refused, sooner or later
		}
	}
}

// TestUnknownKeysKeepNobodyWaiting: while the issuer hangs, a token of a known
// key is verified at once, although another token waits for a fetch.
func TestUnknownKeysKeepNobodyWaiting(t *testing.T) {
	t.Parallel()
	bubble(t, []string{"k1"}, func(t *testing.T, iss *issuer, v *auth.Verifier) {
		pass(11 * time.Second)
		iss.fail(false, true)
		go v.Verify(t.Context(), newKeys(t, "other").token(t, "other", long())) //nolint:errcheck // it waits
		synctest.Wait()
		began := time.Now()
		mustVerify(t.Context(), t, v, iss.token(t, "k1", long()))
		if took := time.Since(began); took > 0 {
			t.Errorf("it waited for %s", took)
		}
	})
}

// TestKeysExpire: an issuer that is down at the start, or for longer than its
// keys are of use, makes tokens unverifiable, remembered ones too, until it is
// back. Keys says so.
func TestKeysExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		iss := newKeys(t, "k1")
		iss.fail(true, false)
		v := newVerifier(t, iss, time.Now, func(c *auth.Config) { c.Client = &http.Client{Transport: iss} })
		token := iss.token(t, "k1", long())
		is := func(want fault.Code, step string) {
			t.Helper()
			_, err := v.Verify(t.Context(), token)
			if want == "" && err != nil || want != "" && !fault.Is(err, want) {
				t.Fatalf("%s: %v, want %q", step, err, want)
			}
		}
		is(fault.Unavailable, "down at the start")
		if expire, err := v.Keys(); !expire.IsZero() || err == nil {
			t.Errorf("without keys: %v, %v", expire, err)
		}
		iss.fail(false, false)
		pass(10 * time.Second)
		is("", "ten seconds after it is up")
		if expire, err := v.Keys(); !expire.Equal(time.Now().Add(10*time.Minute)) || err != nil {
			t.Errorf("with keys: until %v at %v, %v", expire, time.Now(), err)
		}

		iss.fail(true, false)
		pass(10*time.Minute - time.Second)
		is("", "before the keys expire")
		if _, err := v.Keys(); err == nil {
			t.Error("an outage is not told")
		}
		pass(time.Second)
		is(fault.Unavailable, "after the keys expired")
		iss.fail(false, false)
		pass(10 * time.Second)
		is("", "ten seconds after it is back")
	})
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
	var noted atomic.Int32
	bubble(t, []string{"k1"}, func(t *testing.T, iss *issuer, v *auth.Verifier) {
		token := iss.token(t, "k1", userClaims(time.Now))
		for range 3 {
			mustVerify(t.Context(), t, v, token)
		}
		if got := noted.Load(); got != 1 {
			t.Errorf("directory called %d times for one token, want 1", got)
		}
		for i := range 20 { // more than the cache holds; the one in use stays
			mustVerify(t.Context(), t, v, iss.token(t, "k1", userClaims(time.Now, "sub", fmt.Sprint("user-", i))))
			mustVerify(t.Context(), t, v, token)
		}
		if got := noted.Load(); got != 21 {
			t.Errorf("directory called %d times, want 21", got)
		}
		pass(time.Hour + 30*time.Second)
		refuses(t, v, token)
	}, func(c *auth.Config) {
		c.CacheSize = 4
		c.Directory = func(context.Context, auth.Caller) { noted.Add(1) }
	})
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
