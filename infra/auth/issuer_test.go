package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"netsim/infra/auth"
	"netsim/internal/testwait"
)

const (
	issuerName = "https://issuer.test"
	audience   = "netsim"
	account    = "acct_00000000000000000000000001"
	workspaceA = "workspace_0000000000000000000000000a"
	workspaceB = "workspace_0000000000000000000000000b"
)

// issuer signs tokens and serves its public keys, over real HTTP or as the
// http.RoundTripper of a client.
type issuer struct {
	url string

	mu      sync.Mutex
	keys    []jose.JSONWebKey // private
	fetches []time.Time
	down    bool
	hangs   bool              // RoundTrip does not answer
	extra   []json.RawMessage // served beside the keys
}

// newKeys returns an issuer without a server.
func newKeys(t testing.TB, kids ...string) *issuer {
	t.Helper()
	iss := &issuer{url: issuerName + "/keys"}
	for _, kid := range kids {
		iss.add(t, kid)
	}
	return iss
}

func newIssuer(t testing.TB, kids ...string) *issuer {
	t.Helper()
	iss := newKeys(t, kids...)
	server := httptest.NewServer(http.HandlerFunc(iss.serveKeys))
	t.Cleanup(server.Close)
	iss.url = server.URL
	return iss
}

func (s *issuer) serveKeys(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetches = append(s.fetches, time.Now())
	if s.down {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	served := s.extra
	for _, k := range s.keys {
		public, _ := json.Marshal(k.Public())
		served = append(served, public)
	}
	json.NewEncoder(w).Encode(map[string]any{"keys": served})
}

// RoundTrip serves the keys without a network: synctest bubbles cannot wait for
// network I/O.
func (s *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.hanging() {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	s.serveKeys(w, r)
	return w.Result(), nil
}

func (s *issuer) hanging() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hangs
}

func (s *issuer) add(t testing.TB, kid string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.addKey(jose.JSONWebKey{Key: key, KeyID: kid, Algorithm: "ES256", Use: "sig"})
}

func (s *issuer) addKey(k jose.JSONWebKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, k)
}

func (s *issuer) withdraw(kid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range s.keys {
		if k.KeyID == kid {
			s.keys = append(s.keys[:i:i], s.keys[i+1:]...)
			return
		}
	}
}

// fail makes the issuer answer with errors (down), not answer (hangs), or recover.
func (s *issuer) fail(down, hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.hangs = down, hangs
}

func (s *issuer) fetched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fetches)
}

// closest returns the shortest time between two fetches.
func (s *issuer) closest() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	least := time.Duration(math.MaxInt64)
	for i := 1; i < len(s.fetches); i++ {
		least = min(least, s.fetches[i].Sub(s.fetches[i-1]))
	}
	return least
}

func (s *issuer) key(t testing.TB, kid string) jose.JSONWebKey {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.keys {
		if k.KeyID == kid {
			return k
		}
	}
	t.Fatalf("no key %q", kid)
	return jose.JSONWebKey{}
}

// token signs the claims with the named key.
func (s *issuer) token(t testing.TB, kid string, claims map[string]any) string {
	t.Helper()
	k := s.key(t, kid)
	return sign(t, jose.SignatureAlgorithm(k.Algorithm), k, claims)
}

func sign(t testing.TB, alg jose.SignatureAlgorithm, key any, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}

// clock returns a test's current time.
type clock func() time.Time

func (c clock) Now() time.Time { return c() }

// newClock returns a clock that stands still. Tests in which time passes run in a
// synctest bubble and use time.Now.
func newClock() clock {
	return func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
}

// userClaims returns the claims of a valid user token, changed by the pairs of
// name and value. A nil value removes the claim.
func userClaims(c clock, pairs ...any) map[string]any {
	claims := map[string]any{
		"iss": issuerName, "aud": audience, "sub": "user-1", "name": "Ada",
		"exp": c.Now().Add(time.Hour).Unix(), "iat": c.Now().Unix(), "nbf": c.Now().Unix(),
		"token_use": "user", "account_id": account, "account_name": "Acme", "platform": "netsim",
		"workspaces": []string{workspaceB, workspaceA, workspaceA},
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			delete(claims, pairs[i].(string))
			continue
		}
		claims[pairs[i].(string)] = pairs[i+1]
	}
	return claims
}

func newVerifier(t testing.TB, iss *issuer, c clock, change ...func(*auth.Config)) *auth.Verifier {
	t.Helper()
	config := auth.Config{Issuer: issuerName, JWKSURL: iss.url, Audience: audience, Platform: "netsim", Now: c.Now,
		Algorithms: []string{"ES256", "RS256"}, ServiceClaim: "token_use", ServiceValue: "service", KeysMaxAge: 10 * time.Minute}
	for _, f := range change {
		f(&config)
	}
	v, err := auth.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := testwait.Receive(t, ended, "the verifier to stop"); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return v
}

func mustVerify(ctx context.Context, t testing.TB, v *auth.Verifier, token string) auth.Caller {
	t.Helper()
	caller, err := v.Verify(ctx, token)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	return caller
}
