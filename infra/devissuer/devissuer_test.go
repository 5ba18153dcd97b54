package devissuer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"netsim/infra/devissuer"
	"netsim/internal/testwait"
)

func TestMintClaims(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	defaults := map[string]any{
		"iss": "http://127.0.0.1:1", "aud": "netsim",
		"sub": "developer", "name": "developer", "token_use": "user",
		"account_id": devissuer.DefaultAccount, "account_name": "default",
		"workspaces": "*", // no platform: the token is for any development deployment
		"iat":        float64(now.Unix()), "exp": float64(now.Add(time.Hour).Unix()),
	}
	tests := map[string]struct {
		options devissuer.Options
		changed map[string]any // a nil value means that the claim is absent
	}{
		"defaults":   {},
		"service":    {devissuer.Options{Service: true}, map[string]any{"token_use": "service", "sub": "service", "name": "service"}},
		"user":       {devissuer.Options{User: "ada"}, map[string]any{"sub": "ada", "name": "ada"}},
		"account":    {devissuer.Options{Account: "acct_x"}, map[string]any{"account_id": "acct_x", "account_name": "acct_x"}},
		"workspaces": {devissuer.Options{Workspaces: []string{"a", "b"}}, map[string]any{"workspaces": []any{"a", "b"}}},
		"roles":      {devissuer.Options{Roles: []string{"billing", "x"}}, map[string]any{"roles": []any{"billing", "x"}}},
		"ttl":        {devissuer.Options{TTL: time.Minute}, map[string]any{"exp": float64(now.Add(time.Minute).Unix())}},
		"expired":    {devissuer.Options{TTL: -time.Minute}, map[string]any{"exp": float64(now.Add(-time.Minute).Unix())}},
		"claims": {
			devissuer.Options{Claims: map[string]any{"aud": "other", "platform": "p", "name": nil}},
			map[string]any{"aud": "other", "platform": "p", "name": nil},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newIssuer(t)
			got := verify(t, dir, mint(t, dir, test.options, now))
			delete(got, "jti")
			want := map[string]any{}
			for claim, value := range defaults {
				want[claim] = value
			}
			for claim, value := range test.changed {
				want[claim] = value
				if value == nil {
					delete(want, claim)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRotateKeepsOldTokensValid(t *testing.T) {
	t.Parallel()
	dir := newIssuer(t)
	old := mint(t, dir, devissuer.Options{}, time.Unix(0, 0))
	if err := devissuer.Rotate(dir); err != nil {
		t.Fatal(err)
	}
	fresh := mint(t, dir, devissuer.Options{}, time.Unix(0, 0))
	verify(t, dir, old)
	verify(t, dir, fresh)
	if keyID(t, old) == keyID(t, fresh) {
		t.Error("the key is the same after a rotation")
	}
}

func TestFirstMintsShareOneKey(t *testing.T) {
	t.Parallel()
	dir := newIssuer(t)
	tokens := make([]string, 8)
	var all sync.WaitGroup
	for i := range tokens {
		all.Go(func() { tokens[i] = mint(t, dir, devissuer.Options{}, time.Unix(0, 0)) })
	}
	testwait.Group(t, &all, "the callers of Mint")
	for _, token := range tokens {
		if keyID(t, token) != keyID(t, tokens[0]) {
			t.Fatal("tokens minted at the same time have different keys")
		}
	}
}

func TestPrivateKeysAreReadableByTheOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := newIssuer(t)
	mint(t, dir, devissuer.Options{}, time.Unix(0, 0))
	info, err := os.Stat(filepath.Join(dir, "issuer", "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, want 0600", info.Mode().Perm())
	}
	public, err := os.ReadFile(filepath.Join(dir, "issuer", "jwks.json"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(public), `"d"`) {
		t.Error("jwks.json contains a private key")
	}
}

func TestMintWithoutIssuerSaysWhatToDo(t *testing.T) {
	t.Parallel()
	_, err := devissuer.Mint(t.TempDir(), devissuer.Options{}, time.Unix(0, 0))
	if err == nil || !strings.Contains(err.Error(), "start netsim-dev") {
		t.Errorf("error = %v, want one that says to start netsim-dev", err)
	}
}

// newIssuer returns a data directory like that of netsim-dev.
func newIssuer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "issuer"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "issuer", "url"), []byte("http://127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mint(t *testing.T, dir string, o devissuer.Options, now time.Time) string {
	t.Helper()
	token, err := devissuer.Mint(dir, o, now)
	if err != nil {
		t.Error(err)
	}
	return token
}

// verify checks the token's signature against the published keys and returns its
// claims.
func verify(t *testing.T, dir, token string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "issuer", "jwks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := parsed.Claims(keys, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func keyID(t *testing.T, token string) string {
	t.Helper()
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Headers[0].KeyID
}
