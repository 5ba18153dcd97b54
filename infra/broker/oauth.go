package broker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// OAuth says where the tokens of OAUTHBEARER come from: a file, or a token endpoint
// (RFC 6749 section 4.4, client credentials).
type OAuth struct {
	TokenFile string // path of a file with a token, which is read for each authentication

	TokenURL     string // of the token endpoint
	ClientID     string
	ClientSecret string
	Scope        string // scopes, separated by spaces; "" asks for none
}

const (
	maxToken     = 64 << 10         // bytes of a token
	tokenTimeout = 10 * time.Second // of a request for a token
	// unknownLife is how long a token is used whose lifetime the endpoint does not say.
	unknownLife = time.Minute
	// longestLife is how long a token is used at most.
	longestLife = 24 * time.Hour
)

// tokens are the tokens of this process.
type tokens struct {
	OAuth
	now    func() time.Time
	log    *slog.Logger
	client *http.Client

	fetching chan struct{} // held while a token is fetched

	mu     sync.Mutex
	text   string
	renew  time.Time // when to fetch another one: after four fifths of its lifetime
	until  time.Time // when it expires
	failed bool      // the last fetch

	failures atomic.Int64
}

func newTokens(c OAuth, now func() time.Time, log *slog.Logger) (*tokens, error) {
	switch {
	case c.TokenFile == "" && c.TokenURL == "":
		return nil, errors.New(OAuthBearer + " needs a token endpoint or a token file")
	case c.TokenFile != "" && c.TokenURL != "":
		return nil, errors.New(OAuthBearer + " needs a token endpoint or a token file, not both")
	case c.TokenURL != "" && (c.ClientID == "" || c.ClientSecret == ""):
		return nil, errors.New("a token endpoint needs a client id and a client secret")
	}
	t := &tokens{OAuth: c, now: now, log: log, fetching: make(chan struct{}, 1), client: &http.Client{Timeout: tokenTimeout}}
	if c.TokenFile != "" {
		if _, err := t.read(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// get returns a token that has not expired.
func (t *tokens) get(ctx context.Context) (string, error) {
	if t.TokenFile != "" {
		return t.fromFile()
	}
	select {
	case t.fetching <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-t.fetching }()
	now := t.now()
	if t.text != "" && now.Before(t.renew) {
		return t.text, nil
	}
	text, until, err := t.fetch(ctx, now)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failures.Add(1)
		if !t.failed {
			t.failed = true
			t.log.Error("no token for Kafka could be had", "error", err)
		}
		if t.text != "" && now.Before(t.until) {
			return t.text, nil
		}
		return "", err
	}
	t.failed = false
	t.text, t.until, t.renew = text, until, now.Add(until.Sub(now)*4/5)
	return t.text, nil
}

// fromFile reads the token. That it cannot be read is counted and logged once, until it can
// be read again.
func (t *tokens) fromFile() (string, error) {
	text, err := t.read()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && !t.failed {
		t.failures.Add(1)
		t.log.Error("the token for Kafka cannot be read", "error", err)
	}
	t.failed = err != nil
	return text, err
}

func (t *tokens) read() (string, error) {
	text, err := readFile(t.TokenFile, maxToken)
	if err != nil {
		return "", fmt.Errorf("read the token for Kafka: %w", err)
	}
	token := strings.TrimSpace(string(text))
	return token, checkToken(token)
}

// checkToken refuses text that would end the message in which a token is sent (RFC 6750
// section 2.1).
func checkToken(token string) error {
	if token == "" {
		return errors.New("the token for Kafka is empty")
	}
	if len(token) > maxToken {
		return fmt.Errorf("the token for Kafka is longer than %d bytes", maxToken)
	}
	for _, c := range token {
		if c <= ' ' || c > '~' {
			return errors.New("the token for Kafka has a character that no token has")
		}
	}
	return nil
}

// fetch asks the token endpoint. Its errors have no text of the endpoint's but the code
// of the error.
func (t *tokens) fetch(ctx context.Context, now time.Time) (text string, until time.Time, err error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, t.client), tokenTimeout)
	defer cancel()
	c := clientcredentials.Config{ClientID: t.ClientID, ClientSecret: t.ClientSecret, TokenURL: t.TokenURL, Scopes: strings.Fields(t.Scope)}
	token, err := c.Token(ctx)
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status := "an answer that cannot be read"
		if answer.Response != nil {
			status = answer.Response.Status
		}
		return "", until, fmt.Errorf("the token endpoint %s answered %s: %s", t.TokenURL, status, cmp.Or(printable(answer.ErrorCode), "no error code"))
	}
	if err != nil {
		return "", until, fmt.Errorf("ask the token endpoint %s for a token: %w", t.TokenURL, err)
	}
	life := unknownLife
	if seconds, ok := token.Extra("expires_in").(float64); ok && seconds > 0 {
		life = time.Duration(min(seconds, longestLife.Seconds())) * time.Second
	} else if !token.Expiry.IsZero() { // sent as text
		life = min(time.Until(token.Expiry), longestLife)
	}
	return token.AccessToken, now.Add(life), checkToken(token.AccessToken)
}

func (t *tokens) report(r *Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.TokenUntil, r.TokenFailures = t.until, t.failures.Load()
}
