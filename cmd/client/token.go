package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// tokens are those of a profile, in a file that only its owner may read.
type tokens struct {
	Access  string `json:"access"`
	Refresh string `json:"refresh,omitempty"`
}

func (p profile) tokenFile() []string { return []string{"tokens", p.Name + ".json"} }

// held returns the tokens of a profile; without a token if there are none.
func (p profile) held(ctx context.Context, t *Terminal) (held tokens, err error) {
	if p.plain || p.token != "" {
		return tokens{Access: p.token}, nil
	}
	err = t.load(ctx, &held, p.tokenFile()...)
	return held, err
}

// tokens returns the source of tokens for the SDK, which asks for another one when the service
// has refused the last one.
func (p profile) tokens(t *Terminal, client *http.Client) func(context.Context) (string, error) {
	last := ""
	return func(ctx context.Context) (string, error) {
		if p.plain || p.token != "" {
			if last != "" {
				return "", fmt.Errorf("%w: the token of NETSIM_TOKEN is not accepted", errRefused)
			}
			last = p.token
			return p.token, nil
		}
		held, err := p.held(ctx, t)
		if err == nil && held.Access == last && last != "" {
			held, err = p.renew(ctx, t, client, last)
		}
		switch {
		case err != nil:
			return "", err
		case held.Access == "":
			return "", fmt.Errorf("%w: the profile %s has no token; netsim login --profile %s gets one", errRefused, p.Name, p.Name)
		}
		last = held.Access
		return last, nil
	}
}

// renew returns other tokens than the one that the service has refused: those that another
// command has stored meanwhile, or new ones.
func (p profile) renew(ctx context.Context, t *Terminal, client *http.Client, refused string) (tokens, error) {
	unlock, err := t.lock("tokens", p.Name+".lock")
	if err != nil {
		return tokens{}, err
	}
	defer unlock()
	held, err := p.held(ctx, t)
	switch {
	case err != nil || held.Access != refused:
		return held, err
	case held.Refresh == "" || p.Issuer == "":
		return held, fmt.Errorf("%w: the token of the profile %s is not accepted; netsim login --profile %s gets another", errRefused, p.Name, p.Name)
	}
	if held, err = p.refresh(ctx, client, held); err != nil {
		return held, err
	}
	return held, t.save(ctx, held, p.tokenFile()...)
}

// lock makes this process the only one that refreshes a token: an issuer ends a login whose
// refresh token is used twice.
func (t *Terminal) lock(elements ...string) (unlock func(), err error) {
	path, err := t.file(elements...)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return func() { _ = file.Close() }, nil // which unlocks it
}

const issuerTimeout = 30 * time.Second // of a call

// issuer returns the settings of the OAuth client at the profile's issuer, as its discovery
// document has them, and a context for its calls.
func (p profile) issuer(ctx context.Context, client *http.Client) (context.Context, *oauth2.Config, error) {
	limited := *client
	limited.Timeout = issuerTimeout
	ctx = oidc.ClientContext(ctx, &limited)
	provider, err := oidc.NewProvider(ctx, p.Issuer)
	if err != nil {
		return nil, nil, fmt.Errorf("the issuer %s: %w", p.Issuer, err)
	}
	at := provider.Endpoint()
	at.AuthStyle = oauth2.AuthStyleInParams // a public client has no secret
	return ctx, &oauth2.Config{ClientID: p.ClientID, Endpoint: at, Scopes: p.Scopes}, nil
}

// refresh gets new tokens. A refresh token that the issuer does not replace stays.
func (p profile) refresh(ctx context.Context, client *http.Client, old tokens) (tokens, error) {
	ctx, config, err := p.issuer(ctx, client)
	if err != nil {
		return old, err
	}
	fresh, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: old.Refresh}).Token()
	if refused, is := errors.AsType[*oauth2.RetrieveError](err); is {
		return old, fmt.Errorf("%w: the issuer refuses to refresh the token of the profile %s (%s); netsim login --profile %s gets another", errRefused, p.Name, refused.ErrorCode, p.Name)
	}
	if err != nil {
		return old, fmt.Errorf("refresh the token: %w", err)
	}
	if fresh.RefreshToken == "" {
		fresh.RefreshToken = old.Refresh
	}
	return tokens{Access: fresh.AccessToken, Refresh: fresh.RefreshToken}, nil
}

// holder is who a token is of, as it says itself: the service judges it.
type holder struct {
	User    string     `json:"user,omitempty"`
	Account string     `json:"account,omitempty"`
	Roles   []string   `json:"roles,omitempty"`
	Expires *time.Time `json:"expiresAt,omitempty"`
}

// holderOf reads the claims of a token; nil if it is none that has claims.
func holderOf(token string) *holder {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims struct {
		Subject string   `json:"sub"`
		Name    string   `json:"name"`
		Account string   `json:"account_id"`
		Roles   []string `json:"roles"`
		Expires int64    `json:"exp"`
	}
	if json.Unmarshal(text, &claims) != nil {
		return nil
	}
	h := &holder{User: claims.Name, Account: claims.Account, Roles: claims.Roles}
	if h.User == "" {
		h.User = claims.Subject
	}
	if claims.Expires != 0 {
		h.Expires = new(time.Unix(claims.Expires, 0).UTC())
	}
	return h
}

func (h *holder) rows() [][]string {
	if h == nil {
		return nil
	}
	rows := [][]string{{"user", h.User}, {"account", h.Account}, {"roles", strings.Join(h.Roles, ", ")}}
	if h.Expires != nil {
		rows = append(rows, []string{"expires", h.Expires.Format(time.RFC3339)})
	}
	return rows
}

// forget removes the tokens of a profile.
func (p profile) forget(t *Terminal) error {
	path, err := t.file(p.tokenFile()...)
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
