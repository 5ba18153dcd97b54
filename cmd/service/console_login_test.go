package service_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/servicetest"
)

// TestLogin: a person logs in at the issuer, works with the API, and logs out. The cookie is
// useless without its row, and no token reaches the browser.
func TestLogin(t *testing.T) {
	t.Parallel()
	r, _ := startConsole(t)
	b := r.browser(t)
	account := servicetest.NewAccount()
	b.session().refused(http.StatusUnauthorized, "UNAUTHORIZED")
	b.get("/console/api/v1/workspaces").refused(http.StatusUnauthorized, "UNAUTHORIZED")

	const next = "/console/simulations/sim_1?tab=heat"
	fields := as("ada", account)
	fields["roles"] = []string{"billing"}
	if to := b.login(next, fields); to != next {
		t.Errorf("after the login the browser is at %s, want %s", to, next)
	}
	s := b.session().want(http.StatusOK).object()
	if id, _ := s["user"].(map[string]any)["id"].(string); !strings.HasPrefix(id, "user_") {
		t.Errorf("the user's id is %q, want an opaque one", id)
	}
	delete(s["user"].(map[string]any), "id")
	expires, err := time.Parse(time.RFC3339, s["expires"].(string))
	if left := time.Until(expires); err != nil || left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("the session expires at %v, %v; want in a day", s["expires"], err)
	}
	delete(s, "expires")
	want := map[string]any{
		"user": map[string]any{"name": "ada"}, "account": map[string]any{"id": account, "name": account}, "workspaces": "*",
		"roles": []any{"billing"}, "objectStore": s["objectStore"], "release": s["release"],
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}

	made := b.do(http.MethodPost, "/console/api/v1/workspaces", strings.NewReader(`{"name":"mine"}`), "Content-Type", "application/json", "Sec-Fetch-Site", "same-origin")
	if made.status != http.StatusForbidden { // a person's token makes no workspaces
		t.Errorf("status %d: %s", made.status, made.body)
	}
	b.get("/console/api/v1/workspaces").want(http.StatusOK)
	b.get("/console/api/v1/billing/items").want(http.StatusOK) // by the role
	other := r.browser(t)
	other.login("", as("eve", account))
	other.get("/console/api/v1/billing/items").refused(http.StatusForbidden, "FORBIDDEN")
	b.do(http.MethodHead, "/console/api/v1/workspaces", nil).want(http.StatusOK)
	b.get("/console/api/v1/nowhere").refused(http.StatusNotFound, "NOT_FOUND")
	b.get("/console/api/v1/workspaces?unknown=1").refused(http.StatusBadRequest, "VALIDATION_ERROR")
	b.get("/console/api/v1/workspaces", "Authorization", "Bearer x").refused(http.StatusBadRequest, "VALIDATION_ERROR")
	b.get("/api/v1/workspaces").refused(http.StatusUnauthorized, "UNAUTHORIZED") // the API reads no cookie

	out := b.do(http.MethodPost, "/console/logout", nil, "Sec-Fetch-Site", "same-origin").want(http.StatusOK).object()
	if end, err := url.Parse(out["endSession"].(string)); err != nil || end.Query().Get("post_logout_redirect_uri") != r.console+"/console/" {
		t.Errorf("the logout leads to %v, %v", out["endSession"], err)
	}
	if c := b.cookie(); c != nil {
		t.Errorf("after the logout the browser has the cookie %v", c)
	}
	b.session().refused(http.StatusUnauthorized, "UNAUTHORIZED")
}

// TestLoginsThatAreRefused: an answer that does not belong to a login of this browser, a code
// that was used, and everything that would lead the browser to another site.
func TestLoginsThatAreRefused(t *testing.T) {
	t.Parallel()
	r, p := startConsole(t)
	account := servicetest.NewAccount()
	b := r.browser(t)
	for _, next := range []string{
		"https://evil.example/console/", "//evil.example/console/", `/\evil.example/console/`, "/console/../api/v1/workspaces", "/consolex/", "/docs",
		"/console//evil.example", "/console/%2e%2e/docs", "javascript:alert(1)", "/console/\n/x", "/console/login", "/console/api/v1/workspaces", "console/",
		"/console/" + strings.Repeat("x", 800), "http:/console/", "/console", "",
	} {
		at := "/console/login?next=" + url.QueryEscape(next)
		b.get(at).refused(http.StatusBadRequest, "VALIDATION_ERROR")
	}
	b.get("/console/login?next=/console/&next=/console/").refused(http.StatusBadRequest, "VALIDATION_ERROR")
	b.get("/console/login?to=/console/").refused(http.StatusBadRequest, "VALIDATION_ERROR")

	callback := b.choose(b.begin("/console/"), as("ada", account))
	change := func(name, value string) string {
		u, err := url.Parse(callback)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	b.get(change("state", "another")).refused(http.StatusBadRequest, "VALIDATION_ERROR")
	other := r.browser(t) // an attacker's link logs no other browser in
	other.get(callback).refused(http.StatusBadRequest, "VALIDATION_ERROR")
	if shown := other.get(callback, "Accept", "text/html").want(http.StatusBadRequest); !strings.Contains(string(shown.body), "Log in again") {
		t.Errorf("a browser gets %s", shown.body)
	}
	code, err := url.Parse(callback)
	if err != nil {
		t.Fatal(err)
	}
	b.get(callback).want(http.StatusSeeOther)
	b.get(callback).refused(http.StatusBadRequest, "VALIDATION_ERROR") // its cookie was used
	callback = b.choose(b.begin("/console/"), as("ada", account))
	used := change("code", code.Query().Get("code"))
	b.get(used).refused(http.StatusForbidden, "FORBIDDEN")
	for name, c := range map[string]struct {
		change func() string
		status int
		code   string
	}{
		"another issuer": {func() string { return change("iss", "https://evil.example") }, http.StatusBadRequest, "VALIDATION_ERROR"},
		"a refusal":      {func() string { return change("error", "access_denied") }, http.StatusForbidden, "FORBIDDEN"},
		"an outage":      {func() string { return change("error", "temporarily_unavailable") }, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE"},
		"an odd error":   {func() string { return change("error", "<script>") }, http.StatusForbidden, "FORBIDDEN"},
		"no code":        {func() string { return change("code", "") }, http.StatusForbidden, "FORBIDDEN"},
		"a wrong code":   {func() string { return change("code", "x") }, http.StatusForbidden, "FORBIDDEN"},
	} {
		callback = b.choose(b.begin("/console/"), as("ada", account))
		if message := b.get(c.change()).refused(c.status, c.code); strings.Contains(message, "<") {
			t.Errorf("%s: the message is %q", name, message)
		}
	}
	refused := b.choose(b.begin(""), url.Values{"refuse": {"true"}})
	b.get(refused).refused(http.StatusForbidden, "FORBIDDEN")
	foreign := b.choose(b.begin(""), as("ada", "not-an-account"))
	if message := b.get(foreign).refused(http.StatusForbidden, "FORBIDDEN"); !strings.Contains(message, "account_id") {
		t.Errorf("the message is %q, want the claim that is wrong", message)
	}
	if n := query[int](t, p, `SELECT count(*) FROM netsim.console_sessions`); n != 1 {
		t.Errorf("there are %d sessions, want the one of the login that succeeded", n)
	}
}

// TestTabsLogInAtTheSameTime: the tabs that a session leaves behind each log in. Many logins
// that are not finished do not fill the headers of requests.
func TestTabsLogInAtTheSameTime(t *testing.T) {
	t.Parallel()
	r, p := startConsole(t)
	b, account := r.browser(t), servicetest.NewAccount()
	first, second := b.begin("/console/a"), b.begin("/console/b")
	if to := b.get(b.choose(second, as("ada", account))).to(); to != "/console/b" {
		t.Errorf("the second tab is at %s", to)
	}
	if to := b.get(b.choose(first, as("ada", account))).to(); to != "/console/a" {
		t.Errorf("the first tab is at %s", to)
	}
	b.session().want(http.StatusOK)
	if n := query[int](t, p, `SELECT count(*) FROM netsim.console_sessions`); n != 1 {
		t.Errorf("the browser has %d sessions, want its last one", n)
	}
	for range 30 {
		b.begin("/console/")
	}
	at, err := url.Parse(r.console + "/console/callback")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.http.Jar.Cookies(at)); n > 10 {
		t.Errorf("after 30 logins that were not finished the browser has %d cookies", n)
	}
	b.session().want(http.StatusOK)
}

// TestOtherOriginsAndOtherSessions: what a page of another origin makes a browser send changes
// nothing, and no cookie but the one of a login opens a session.
func TestOtherOriginsAndOtherSessions(t *testing.T) {
	t.Parallel()
	r, p := startConsole(t)
	account := servicetest.NewAccount()
	b := r.browser(t)
	b.login("", as("ada", account))
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
	} {
		b.do(http.MethodPost, "/console/logout", nil, headers...).refused(http.StatusForbidden, "FORBIDDEN")
		for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut} {
			message := b.do(method, "/console/api/v1/workspaces/x", strings.NewReader("{}"), headers...).refused(http.StatusForbidden, "FORBIDDEN")
			if !strings.Contains(message, "another origin") {
				t.Errorf("%s with %v: %s", method, headers, message)
			}
		}
	}
	b.session().want(http.StatusOK)
	// The router has changed the host, so only the setting says which origin is the console's.
	b.do(http.MethodPost, "/console/api/v1/topology/validate", strings.NewReader("{}"), "Origin", r.URL, "Content-Type", "application/json").want(http.StatusBadRequest)

	own := b.cookie()
	for _, value := range []string{"", "x", strings.Repeat("A", 43), own.Value[:42], own.Value + "A", " " + own.Value} {
		stranger := r.browser(t)
		stranger.get("/console/session", "Cookie", own.Name+"="+value).refused(http.StatusUnauthorized, "UNAUTHORIZED")
		stranger.get("/console/api/v1/workspaces", "Cookie", own.Name+"="+value).refused(http.StatusUnauthorized, "UNAUTHORIZED")
	}
	other := r.browser(t)
	other.login("", as("eve", servicetest.NewAccount()))
	execute(t, p.Config.Postgres, `UPDATE netsim.console_sessions a SET tokens = b.tokens FROM netsim.console_sessions b WHERE a.user_id <> b.user_id`)
	b.session().refused(http.StatusUnauthorized, "UNAUTHORIZED") // tokens are sealed for their row
	other.session().refused(http.StatusUnauthorized, "UNAUTHORIZED")
}

// TestLogLinesOfLogins: a login has a log line for each of its requests, without its code, its
// state and its cookies.
func TestLogLinesOfLogins(t *testing.T) {
	t.Parallel()
	lines := &capture{}
	r := newRouter(t, false, "")
	p := servicetest.StartLogged(t, lines.logger(), r.withConsole)
	r.send(t, p)
	b := r.browser(t)
	account := servicetest.NewAccount()
	callback := b.choose(b.begin("/console/hush-next"), as("hush-name", account))
	done := b.get(callback).want(http.StatusSeeOther)
	again := b.get(callback).want(http.StatusBadRequest)
	read := b.get("/console/api/v1/workspaces/" + events.NewID(events.WorkspacePrefix)).want(http.StatusNotFound)
	b.get("/console/deep/hush?q=hush").want(http.StatusOK)
	answer, err := url.Parse(callback)
	if err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]map[string]string{
		done.header.Get("X-Request-Id"):  {"route": "/console/callback", "status": "303", "account": account},
		again.header.Get("X-Request-Id"): {"route": "/console/callback", "status": "400", "code": "VALIDATION_ERROR"},
		read.header.Get("X-Request-Id"):  {"route": "/console/api/v1/workspaces/{workspace_id}", "status": "404", "operation": "GetWorkspace", "account": account},
	} {
		got := lines.request(t, request)
		for name, value := range want {
			if got[name] != value {
				t.Errorf("the line has %s %q, want %q: %v", name, got[name], value, got)
			}
		}
	}
	lines.hides(t, "hush-name", "hush-next", answer.Query().Get("code"), answer.Query().Get("state"), b.cookie().Value, "eyJ")
	if n := p.Metric(t, `http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code="303",http_route="/console/callback"}`); n != 1 {
		t.Errorf("the metrics have %v logins, want 1", n)
	}
}
