package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"netsim/fault"
	"netsim/infra/auth"
)

// TestRecheck: a request that takes long finds out that its token has expired.
func TestRecheck(t *testing.T) {
	t.Parallel()
	var later atomic.Int64 // the verifier reads the clock beside the test
	c := clock(func() time.Time { return newClock()().Add(time.Duration(later.Load())) })
	iss := newIssuer(t, "k1")
	v := newVerifier(t, iss, c)
	ctx := authenticated(t.Context(), t, v, iss.token(t, "k1", userClaims(c, "exp", c.Now().Add(time.Minute).Unix())))
	if err := auth.Recheck(ctx); err != nil {
		t.Errorf("right after the request: %v", err)
	}
	later.Store(int64(2 * time.Minute)) // longer than the tolerated clock difference
	if err := auth.Recheck(ctx); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("after the token has expired: %v, want Unauthorized", err)
	}
	if err := auth.Recheck(t.Context()); err != nil {
		t.Errorf("without a request: %v", err)
	}
}

// authenticated returns the context of a request with the token after Authenticate.
func authenticated(ctx context.Context, t *testing.T, v *auth.Verifier, token string) (got context.Context) {
	t.Helper()
	h := v.Authenticate(func(_ http.ResponseWriter, _ *http.Request, err error) { t.Error(err) })(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Context() }))
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got == nil {
		t.Fatal("the request is refused")
	}
	return got
}
