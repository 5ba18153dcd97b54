package login

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"netsim/infra/web"
)

// newLogin returns a Login at the URL, without a database and without an issuer.
func newLogin(t *testing.T, at string) *Login {
	t.Helper()
	l, err := New(Config{
		URL: at, Issuer: "http://127.0.0.1:1", ClientID: "netsim-console", Secrets: [][]byte{bytes.Repeat([]byte{1}, 32)}, Now: time.Now,
		Client: http.DefaultClient, Fail: func(w http.ResponseWriter, _ *http.Request, err error) { http.Error(w, err.Error(), http.StatusTeapot) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestOtherNamesOfThisMachine: a browser that came as localhost is sent to the name of the
// setting, because it would not send its cookie with the issuer's answer. No other host is.
func TestOtherNamesOfThisMachine(t *testing.T) {
	t.Parallel()
	l := newLogin(t, "http://127.0.0.1:8080/p")
	for host, want := range map[string]string{
		"localhost:8080": "http://127.0.0.1:8080/p/console/login?next=%2Fp%2Fconsole%2Fx", "[::1]:8080": "http://127.0.0.1:8080/p/console/login?next=%2Fp%2Fconsole%2Fx",
		"localhost:9090": "", "127.0.0.1:8080": "", "evil.example:8080": "",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/login?next=%2Fp%2Fconsole%2Fx", nil)
		r.Host = host
		l.Begin(w, r)
		if got := w.Header().Get("Location"); got != want { // the issuer does not answer
			t.Errorf("%s is sent to %q, want %q", host, got, want)
		}
	}
}

// TestCookies: the cookies of two consoles differ in name, and those of one are for its host,
// or without TLS for its path.
func TestCookies(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for at, path := range map[string]string{
		"https://host": "/", "https://host/a": "/", "https://host:444": "/", "http://127.0.0.1:8080": "/console", "http://127.0.0.1:9090/b": "/b/console",
	} {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		c := newCookies(u)
		made := c.make(c.session, newSecret(), time.Hour)
		names[made.Name] = true
		secure := u.Scheme == "https"
		if made.Path != path || made.Secure != secure || strings.HasPrefix(made.Name, "__Host-") != secure || !made.HttpOnly || made.SameSite != http.SameSiteLaxMode || made.Domain != "" || made.Valid() != nil {
			t.Errorf("%s has the cookie %v", at, made)
		}
		if ended := c.ended(c.session); ended.MaxAge >= 0 || ended.Secure != secure || ended.Path != path {
			t.Errorf("%s ends its session by %v", at, ended)
		}
	}
	if len(names) != 5 {
		t.Errorf("5 consoles have the names %v", names)
	}
}

// TestSealedTokensAreOfTheirRow: they open with a retired key, and neither in another row nor
// without their key.
func TestSealedTokensAreOfTheirRow(t *testing.T) {
	t.Parallel()
	ring := func(keys ...byte) *web.Ring {
		var all [][]byte
		for _, key := range keys {
			all = append(all, bytes.Repeat([]byte{key}, 32))
		}
		r, err := web.NewRing(all)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	own, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	before := sessions{ring: ring(1)}
	sealed, err := before.seal(own, tokens{Access: "a", Refresh: "r"})
	if err != nil || bytes.Contains(sealed, []byte(`"a"`)) {
		t.Fatalf("%s, %v", sealed, err)
	}
	rotated, without := sessions{ring: ring(2, 1)}, sessions{ring: ring(2)}
	if s, err := rotated.open(row{Hash: own, Tokens: sealed}); err != nil || s.tokens.Refresh != "r" {
		t.Errorf("after a rotation: %v, %v", s, err)
	}
	if _, err := rotated.open(row{Hash: other, Tokens: sealed}); err == nil {
		t.Error("the tokens open in another row")
	}
	if _, err := without.open(row{Hash: own, Tokens: sealed}); err == nil {
		t.Error("the tokens open without their key")
	}
}
