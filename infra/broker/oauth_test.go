package broker_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netsim/infra/broker"
)

// TestTokensAreRenewed: a token is used for four fifths of its lifetime, and longer while
// the endpoint fails, but not after it has expired.
func TestTokensAreRenewed(t *testing.T) {
	t.Parallel()
	i := newTokenIssuer(t)
	i.life.Store(100)
	var passed atomic.Int64
	began := time.Now()
	c, err := broker.New(broker.Config{Log: quiet, Now: func() time.Time { return began.Add(time.Duration(passed.Load()) * time.Second) },
		SASL: &broker.SASL{Mechanism: broker.OAuthBearer, OAuth: i.client()}})
	if err != nil {
		t.Fatal(err)
	}
	start := func() (string, error) {
		_, first, err := c.Transport().SASL.Start(t.Context())
		return string(first), err
	}
	first, err := start()
	if err != nil || !strings.HasPrefix(first, "n,,\x01auth=Bearer eyJ") || !strings.HasSuffix(first, "\x01\x01") {
		t.Fatalf("the first message is %q, %v", first, err)
	}
	for _, step := range []struct {
		at     int64
		broken bool
		issued int64
		fails  bool
	}{
		{79, false, 1, false}, {80, true, 1, false}, {99, true, 1, false}, {100, true, 1, true}, {101, false, 2, false}, {180, false, 2, false}, {181, false, 3, false},
	} {
		passed.Store(step.at)
		i.broken.Store(step.broken)
		said, err := start()
		if (err != nil) != step.fails || i.issued.Load() != step.issued {
			t.Errorf("after %d s: %v, %d tokens; want %d", step.at, err, i.issued.Load(), step.issued)
		}
		if err != nil && (strings.Contains(err.Error(), "hidden") || strings.Contains(said, "hidden")) {
			t.Errorf("the secret is in %v", err)
		}
	}
	if r := c.Report(); r.TokenFailures != 3 || !r.TokenUntil.Equal(began.Add(281*time.Second)) {
		t.Errorf("the report is %+v", r)
	}
}

// TestTokenFile: the token is read for each authentication, and text that is no token is
// refused.
func TestTokenFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one\n")
	c, err := broker.New(broker.Config{Log: quiet, SASL: &broker.SASL{Mechanism: broker.OAuthBearer, OAuth: broker.OAuth{TokenFile: path}}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"one\n": "n,,\x01auth=Bearer one\x01\x01", "two": "n,,\x01auth=Bearer two\x01\x01",
		"": "", "a b": "", "a\x01b": "", "ä": "", strings.Repeat("x", 1<<17): "",
	} {
		write(text)
		_, first, err := c.Transport().SASL.Start(t.Context())
		if string(first) != want || (err == nil) != (want != "") {
			t.Errorf("%.20q gives %q, %v", text, first, err)
		}
	}
}

// TestAnUnreadableTokenIsCountedOnce, until it can be read again, by connections and by a
// look at the file without one.
func TestAnUnreadableTokenIsCountedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	var c *broker.Connector
	for _, step := range []struct {
		text     string
		failures int64
	}{{"one", 0}, {"", 1}, {"a b", 1}, {"two", 1}, {"", 2}} {
		if err := os.WriteFile(path, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if c == nil {
			c, err = broker.New(broker.Config{Log: quiet, SASL: &broker.SASL{Mechanism: broker.OAuthBearer, OAuth: broker.OAuth{TokenFile: path}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		wrong := c.Check()
		_, _, err = c.Transport().SASL.Start(t.Context())
		if usable := !strings.Contains(step.text, " ") && step.text != ""; (wrong == nil) != usable || (err == nil) != usable || c.Report().TokenFailures != step.failures {
			t.Errorf("%q: %v, %v, %d failures, want %d", step.text, wrong, err, c.Report().TokenFailures, step.failures)
		}
	}
}

// TestBearerSession: the client ends an authentication as RFC 7628 says, whatever the broker
// sends.
func TestBearerSession(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := broker.New(broker.Config{Log: quiet, SASL: &broker.SASL{Mechanism: broker.OAuthBearer, OAuth: broker.OAuth{TokenFile: path}}})
	if err != nil {
		t.Fatal(err)
	}
	for challenge, want := range map[string]string{
		`{"status":"invalid_token","scope":"x"}`:                   "the broker refused the token: invalid_token",
		`{"status":"line\nbreak` + strings.Repeat("x", 200) + `"}`: "the broker refused the token: linebreak" + strings.Repeat("x", 71),
		`not JSON`:                   "the broker refused the token",
		strings.Repeat("[", 100_000): "the broker refused the token",
	} {
		session, _, err := c.Transport().SASL.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		done, answer, err := session.Next(t.Context(), []byte(challenge))
		if done || string(answer) != "\x01" || err != nil {
			t.Errorf("%.20q is answered by %q, %v, %v", challenge, answer, done, err)
		}
		for range 2 {
			if done, _, err = session.Next(t.Context(), nil); done || err == nil || err.Error() != want {
				t.Errorf("%.20q ends with %v, %v; want %q", challenge, done, err, want)
			}
		}
	}
	session, _, err := c.Transport().SASL.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if done, answer, err := session.Next(t.Context(), nil); !done || len(answer) > 0 || err != nil {
		t.Errorf("success is answered by %q, %v, %v", answer, done, err)
	}
}
