package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"netsim/fault"
)

const (
	issuerTimeout  = 10 * time.Second // of a call
	endpointsLast  = time.Hour        // how long a discovery document is used
	discoveryBytes = 1 << 20
	retryIssuer    = 5 * time.Second
)

// issuer is the issuer of tokens, as a client of it sees it.
type issuer struct {
	name, discovery      string
	id, secret, redirect string
	scopes               []string
	parameters           map[string]string
	client               *http.Client
	now                  func() time.Time

	mu    sync.Mutex
	known endpoints
	until time.Time // how long known is used
}

// endpoints is what a login needs of a discovery document (OpenID Connect Discovery 1.0
// section 3, RFC 8414 section 2).
type endpoints struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	EndSession    string   `json:"end_session_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
}

// tokens are what the issuer gives at a login, and again at a refresh.
type tokens struct {
	Access  string `json:"access"`
	Refresh string `json:"refresh,omitempty"`
	ID      string `json:"id,omitempty"`
}

// away returns the error when the issuer does not do what it should.
func away(cause error) error {
	return &fault.Fault{
		Code: fault.Unavailable, RetryAfter: retryIssuer, Cause: cause,
		Message: "the issuer of tokens does not answer as it should; repeat the request later",
	}
}

// endpoints returns the issuer's endpoints. It reads the discovery document once an hour, and
// uses the former one while it cannot.
func (i *issuer) endpoints(ctx context.Context) (endpoints, error) {
	i.mu.Lock()
	known, fresh := i.known, i.now().Before(i.until)
	i.mu.Unlock()
	if fresh {
		return known, nil
	}
	found, err := i.discover(ctx)
	lasts := endpointsLast
	if err != nil {
		if known.Token == "" {
			return endpoints{}, away(err)
		}
		found, lasts = known, retryIssuer
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known, i.until = found, i.now().Add(lasts)
	return found, nil
}

func (i *issuer) discover(ctx context.Context) (found endpoints, err error) {
	ctx, cancel := context.WithTimeout(ctx, issuerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.discovery, nil)
	if err != nil {
		return found, fmt.Errorf("read the discovery document: %w", err)
	}
	answer, err := i.client.Do(request)
	if err != nil {
		return found, fmt.Errorf("read the discovery document: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if answer.StatusCode != http.StatusOK {
		return found, fmt.Errorf("read the discovery document %s: status %d", i.discovery, answer.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, discoveryBytes)).Decode(&found); err != nil {
		return found, fmt.Errorf("read the discovery document %s: %w", i.discovery, err)
	}
	switch {
	case found.Issuer != i.name:
		return found, fmt.Errorf("the discovery document %s is of the issuer %q, not of %q", i.discovery, found.Issuer, i.name)
	case found.Authorization == "" || found.Token == "":
		return found, fmt.Errorf("the discovery document %s lacks the authorization or the token endpoint", i.discovery)
	}
	return found, nil
}

// config returns the settings of the OAuth client. The issuer says how the client proves
// itself; by default with HTTP's basic authentication (RFC 8414 section 2).
func (i *issuer) config(at endpoints) *oauth2.Config {
	style := oauth2.AuthStyleInParams
	if i.secret != "" && (len(at.AuthMethods) == 0 || slices.Contains(at.AuthMethods, "client_secret_basic")) {
		style = oauth2.AuthStyleInHeader
	}
	return &oauth2.Config{
		ClientID: i.id, ClientSecret: i.secret, RedirectURL: i.redirect, Scopes: i.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: at.Authorization, TokenURL: at.Token, AuthStyle: style},
	}
}

// beginURL returns the URL at which a person logs in.
func (i *issuer) beginURL(ctx context.Context, state string, p pending) (string, error) {
	at, err := i.endpoints(ctx)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(p.Verifier), oauth2.SetAuthURLParam("nonce", p.Nonce)}
	for name, value := range i.parameters {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return i.config(at).AuthCodeURL(state, options...), nil
}

// errRefused is wrapped by the error when the issuer refuses a code or a refresh token.
var errRefused = errors.New("the issuer refuses it")

func isRefused(err error) bool { return errors.Is(err, errRefused) }

// exchange turns the code of a login into tokens.
func (i *issuer) exchange(ctx context.Context, code, verifier string) (tokens, error) {
	return i.call(ctx, func(ctx context.Context, c *oauth2.Config) (*oauth2.Token, error) {
		return c.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	})
}

// refresh turns a refresh token into new tokens. Those that the issuer does not replace stay.
func (i *issuer) refresh(ctx context.Context, old tokens) (tokens, error) {
	fresh, err := i.call(ctx, func(ctx context.Context, c *oauth2.Config) (*oauth2.Token, error) {
		return c.TokenSource(ctx, &oauth2.Token{RefreshToken: old.Refresh}).Token()
	})
	if fresh.Refresh == "" {
		fresh.Refresh = old.Refresh
	}
	if fresh.ID == "" {
		fresh.ID = old.ID
	}
	return fresh, err
}

func (i *issuer) call(ctx context.Context, do func(context.Context, *oauth2.Config) (*oauth2.Token, error)) (tokens, error) {
	ctx, cancel := context.WithTimeout(ctx, issuerTimeout)
	defer cancel()
	at, err := i.endpoints(ctx)
	if err != nil {
		return tokens{}, err
	}
	got, err := do(context.WithValue(ctx, oauth2.HTTPClient, i.client), i.config(at))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
		return tokens{}, fmt.Errorf("%w: %s", errRefused, refused.ErrorDescription)
	} else if ok {
		// The error has the answer, which may have secrets.
		return tokens{}, away(fmt.Errorf("the token endpoint answers with status %d and the error %q", refused.Response.StatusCode, refused.ErrorCode))
	}
	if err != nil {
		return tokens{}, away(err)
	}
	id, _ := got.Extra("id_token").(string)
	return tokens{Access: got.AccessToken, Refresh: got.RefreshToken, ID: id}, nil
}

// revoke tells the issuer that the refresh token is not used any more (RFC 7009).
func (i *issuer) revoke(ctx context.Context, old tokens) error {
	ctx, cancel := context.WithTimeout(ctx, issuerTimeout)
	defer cancel()
	at, err := i.endpoints(ctx)
	if err != nil || at.Revocation == "" || old.Refresh == "" {
		return err
	}
	form := url.Values{"token": {old.Refresh}, "token_type_hint": {"refresh_token"}}
	config := i.config(at)
	if config.Endpoint.AuthStyle == oauth2.AuthStyleInParams {
		form.Set("client_id", i.id)
		if i.secret != "" {
			form.Set("client_secret", i.secret)
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if config.Endpoint.AuthStyle == oauth2.AuthStyleInHeader {
		request.SetBasicAuth(url.QueryEscape(i.id), url.QueryEscape(i.secret))
	}
	answer, err := i.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // its status is all that is read
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the revocation endpoint answers with status %d", answer.StatusCode)
	}
	return nil
}

// endURL returns the URL at which a person logs out of the issuer too (OpenID Connect
// RP-Initiated Logout 1.0), "" if the issuer has none.
func (i *issuer) endURL(ctx context.Context, old tokens, back string) string {
	at, err := i.endpoints(ctx)
	if err != nil || at.EndSession == "" {
		return ""
	}
	end, err := url.Parse(at.EndSession)
	if err != nil {
		return ""
	}
	q := end.Query()
	q.Set("client_id", i.id)
	q.Set("post_logout_redirect_uri", back)
	if old.ID != "" {
		q.Set("id_token_hint", old.ID)
	}
	end.RawQuery = q.Encode()
	return end.String()
}
