package auth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"netsim/fault"
	"netsim/infra/auth"
)

// TestVerifyLogin: an ID token is refused for another client, login or access token, at
// another time, and from another issuer (OpenID Connect Core 1.0 section 3.1.3.7).
func TestVerifyLogin(t *testing.T) {
	t.Parallel()
	c := newClock()
	iss := newIssuer(t, "k1")
	v := newVerifier(t, iss, c)
	sum := sha256.Sum256([]byte("the access token"))
	hash := base64.RawURLEncoding.EncodeToString(sum[:16])
	login := func(claim string, value any) auth.Login {
		claims := map[string]any{
			"iss": issuerName, "aud": "console", "sub": "ada", "nonce": "n1", "at_hash": hash, "azp": "console",
			"iat": c.Now().Unix(), "exp": c.Now().Add(time.Minute).Unix(),
		}
		claims[claim] = value
		if value == nil {
			delete(claims, claim)
		}
		return auth.Login{IDToken: iss.token(t, "k1", claims), AccessToken: "the access token", ClientID: "console", Nonce: "n1"}
	}
	for name, l := range map[string]auth.Login{
		"as it should be": login("x", 1), "for several clients": login("aud", []string{"console", "netsim"}),
		"without a hash": login("at_hash", nil), "without an authorized party": login("azp", nil),
	} {
		if err := v.VerifyLogin(t.Context(), l); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	unsigned := login("x", 1)
	unsigned.IDToken = unsigned.IDToken[:strings.LastIndex(unsigned.IDToken, ".")+1]
	for name, l := range map[string]auth.Login{
		"another issuer": login("iss", "https://other.test"), "another client": login("aud", "netsim"), "another login": login("nonce", "n2"),
		"no nonce": login("nonce", nil), "another access token": login("at_hash", base64.RawURLEncoding.EncodeToString(make([]byte, 16))),
		"another party": login("azp", "netsim"), "expired": login("exp", c.Now().Add(-time.Hour).Unix()), "no expiry": login("exp", nil),
		"from the future": login("iat", c.Now().Add(time.Hour).Unix()), "no signature": unsigned, "no token": {ClientID: "console", Nonce: "n1"},
		"a long one": {IDToken: strings.Repeat("x", 20_000), ClientID: "console", Nonce: "n1"},
	} {
		if err := v.VerifyLogin(t.Context(), l); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v, want Forbidden", name, err)
		}
	}
	iss.fail(true, false)
	unknown := newVerifier(t, iss, c, func(c *auth.Config) { c.Now = time.Now })
	if err := unknown.VerifyLogin(t.Context(), login("x", 1)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while the keys are not known: %v, want Unavailable", err)
	}
}

// TestVerifyUntil: the holder of a token learns when it expires.
func TestVerifyUntil(t *testing.T) {
	t.Parallel()
	c := newClock()
	iss := newIssuer(t, "k1")
	v := newVerifier(t, iss, c)
	ends := c.Now().Add(time.Minute).Truncate(time.Second)
	caller, until, err := v.VerifyUntil(t.Context(), iss.token(t, "k1", userClaims(c, "exp", ends.Unix())))
	if err != nil || !until.Equal(ends) || caller.AccountID != account {
		t.Errorf("%v until %v, %v; want %v", caller.AccountID, until, err, ends)
	}
	if _, _, err := v.VerifyUntil(t.Context(), "x"); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("for a wrong token: %v", err)
	}
}

// TestRecheckOfAHandlerInFront: Authenticate keeps what a handler in front of it checks.
func TestRecheckOfAHandlerInFront(t *testing.T) {
	t.Parallel()
	ctx := auth.WithRecheck(t.Context(), func(context.Context) error { return fault.New(fault.Unauthorized, "ended") })
	c := newClock()
	iss := newIssuer(t, "k1")
	got := authenticated(ctx, t, newVerifier(t, iss, c), iss.token(t, "k1", userClaims(c)))
	if err := auth.Recheck(got); err == nil || err.Error() != "ended" {
		t.Errorf("the check is %v, want that of the handler in front", err)
	}
}
