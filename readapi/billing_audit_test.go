package readapi_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/internal/testwait"
)

// text checks the status of a response, and returns its media type and the body.
func (s *billingServer) text(ctx context.Context, path string, status int) (mediaType, body string, header http.Header) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/billing/"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is read whole
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != status {
		s.t.Fatalf("%s: status %d, want %d: %s", path, resp.StatusCode, status, text)
	}
	return resp.Header.Get("Content-Type"), string(text), resp.Header
}

const period = "bundle?from=2026-11-01&to=2026-11-30"

// asked returns a bundle that says what it was asked for.
func asked(_ context.Context, account, from, to string, preliminary bool) (func(context.Context, io.Writer) error, error) {
	return func(_ context.Context, out io.Writer) error {
		for _, part := range []any{account, from, to, preliminary} {
			if _, err := fmt.Fprintln(out, part); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// TestWhoseBundle is the table of the accounts whose bundle a caller gets.
func TestWhoseBundle(t *testing.T) {
	t.Parallel()
	s := newBillingServer(t)
	s.openBundle = asked
	s.serve(s.pool)
	person, service := auth.Caller{AccountID: mine, Billing: true}, auth.Caller{AccountID: mine, Service: true}
	platform := auth.Caller{AccountID: auth.AllAccounts, Service: true}
	impossible := auth.Caller{AccountID: auth.AllAccounts, Billing: true} // the verifier refuses it
	for _, test := range []struct {
		name   string
		caller auth.Caller
		query  string
		whose  string // "" for a refusal
		status int
	}{
		{"a person", person, "", mine, 200},
		{"a person, by name", person, "&account=" + mine, mine, 200},
		{"a person, another's", person, "&account=" + theirs, "", 403},
		{"a person, everybody's", person, "&account=*", "", 400},
		{"a service", service, "", mine, 200},
		{"a service, another's", service, "&account=" + theirs, "", 403},
		{"a service for every account", platform, "&account=" + theirs, theirs, 200},
		{"a service for every account, without one", platform, "", "", 400},
		{"a service for every account, no account", platform, "&account=acct_1", "", 400},
		{"a person of every account, one", impossible, "&account=" + mine, "", 403},
	} {
		s.caller = test.caller
		mediaType, body, _ := s.text(t.Context(), period+test.query, test.status)
		if test.whose == "" {
			continue
		}
		if want := test.whose + "\n2026-11-01\n2026-11-30\nfalse\n"; body != want || mediaType != "application/x-ndjson" {
			t.Errorf("%s: got %q, %s; want %q", test.name, body, mediaType, want)
		}
	}
	s.caller = person
	if _, body, _ := s.text(t.Context(), "bundle?from=2026-01-01&to=2027-01-01&preliminary=true", 200); !strings.HasSuffix(body, "2027-01-01\ntrue\n") {
		t.Errorf("a preliminary bundle of 366 days: got %q", body)
	}
}

// TestBundleRefusals: no bundle is opened for a malformed period, and each reason why there
// is none has its status.
func TestBundleRefusals(t *testing.T) {
	t.Parallel()
	s := newBillingServer(t)
	opened, refusal := 0, error(nil)
	s.openBundle = func(context.Context, string, string, string, bool) (func(context.Context, io.Writer) error, error) {
		opened++
		return nil, refusal
	}
	s.serve(s.pool)
	for _, query := range []string{
		"", "?from=2026-11-01", "?to=2026-11-01", "?from=2026-11-31&to=2026-12-01", "?from=november&to=2026-11-01", "?from=2026-11-02&to=2026-11-01",
		"?from=2025-01-01&to=2026-01-02", "?from=2026-11-01&to=2026-11-01&preliminary=perhaps", "?from=2026-11-01&to=2026-11-01&surprise=1",
	} {
		s.text(t.Context(), "bundle"+query, 400)
	}
	if opened > 0 {
		t.Errorf("%d bundles were opened for malformed requests", opened)
	}
	for status, err := range map[int]error{
		409: fault.New(fault.Conflict, "no checkpoint"), 422: fault.New(fault.Unprocessable, "too many costs"),
		503: fault.New(fault.Unavailable, "no key"), 500: errors.New("the log is not what a checkpoint has seen"),
	} {
		refusal = err
		for range 3 { // each gives back its turn
			s.text(t.Context(), period, status)
		}
	}
}

// TestBundlesAtATime: an account has one bundle at a time, and a process four. A bundle that
// has ended, and one whose client went away, make room.
func TestBundlesAtATime(t *testing.T) {
	t.Parallel()
	s := newBillingServer(t)
	s.caller = auth.Caller{AccountID: auth.AllAccounts, Service: true}
	begun, finish := make(chan string), make(chan struct{})
	s.openBundle = func(_ context.Context, account, _, _ string, _ bool) (func(context.Context, io.Writer) error, error) {
		return func(ctx context.Context, out io.Writer) error {
			begun <- account
			select {
			case <-finish:
				_, err := io.WriteString(out, account)
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}, nil
	}
	s.serve(s.pool)
	fourth, fifth := events.NewID(events.AccountPrefix), events.NewID(events.AccountPrefix)
	third := events.NewID(events.AccountPrefix)
	type answer struct {
		status int
		body   string
		err    error
	}
	get := func(ctx context.Context, account string) (a answer) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/billing/"+period+"&account="+account, nil)
		if err != nil {
			return answer{err: err}
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return answer{err: err}
		}
		defer resp.Body.Close() //nolint:errcheck // it is read whole
		body, err := io.ReadAll(resp.Body)
		return answer{resp.StatusCode, string(body), err}
	}
	abandoned, leave := context.WithCancel(t.Context())
	defer leave()
	first, gone, last := make(chan answer, 1), make(chan answer, 1), make(chan answer, 1)
	go func() { first <- get(t.Context(), mine) }()
	testwait.Receive(t, begun, "the first bundle")
	if _, _, header := s.text(t.Context(), period+"&account="+mine, 429); header.Get("Retry-After") == "" {
		t.Error("a second bundle of the account: no Retry-After")
	}
	go func() { gone <- get(abandoned, theirs) }()
	testwait.Receive(t, begun, "the second bundle")
	others := make(chan answer, 2)
	for _, account := range []string{third, fourth} {
		go func() { others <- get(t.Context(), account) }()
		testwait.Receive(t, begun, "another bundle")
	}
	if _, _, header := s.text(t.Context(), period+"&account="+fifth, 503); header.Get("Retry-After") == "" {
		t.Error("a fifth bundle: no Retry-After")
	}
	leave()
	if a := testwait.Receive(t, gone, "the client to leave"); !errors.Is(a.err, context.Canceled) {
		t.Errorf("the abandoned request: %+v", a)
	}
	go func() {
		a := get(t.Context(), fifth)
		for a.status == 503 { // the handler of the client that left still runs
			a = get(t.Context(), fifth)
		}
		last <- a
	}()
	testwait.Receive(t, begun, "the fifth bundle")
	close(finish)
	for account, from := range map[string]chan answer{mine: first, fifth: last} {
		if a := testwait.Receive(t, from, "a bundle"); a.status != 200 || a.body != account || a.err != nil {
			t.Errorf("the bundle of %s: %+v", account, a)
		}
	}
	for range 2 {
		if a := testwait.Receive(t, others, "another bundle"); a.status != 200 || a.err != nil {
			t.Errorf("another bundle: %+v", a)
		}
	}
}

// TestCheckpoints: the list has the checkpoints of this deployment's log, the newest first,
// and each can be read as it is in the log.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	s := newBillingServer(t)
	const stream = "checkpoint_netsim"
	note := func(name string) string { return "netsim checkpoint v1\nname " + name + "\n\n— netsim XYZ\n" }
	for _, name := range []string{"2026-04-13", "2026-04-14", "by-hand", "äh", "2026-04-14"} {
		s.project(stream, events.CheckpointPublished{Name: name, Note: note(name) + name})
	}
	s.project("checkpoint_other", events.CheckpointPublished{Name: "foreign", Note: "foreign"})
	s.project(stream, events.LogLossAccepted{Reason: "fire"})
	want := []string{"2026-04-14", "äh", "by-hand", "2026-04-14", "2026-04-13"}
	for _, account := range []string{mine, auth.AllAccounts} {
		s.caller.AccountID = account
		if diff := cmp.Diff(want, s.walk("checkpoints?limit=2", "checkpoints", "name", 3)); diff != "" {
			t.Errorf("the list (-want +got):\n%s", diff)
		}
	}
	list, _ := s.get("checkpoints", 200)["checkpoints"].([]any)
	row, _ := list[4].(map[string]any)
	wanted := map[string]any{
		"name": "2026-04-13", "publishedAt": "2026-04-15T12:00:01.000Z",
		"hash": fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(note("2026-04-13")+"2026-04-13"))),
	}
	if diff := cmp.Diff(wanted, row); diff != "" {
		t.Errorf("the oldest (-want +got):\n%s", diff)
	}
	for _, name := range want {
		mediaType, body, _ := s.text(t.Context(), "checkpoints/"+url.PathEscape(name), 200)
		if body != note(name)+name || mediaType != "text/plain" {
			t.Errorf("checkpoint %s is %q, %s", name, body, mediaType)
		}
	}
	for _, name := range []string{"foreign", "2026-04-15", "2026-04-14x"} {
		s.get("checkpoints/"+name, 404)
	}
	for _, path := range []string{"checkpoints?limit=0", "checkpoints?limit=101", "checkpoints?cursor=abc", "checkpoints?date=2026-04-14", "checkpoints/" + strings.Repeat("x", 513)} {
		s.get(path, 400)
	}
}
