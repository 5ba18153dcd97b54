package service_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// generation returns how often the tokens of the only session were refreshed, plus one.
func generation(t *testing.T, p *servicetest.Program) int {
	t.Helper()
	return query[int](t, p, `SELECT coalesce(max(generation), 0) FROM netsim.console_sessions`)
}

// TestASessionOutlivesItsToken: the tokens are refreshed, again and again, and the session
// stays the same, also for another process of the service. It ends when the issuer refuses.
func TestASessionOutlivesItsToken(t *testing.T) {
	t.Parallel()
	issuer := newFrontIssuer(t)
	r, p := startConsole(t, issuer.use)
	b := r.browser(t)
	b.login("", short("1", servicetest.NewAccount()))
	user := b.session().want(http.StatusOK).object()["user"]
	until(t, "the tokens are refreshed three times", func() bool {
		b.get("/console/api/v1/workspaces").want(http.StatusOK)
		return generation(t, p) > 3
	})
	if now := b.session().want(http.StatusOK).object()["user"]; fmt.Sprint(now) != fmt.Sprint(user) {
		t.Errorf("the session was of %v and is of %v", user, now)
	}
	again := servicetest.Start(t, func(c *settings.Config) { *c = p.Config })
	r.send(t, again)
	b.session().want(http.StatusOK)

	issuer.refuse.Store(true)
	until(t, "the issuer ends the session", func() bool { return b.session().status == http.StatusUnauthorized })
	b.get("/console/api/v1/workspaces").refused(http.StatusUnauthorized, "UNAUTHORIZED")
	if n := query[int](t, p, `SELECT count(*) FROM netsim.console_sessions`); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// TestOneRefreshByTwoProcesses: requests to two processes that need a new token at the same
// time cause one refresh. The issuer would end the session at a second one.
func TestOneRefreshByTwoProcesses(t *testing.T) {
	t.Parallel()
	issuer := newFrontIssuer(t)
	r, one := startConsole(t, issuer.use)
	two := servicetest.Start(t, func(c *settings.Config) { *c = one.Config })
	for {
		began := time.Now()
		wrong := refreshAtOnce(t, r, issuer, one, two)
		if len(wrong) == 0 {
			return
		}
		if time.Since(began) < 10*time.Second { // else the call of the issuer may have timed out meanwhile
			t.Fatal(strings.Join(wrong, "\n"))
		}
	}
}

// refreshAtOnce has requests to two processes wait for one refresh of a new session, and
// returns what is wrong with the answers and with the session.
func refreshAtOnce(t *testing.T, r *router, issuer *frontIssuer, one, two *servicetest.Program) (wrong []string) {
	t.Helper()
	execute(t, one.Config.Postgres, `DELETE FROM netsim.console_sessions`)
	before := issuer.refreshes.Load()
	b := r.browser(t)
	release := issuer.hold()
	b.login("", as("ada", servicetest.NewAccount()))
	own := b.cookie()
	execute(t, one.Config.Postgres, `UPDATE netsim.console_sessions SET refresh_at = now(), token_ends_at = now()`) // as if it had expired
	const requests = 8
	statuses := make(chan int, 2*requests)
	var all sync.WaitGroup
	for _, p := range []*servicetest.Program{one, two} {
		for range requests {
			all.Go(func() {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/console/session", nil)
				if err != nil {
					t.Error(err)
					return
				}
				request.AddCookie(own)
				answer, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				answer.Body.Close()
				statuses <- answer.StatusCode
			})
		}
	}
	for _, p := range []*servicetest.Program{one, two} {
		until(t, "all requests wait for the token, or have waited too long", func() bool {
			return p.Metric(t, "http_server_active_requests") >= requests || len(statuses) > 0
		})
	}
	release()
	testwait.Group(t, &all, "the requests")
	close(statuses)
	for status := range statuses {
		if status != http.StatusOK {
			wrong = append(wrong, fmt.Sprintf("a request gets %d", status))
		}
	}
	if n, tokens := issuer.refreshes.Load()-before, generation(t, one); n != 1 || tokens != 2 {
		wrong = append(wrong, fmt.Sprintf("the issuer got %d refreshes, and the session has its tokens number %d; want 1 and 2", n, tokens))
	}
	return wrong
}

// TestOutagesEndNoSession: while the issuer or the database is away, requests that need it get
// 503 with Retry-After, and the session goes on afterwards.
func TestOutagesEndNoSession(t *testing.T) {
	t.Parallel()
	issuer := newFrontIssuer(t)
	c := servicetest.Config(t)
	at, err := url.Parse(c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	database := teststack.NewProxy(t, at.Host)
	direct := c.Postgres
	at.Host = database.Addr
	r := newRouter(t, false, "")
	p := servicetest.StartLogged(t, slog.New(slog.DiscardHandler), func(s *settings.Config) {
		*s = c
		s.Postgres = at.String()
	}, r.withConsole, issuer.use)
	p.Config.Postgres = direct
	r.send(t, p)
	b := r.browser(t)
	b.login("", short("1", servicetest.NewAccount()))

	issuer.away.Store(true)
	until(t, "the token has expired", func() bool { return b.session().status != http.StatusOK })
	b.session().refused(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	if again := b.get("/console/api/v1/workspaces"); again.status != http.StatusServiceUnavailable || again.header.Get("Retry-After") == "" {
		t.Errorf("without the issuer the API answers %d, Retry-After %q", again.status, again.header.Get("Retry-After"))
	}
	issuer.away.Store(false)
	until(t, "the issuer works again", func() bool { return b.session().status == http.StatusOK })

	database.Refuse()
	for _, path := range []string{"/console/session", "/console/api/v1/workspaces"} {
		until(t, path+" is refused", func() bool { return b.get(path).status != http.StatusOK })
		answer := b.get(path)
		answer.refused(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
		if answer.header.Get("Retry-After") == "" || answer.header.Get("Set-Cookie") != "" {
			t.Errorf("without the database %s has the headers %v", path, answer.header)
		}
	}
	b.do(http.MethodPost, "/console/logout", nil).refused(http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
	database.Heal()
	until(t, "the database works again", func() bool { return b.session().status == http.StatusOK })
}

// TestStreamsEndWithTheirSession: an event stream works with a cookie, goes on beyond its
// access token, and ends at the logout.
func TestStreamsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	r, p := startConsole(t, func(c *settings.Config) { c.FeedHeartbeat, c.StreamLife = 50*time.Millisecond, time.Hour })
	b := r.browser(t)
	b.login("", short("2", servicetest.NewAccount()))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.console+"/console/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	stream, err := b.http.Do(request)
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", stream, err)
	}
	defer stream.Body.Close()
	const over = "the stream is over"
	lines := make(chan string)
	go func() {
		send := func(line string) bool {
			select {
			case lines <- line:
				return true
			case <-t.Context().Done():
				return false
			}
		}
		for each := bufio.NewScanner(stream.Body); each.Scan() && send(each.Text()); {
		}
		send(over)
	}()
	next := func() string { t.Helper(); return testwait.Receive(t, lines, "a line of the stream") }
	until(t, "the token was refreshed twice", func() bool {
		if next() == over {
			t.Fatal("the stream ends before its session")
		}
		return generation(t, p) > 2
	})
	b.do(http.MethodPost, "/console/logout", nil).want(http.StatusOK)
	for next() != over {
	}
}

// TestSessionsAreBounded: a session ends at its limits, a user has a number of sessions at
// most, of which the one that was not used for longest ends, and a deleted row is a logout.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	r, p := startConsole(t, func(c *settings.Config) { c.ConsoleSessions = 3 })
	account := servicetest.NewAccount()
	var all []*browser
	for range 4 {
		b := r.browser(t)
		b.login("", as("ada", account))
		all = append(all, b)
	}
	other := r.browser(t)
	other.login("", as("eve", account))
	all[0].session().refused(http.StatusUnauthorized, "UNAUTHORIZED")
	for _, b := range append(all[1:], other) {
		b.session().want(http.StatusOK)
	}
	shown := all[1].session().object()["expires"]
	execute(t, p.Config.Postgres, `UPDATE netsim.console_sessions SET used_at = used_at - interval '2 minutes', ends_at = ends_at - interval '165 hours'`)
	if now := all[1].session().want(http.StatusOK).object()["expires"]; now == shown {
		t.Errorf("a session whose life ends in 3 hours expires at %v", now)
	}
	execute(t, p.Config.Postgres, `UPDATE netsim.console_sessions SET expires_at = now()`)
	all[1].session().refused(http.StatusUnauthorized, "UNAUTHORIZED")
	all[1].login("", as("ada", account))
	all[1].session().want(http.StatusOK)
	execute(t, p.Config.Postgres, `DELETE FROM netsim.console_sessions`)
	all[1].session().refused(http.StatusUnauthorized, "UNAUTHORIZED")
	all[1].do(http.MethodPost, "/console/logout", nil).want(http.StatusOK) // as if it had been logged in

	fields := as("ada", account)
	without := strings.Replace(all[1].begin(""), "offline_access", "", 1)
	fields.Set("lifetime", "600")
	all[1].get(all[1].choose(without, fields)).want(http.StatusSeeOther)
	expires, err := time.Parse(time.RFC3339, all[1].session().want(http.StatusOK).object()["expires"].(string))
	if left := time.Until(expires); err != nil || left > 10*time.Minute {
		t.Errorf("without a refresh token the session lasts %v, %v; want as long as its token", left, err)
	}
}
