package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	netsim "netsim/sdk/go"
	"netsim/sdk/go/api"
)

type login struct {
	output
	Profile   string   `placeholder:"NAME" predictor:"profile" help:"The profile to make or renew. When absent: that of NETSIM_PROFILE, or the current one, or default."`
	URL       string   `name:"url" placeholder:"URL" help:"The service, such as https://netsim.example; that of NETSIM_URL, or of the profile, when absent."`
	Issuer    string   `placeholder:"URL" help:"The issuer of tokens that the service trusts; that of the profile when absent."`
	ClientID  string   `name:"client-id" placeholder:"ID" help:"The client of the issuer that this program is; that of the profile, or netsim-cli, when absent."`
	Scope     []string `placeholder:"SCOPE" help:"What to ask the issuer for: openid, profile and offline_access when absent. May be repeated."`
	Device    bool     `xor:"way" help:"Log in on another device, with a code that this command prints."`
	Token     bool     `xor:"way" help:"Read a token, such as a service token, from standard input and store it. No issuer is needed."`
	NoBrowser bool     `help:"Only print the page to log in at; open no browser."`
}

// Help implements kong.HelpProvider.
func (login) Help() string {
	return "Without --device and --token, the command opens a browser at the issuer, and gets the tokens with PKCE " +
		"through a port of this machine. They are stored with the profile, in a file that only you may read, and " +
		"renewed when the service does not accept them any more. The profile becomes the current one."
}

// Run logs in.
func (c login) Run(ctx context.Context, t *Terminal) error {
	b, err := t.book()
	if err != nil {
		return err
	}
	name := cmp.Or(c.Profile, t.Getenv("NETSIM_PROFILE"), b.Current, firstProfile)
	if err := checkName(name); err != nil {
		return err
	}
	p := b.Profiles[name]
	p.Name, p.URL = name, cmp.Or(c.URL, t.Getenv("NETSIM_URL"), p.URL)
	if p.URL == "" {
		return fmt.Errorf("%w: name the service with --url", errUsage)
	}
	got, err := c.get(ctx, t, &p)
	if err != nil {
		return err
	}
	if err := p.accepted(ctx, got.Access); err != nil {
		return err
	}
	if err := t.save(ctx, got, p.tokenFile()...); err != nil {
		return err
	}
	b.Profiles[name], b.Current = p, name
	if err := t.save(ctx, b, bookFile); err != nil {
		return err
	}
	shown := shownProfile{Name: name, Current: true, URL: p.URL, Issuer: p.Issuer, ClientID: p.ClientID, holder: holderOf(got.Access)}
	who := "the holder of a token"
	if shown.holder != nil {
		who = fmt.Sprintf("%s of %s", shown.User, shown.Account)
	}
	return c.print(t, line(shown, "the profile %s is for %s, as %s", name, p.URL, who))
}

// get gets tokens for a profile, and notes in it how.
func (c login) get(ctx context.Context, t *Terminal, p *profile) (tokens, error) {
	if c.Token {
		p.Issuer, p.ClientID, p.Scopes = "", "", nil
		text, err := bufio.NewReader(t.In).ReadString('\n')
		if text = strings.TrimSpace(text); text == "" {
			return tokens{}, fmt.Errorf("%w: standard input has no token: %w", errUsage, err)
		}
		return tokens{Access: text}, nil
	}
	p.Issuer, p.ClientID = cmp.Or(c.Issuer, p.Issuer), cmp.Or(c.ClientID, p.ClientID, "netsim-cli")
	if p.Scopes == nil || c.Scope != nil {
		p.Scopes = c.Scope
	}
	if p.Scopes == nil {
		p.Scopes = []string{"openid", "profile", "offline_access"}
	}
	if p.Issuer == "" {
		return tokens{}, fmt.Errorf("%w: name the issuer of tokens with --issuer, or store a token with --token", errUsage)
	}
	ctx, config, err := p.issuer(ctx, http.DefaultClient)
	if err != nil {
		return tokens{}, err
	}
	var got *oauth2.Token
	if c.Device {
		got, err = onDevice(ctx, t, config)
	} else {
		got, err = c.inBrowser(ctx, t, config, p.Issuer)
	}
	if err != nil {
		return tokens{}, err
	}
	return tokens{Access: got.AccessToken, Refresh: got.RefreshToken}, nil
}

// accepted asks the service whether it accepts a token.
func (p profile) accepted(ctx context.Context, token string) error {
	client, err := netsim.New(netsim.Config{URL: p.URL, Token: token})
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	_, err = client.ListWorkspaces(ctx, &api.ListWorkspacesParams{Limit: new(int64(1))})
	return err
}

// onDevice logs in with a code that the user enters elsewhere (RFC 8628).
func onDevice(ctx context.Context, t *Terminal, config *oauth2.Config) (*oauth2.Token, error) {
	if config.Endpoint.DeviceAuthURL == "" {
		return nil, fmt.Errorf("%w: the issuer has no login for devices", errRefused)
	}
	code, err := config.DeviceAuth(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin the login of a device: %w", err)
	}
	fmt.Fprintf(t.Err, "Open %s and enter the code %s, or open\n%s\n", code.VerificationURI, code.UserCode, cmp.Or(code.VerificationURIComplete, code.VerificationURI))
	token, err := config.DeviceAccessToken(ctx, code)
	if err != nil {
		return nil, fmt.Errorf("log in a device: %w", err)
	}
	return token, nil
}

// callback is what the browser brings back from the issuer.
type callback struct{ code, problem string }

// inBrowser logs in with a browser that comes back to a port of this machine (RFC 8252
// section 7.3), with PKCE.
func (c login) inBrowser(ctx context.Context, t *Terminal, config *oauth2.Config, issuer string) (*oauth2.Token, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	config.RedirectURL = "http://" + listener.Addr().String() + "/callback"
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	back := make(chan callback, 1)
	server := &http.Server{Handler: returns(state, issuer, back), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(listener) //nolint:errcheck // it ends with Shutdown
	defer server.Shutdown(ctx)

	if at, err := url.Parse(config.Endpoint.AuthURL); err != nil || at.Scheme != "https" && at.Scheme != "http" {
		return nil, fmt.Errorf("%w: the issuer's page is %q, which is not for a browser", errRefused, config.Endpoint.AuthURL)
	}
	page := config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))
	fmt.Fprintf(t.Err, "Log in at\n%s\n", page)
	if !c.NoBrowser {
		if err := t.Browse(page); err != nil {
			fmt.Fprintln(t.Err, "no browser could be opened:", err)
		}
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case got := <-back:
		if got.problem != "" {
			return nil, fmt.Errorf("%w: the issuer answers %s", errRefused, got.problem)
		}
		token, err := config.Exchange(ctx, got.code, oauth2.VerifierOption(verifier))
		if err != nil {
			return nil, fmt.Errorf("get tokens for the login: %w", err)
		}
		return token, nil
	}
}

// returns serves the page to which the browser comes back. A request without the state of
// this login, or from another issuer (RFC 9207), changes nothing.
func returns(state, issuer string, back chan<- callback) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 || q.Has("iss") && q.Get("iss") != issuer {
			http.Error(w, "this is not the login that netsim waits for", http.StatusBadRequest)
			return
		}
		said := "You are logged in. You can close this page."
		if q.Get("error") != "" || q.Get("code") == "" {
			said = "You are not logged in. You can close this page."
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, said)
		got := callback{code: q.Get("code"), problem: q.Get("error")}
		if got.code == "" {
			got.problem = cmp.Or(got.problem, "without a code")
		}
		select {
		case back <- got:
		default: // a second one
		}
	})
	return mux
}

type logout struct {
	output
	Profile string `placeholder:"NAME" predictor:"profile" help:"The profile; that of NETSIM_PROFILE, or the current one, when absent."`
}

// Run forgets the tokens.
func (c logout) Run(t *Terminal) error {
	b, err := t.book()
	if err != nil {
		return err
	}
	p, err := b.named(cmp.Or(c.Profile, t.Getenv("NETSIM_PROFILE"), b.Current, firstProfile))
	if err != nil {
		return err
	}
	if err := p.forget(t); err != nil {
		return errors.Join(errors.New("the tokens are not removed"), err)
	}
	return c.print(t, line(shownProfile{Name: p.Name, Current: p.Name == b.Current, URL: p.URL}, "the tokens of the profile %s are removed from this machine", p.Name))
}
