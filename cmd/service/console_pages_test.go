package service_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"netsim/cmd/settings"
	"netsim/console"
	"netsim/internal/servicetest"
)

// TestEveryAnswerOfTheConsoleHasAPolicy: with TLS and below a prefix, browsers get pages whose
// links are below the prefix, cookies for this host only, and one policy without exceptions.
// What the API sends has its own policy, which allows nothing.
func TestEveryAnswerOfTheConsoleHasAPolicy(t *testing.T) {
	t.Parallel()
	const prefix = "/tools/netsim"
	r := newRouter(t, true, prefix)
	p := servicetest.Start(t, r.withConsole)
	r.send(t, p)
	b := r.browser(t)
	store := b.policyOf(t, p)
	sent := b.get("/console/login?next=" + prefix + "/console/bills").want(http.StatusSeeOther)
	pending := sent.cookies()[0]
	if !pending.Secure || !pending.HttpOnly || pending.SameSite != http.SameSiteLaxMode || pending.Path != "/" || pending.Domain != "" || !strings.HasPrefix(pending.Name, "__Host-netsim-") || pending.MaxAge != 600 {
		t.Errorf("the cookie of a login is %v", pending)
	}
	if !strings.Contains(sent.to(), "redirect_uri=https%3A%2F%2F127.0.0.1") || !strings.Contains(sent.to(), "%2Ftools%2Fnetsim%2Fconsole%2Fcallback") {
		t.Errorf("the login goes to %s", sent.to())
	}
	b.get("/console/login?next=/console/bills").refused(http.StatusBadRequest, "VALIDATION_ERROR") // the path is below the prefix
	done := b.get(b.choose(sent.to(), as("ada", servicetest.NewAccount())))
	if done.to() != prefix+"/console/bills" {
		t.Errorf("after the login the browser is at %s", done.to())
	}
	var session *http.Cookie
	for _, c := range done.cookies() {
		if c.MaxAge > 0 {
			session = c
		}
	}
	if session == nil || !session.Secure || !session.HttpOnly || session.SameSite != http.SameSiteLaxMode || session.Path != "/" || session.Domain != "" || !strings.HasPrefix(session.Name, "__Host-netsim-") || len(session.Value) != 43 {
		t.Fatalf("the cookies of a session are %v", done.header["Set-Cookie"])
	}
	if s := b.session().want(http.StatusOK).object(); s["objectStore"] != store {
		t.Errorf("the session has the object store %v, want %s", s["objectStore"], store)
	}

	index := b.get("/console/deep/link?x=1", "Accept-Encoding", "identity").want(http.StatusOK)
	script := regexp.MustCompile(`src="(/tools/netsim/console/assets/([0-9a-f]{16})/main\.js)"`).FindSubmatch(index.body)
	if script == nil || !strings.Contains(string(index.body), `data-base="/tools/netsim/console/"`) || index.header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("the page is %v %s", index.header, index.body)
	}
	asset := strings.TrimPrefix(string(script[1]), prefix)
	plain := b.get(asset, "Accept-Encoding", "identity").want(http.StatusOK)
	if plain.header.Get("Cache-Control") != "public, max-age=31536000, immutable" || plain.header.Get("Content-Type") != "text/javascript; charset=utf-8" || plain.header.Get("ETag") == "" {
		t.Errorf("the script has the headers %v", plain.header)
	}
	small := b.get(asset, "Accept-Encoding", "br, gzip").want(http.StatusOK)
	if text := unzipped(t, small); !bytes.Equal(text, plain.body) || small.header.Get("ETag") == plain.header.Get("ETag") || small.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("the compressed script has the headers %v", small.header)
	}
	b.get(asset, "Accept-Encoding", "identity", "If-None-Match", plain.header.Get("ETag")).want(http.StatusNotModified)
	gone := strings.Replace(asset, string(script[2]), "0123456789abcdef", 1)

	policy := console.Policy(store)
	if policy != "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' "+store+"; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'" {
		t.Errorf("the policy is %s", policy)
	}
	for at, want := range map[string]struct {
		status int
		policy string
	}{
		"/console/": {200, policy}, "/console/deep/link": {200, policy}, "/console": {303, policy}, "/": {303, policy}, asset: {200, policy}, gone: {404, policy},
		"/console/assets/" + string(script[2]) + "/nothing.js": {404, policy}, "/console/assets/": {404, policy},
		"/console/login": {303, policy}, "/console/login?next=/x": {400, policy}, "/console/callback": {400, policy}, "/console/session": {200, policy},
		"/console/api/v1/workspaces": {200, "default-src 'none'; frame-ancestors 'none'"}, "/console/api/v1/nothing": {404, "default-src 'none'; frame-ancestors 'none'"},
	} {
		got := b.get(at, "Accept", "text/html").want(want.status)
		h := got.header
		if all := h.Values("Content-Security-Policy"); len(all) != 1 || all[0] != want.policy {
			t.Errorf("%s has the policy %q, want %q", at, all, want.policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") == "" {
			t.Errorf("%s has the headers %v", at, h)
		}
		if to := h.Get("Location"); strings.HasPrefix(to, "/") && to != prefix+"/console/" {
			t.Errorf("%s leads to %s", at, to)
		}
		if want.policy == policy && h.Get("Permissions-Policy") == "" {
			t.Errorf("%s has no permissions policy", at)
		}
	}
	b.get("/").refused(http.StatusNotFound, "NOT_FOUND")
	b.get("/console").refused(http.StatusNotFound, "NOT_FOUND")
	b.do(http.MethodPost, "/console/session", nil).refused(http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
	b.do(http.MethodHead, "/console/", nil).want(http.StatusOK)
}

// policyOf returns the origin of the object store of the program.
func (b *browser) policyOf(t *testing.T, p *servicetest.Program) string {
	t.Helper()
	return strings.TrimSuffix(regexp.MustCompile(`^https?://[^/]+`).FindString(p.Config.S3Endpoint), "/")
}

func (p page) cookies() []*http.Cookie {
	return (&http.Response{Header: p.header}).Cookies()
}

func unzipped(t *testing.T, p page) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(p.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestWithoutAClientThereIsNoConsole: nothing is served, and the log says so once.
func TestWithoutAClientThereIsNoConsole(t *testing.T) {
	t.Parallel()
	lines := &capture{}
	p := servicetest.StartLogged(t, lines.logger(), func(c *settings.Config) { c.ConsoleURL = "https://elsewhere.example" })
	anyone := p.Bearer(t, "")
	for _, path := range []string{"/", "/console", "/console/", "/console/session", "/console/login", "/console/api/v1/workspaces"} {
		anyone.Get(path, servicetest.Header{Name: "Accept", Value: "text/html"}).Refused(http.StatusNotFound, "NOT_FOUND")
	}
	if said := lines.with("no console is served: it has no client at the issuer of tokens (docs/console.md)"); len(said) != 1 {
		t.Errorf("the log says %d times that there is no console", len(said))
	}
}

// TestDashboardsAreInTheConsole: the URL of a simulation's page is below that of the console,
// for every client, and leads a browser to the console.
func TestDashboardsAreInTheConsole(t *testing.T) {
	t.Parallel()
	r := newRouter(t, false, "/prefix")
	p := servicetest.Start(t, r.withConsole)
	r.send(t, p)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	b := r.browser(t)
	b.login("", as("tester", account)) // the user of j, too
	j := newJourney(t, p.User(t, account))
	id := j.Completed(j.Client.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId"))
	want := r.console + "/console/simulations/" + id
	if got := j.Client.Get("/api/v1/simulations/" + id + "/results").Want(200).Text("dashboardUrl"); got != want {
		t.Errorf("a client gets %s, want %s", got, want)
	}
	if got := b.get("/console/api/v1/simulations/" + id + "/results").want(http.StatusOK).object()["dashboardUrl"]; got != want {
		t.Errorf("a browser gets %v, want %s", got, want)
	}
	if page := b.get(want).want(http.StatusOK); !strings.Contains(string(page.body), `data-base="/prefix/console/"`) {
		t.Errorf("the URL leads to %s", page.body)
	}
}
