//go:build deploy

package deploy

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netsim/infra/devissuer"
)

// realm is the part of deploy/compose/realm.json that a login at the console needs.
type realm struct {
	AccessTokenLifespan, SSOSessionIdleTimeout int // seconds
	Clients                                    []realmClient
}

type realmClient struct {
	ClientID                          string
	PublicClient, StandardFlowEnabled bool
	RedirectURIs                      []string
	Attributes                        map[string]string
	ProtocolMappers                   []struct{ Config map[string]string }
}

// consoleClient returns the client with the id in the realm of the Compose file.
func consoleClient(t *testing.T, id string) realmClient {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("compose", "realm.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r realm
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.SSOSessionIdleTimeout <= r.AccessTokenLifespan {
		t.Errorf("the realm ends sessions after %d s: their tokens of %d s are never renewed", r.SSOSessionIdleTimeout, r.AccessTokenLifespan)
	}
	i := slices.IndexFunc(r.Clients, func(c realmClient) bool { return c.ClientID == id })
	if i < 0 {
		t.Fatalf("the realm has no client %q", id)
	}
	return r.Clients[i]
}

// claims returns the claims and the audience that the client adds to access tokens.
func (c *realmClient) claims() []string {
	var all []string
	for _, m := range c.ProtocolMappers {
		if m.Config["access.token.claim"] == "true" {
			all = append(all, m.Config["claim.name"]+m.Config["included.custom.audience"])
		}
	}
	slices.Sort(all)
	return all
}

// logIn logs a person in to the console of a process, at the development issuer. It fails
// unless the client of the realm admits what the console asks for, and the logout too.
func logIn(t *testing.T, api *process) {
	t.Helper()
	console := api.environment["NETSIM_CONSOLE_URL"]
	at, err := url.Parse(console)
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == at.Host { // where the Compose file publishes the process
				address = api.http
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		}},
	}
	defer browser.CloseIdleConnections()
	do := func(method, to, form string, status int) (location *url.URL, body []byte) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Sec-Fetch-Site", "same-origin")
		reply, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close() //nolint:errcheck // the body is read completely
		if body, err = io.ReadAll(reply.Body); err != nil || reply.StatusCode != status {
			t.Fatalf("%s %s: status %d, want %d, %v: %s", method, to, reply.StatusCode, status, err, body)
		}
		location, _ = reply.Location() //nolint:errcheck // only redirects have one
		return location, body
	}

	begun, _ := do(http.MethodGet, console+"/console/login", "", http.StatusSeeOther)
	asked := begun.Query()
	c := consoleClient(t, asked.Get("client_id"))
	if redirect := asked.Get("redirect_uri"); !slices.Equal(c.RedirectURIs, []string{redirect}) {
		t.Errorf("a login returns to %s, the realm admits %q", redirect, c.RedirectURIs)
	}
	if method := asked.Get("code_challenge_method"); c.Attributes["pkce.code.challenge.method"] != method || !c.StandardFlowEnabled {
		t.Errorf("a login has a code with the challenge %s, the realm's client has codes: %t, and the attributes %v", method, c.StandardFlowEnabled, c.Attributes)
	}
	if _, confidential := api.environment["NETSIM_CONSOLE_CLIENT_SECRET_FILE"]; confidential == c.PublicClient {
		t.Errorf("the process has a secret: %t, the realm's client is public: %t", confidential, c.PublicClient)
	}
	if scopes := strings.Fields(asked.Get("scope")); !slices.Equal(scopes, []string{"openid", "profile"}) {
		t.Errorf("a login asks for %q; the realm's users may not be offline", scopes)
	}
	if claims, want := c.claims(), []string{"account_id", "netsim", "roles", "workspaces"}; !slices.Equal(claims, want) {
		t.Errorf("access tokens have the claims and the audience %q, want %q", claims, want)
	}

	form := asked // the fields of the issuer's page
	form.Set("user", "ada")
	form.Set("account", devissuer.DefaultAccount)
	begun.RawQuery = ""
	callback, _ := do(http.MethodPost, begun.String(), form.Encode(), http.StatusSeeOther)
	do(http.MethodGet, callback.String(), "", http.StatusSeeOther)
	do(http.MethodGet, console+"/console/", "", http.StatusOK)
	do(http.MethodGet, console+"/console/api/v1/workspaces", "", http.StatusOK)
	_, text := do(http.MethodPost, console+"/console/logout", "", http.StatusOK)
	var out struct{ EndSession string }
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("the logout: %v: %s", err, text)
	}
	end, err := url.Parse(out.EndSession)
	if err != nil {
		t.Fatal(err)
	}
	if home, admitted := end.Query().Get("post_logout_redirect_uri"), c.Attributes["post.logout.redirect.uris"]; home != admitted {
		t.Errorf("a logout returns to %s, the realm admits %s", home, admitted)
	}
	do(http.MethodGet, console+"/console/session", "", http.StatusUnauthorized)
}
