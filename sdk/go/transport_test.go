package netsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"netsim/sdk/go/api"
)

// service answers the requests of a test, one function each; the last one answers all further ones.
type service struct {
	answers []func(*http.Request) (*http.Response, error)
	asked   []*http.Request
	at      []time.Time
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked, s.at = append(s.asked, r), append(s.at, time.Now())
	response, err := s.answers[min(len(s.asked), len(s.answers))-1](r)
	if response != nil {
		response.Request = r
	}
	return response, err
}

func answer(status int, body string, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func noAnswer(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset") }

func cut(r *http.Request) (*http.Response, error) {
	response, err := answer(201, "")(r)
	response.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"id":`), &failing{io.ErrUnexpectedEOF}))
	return response, err
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func refused(status int, code, message string, headers ...string) func(*http.Request) (*http.Response, error) {
	return answer(status, fmt.Sprintf(`{"error":{"code":%q,"message":%q}}`, code, message), headers...)
}

const workspace = `{"id":"workspace_01","name":"w"}`

func client(t *testing.T, config Config, answers ...func(*http.Request) (*http.Response, error)) (*Client, *service) {
	t.Helper()
	s := &service{answers: answers}
	config.URL, config.HTTP = "http://netsim.test", &http.Client{Transport: s}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func create(ctx context.Context, c *Client) (*api.Workspace, error) {
	return c.CreateWorkspace(ctx, nil, api.WorkspaceCreate{Name: "w"})
}

func TestAWriteIsRepeatedWithItsKey(t *testing.T) {
	t.Parallel()
	soon := func(status int) func(*http.Request) (*http.Response, error) {
		return refused(status, "X", "later", "Retry-After", "2")
	}
	hour := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		first func(*http.Request) (*http.Response, error)
		least time.Duration
	}{
		"lost":        {noAnswer, 0},
		"cut":         {cut, 0},
		"429":         {soon(429), 2 * time.Second},
		"503":         {soon(503), 2 * time.Second},
		"409":         {soon(409), 2 * time.Second},
		"other clock": {refused(503, "X", "later", "Retry-After", hour.Add(3*time.Second).Format(http.TimeFormat), "Date", hour.Format(http.TimeFormat)), 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, s := client(t, Config{}, test.first, answer(201, workspace))
				w, err := create(t.Context(), c)
				if err != nil || w.ID != "workspace_01" {
					t.Fatalf("got %v, %v", w, err)
				}
				keys := []string{s.asked[0].Header.Get("Idempotency-Key"), s.asked[1].Header.Get("Idempotency-Key")}
				if len(s.asked) != 2 || keys[0] == "" || keys[0] != keys[1] {
					t.Errorf("%d requests with the keys %q", len(s.asked), keys)
				}
				if pause := s.at[1].Sub(s.at[0]); pause < test.least || pause > test.least+5*time.Second {
					t.Errorf("repeated after %s; want %s and some jitter", pause, test.least)
				}
				body, _ := io.ReadAll(s.asked[1].Body)
				if !bytes.Contains(body, []byte(`"name":"w"`)) {
					t.Errorf("the second body is %q", body)
				}
				if _, err := create(t.Context(), c); err != nil || s.asked[2].Header.Get("Idempotency-Key") == keys[0] {
					t.Errorf("another write has the same key, or %v", err)
				}
			})
		})
	}
}

func TestRepeatingEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config Config
		answer func(*http.Request) (*http.Response, error)
		want   int
	}{
		"count":         {Config{Retries: 3}, noAnswer, 4},
		"never":         {Config{Retries: -1}, noAnswer, 1},
		"time":          {Config{RetryFor: 5 * time.Second}, refused(503, "X", "later", "Retry-After", "6"), 1},
		"final 503":     {Config{}, refused(503, "X", "off"), 1},
		"final 409":     {Config{}, refused(409, "X", "completed"), 1},
		"a fixed token": {Config{Token: "t"}, refused(401, "X", "expired"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, s := client(t, test.config, test.answer)
				if _, err := create(t.Context(), c); err == nil || len(s.asked) != test.want {
					t.Errorf("%d requests and %v; want %d", len(s.asked), err, test.want)
				}
			})
		})
	}
}

func TestATimeoutIsOfOneAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
		c, s := client(t, Config{Timeout: time.Second}, hang, answer(201, workspace))
		if _, err := create(t.Context(), c); err != nil || len(s.asked) != 2 || s.at[1].Sub(s.at[0]) < time.Second {
			t.Errorf("%d requests and %v", len(s.asked), err)
		}
		c, _ = client(t, Config{Timeout: time.Second, Retries: -1}, hang)
		if _, err := create(t.Context(), c); !errors.Is(err, errTimeout) || errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		c, s = client(t, Config{}, hang)
		if _, err := create(ctx, c); !errors.Is(err, context.DeadlineExceeded) || len(s.asked) != 1 {
			t.Errorf("with the caller's own limit %d requests and %v", len(s.asked), err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		c, _ = client(t, Config{}, refused(503, "BUSY", "later", "Retry-After", "9"))
		if _, err := create(ctx, c); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("while it waited for a repeat: %v", err)
		}
	})
}

func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	given := 0
	tokens := func(context.Context) (string, error) { given++; return fmt.Sprint("token", given), nil }
	c, s := client(t, Config{Tokens: tokens}, refused(401, "UNAUTHORIZED", "expired"), answer(201, workspace))
	if _, err := create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := s.asked[1].Header.Get("Authorization"); got != "Bearer token2" || given != 2 {
		t.Errorf("the second token is %q, of %d", got, given)
	}
	c, s = client(t, Config{Tokens: tokens}, refused(401, "UNAUTHORIZED", "unknown"))
	if _, err := create(t.Context(), c); !errors.Is(err, ErrUnauthorized) || len(s.asked) != 2 {
		t.Errorf("%d requests and %v", len(s.asked), err)
	}
}

func TestWithoutATokenNothingIsSent(t *testing.T) {
	t.Parallel()
	none := errors.New("log in first")
	c, s := client(t, Config{Tokens: func(context.Context) (string, error) { return "", none }}, answer(201, workspace))
	if _, err := create(t.Context(), c); !errors.Is(err, none) || len(s.asked) != 0 {
		t.Errorf("%d requests and %v", len(s.asked), err)
	}
}

func TestReadsShowWhatWasWritten(t *testing.T) {
	t.Parallel()
	list := answer(200, `{"workspaces":[],"pagination":{"count":0,"hasMore":false}}`, positionHeader, "read")
	c, s := client(t, Config{}, answer(201, workspace, positionHeader, "a"), answer(201, workspace, positionHeader, "b"), list)
	sent := func() string { return s.asked[len(s.asked)-1].Header.Get(positionHeader) }
	read := func() {
		t.Helper()
		if _, err := c.ListWorkspaces(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := create(t.Context(), c); err != nil || sent() != "" {
			t.Fatalf("%v, sent %q with a write", err, sent())
		}
	}
	if read(); sent() != "a,b" {
		t.Errorf("the first read was sent with %q", sent())
	}
	if read(); sent() != "read" {
		t.Errorf("the second read was sent with %q", sent())
	}
	s.answers = append(s.answers, refused(400, "VALIDATION_ERROR", "the Consistency-Token is of another log"), list)
	s.answers = s.answers[len(s.answers)-2:]
	s.asked = nil
	if read(); len(s.asked) != 2 || sent() != "" {
		t.Errorf("after the log was replaced %d requests, the last with %q", len(s.asked), sent())
	}

	p := positions{}
	post, get := &http.Request{Method: "POST", Header: http.Header{}}, &http.Request{Method: "GET", Header: http.Header{}}
	for i := range mostPositions + 2 {
		p.note(post, nil, &http.Response{Header: http.Header{positionHeader: {fmt.Sprint(i)}}})
	}
	if tokens := p.set(get); tokens != nil {
		t.Errorf("after more writes than a header takes it has %q", tokens)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	c, _ := client(t, Config{}, refused(412, "PRECONDITION_FAILED", `if-match does not name the current version "4"`, "X-Request-Id", "r-1"))
	var raw *http.Response
	_, err := c.UpdateWorkspace(t.Context(), "workspace_01", &api.UpdateWorkspaceParams{IfMatch: new(api.Version(3))}, api.WorkspaceUpdate{Name: "n"}, Raw(&raw))
	e, ok := errors.AsType[*Error](err)
	if !ok || !errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) || e.Status != 412 || e.Code != "PRECONDITION_FAILED" || e.Current != `"4"` || e.RequestID != "r-1" {
		t.Fatalf("got %#v", err)
	}
	if raw == nil || raw.Request.Header.Get("If-Match") != `"3"` {
		t.Errorf("the raw response is %v", raw)
	}
	if body, _ := io.ReadAll(raw.Body); !bytes.Contains(body, []byte("PRECONDITION_FAILED")) {
		t.Errorf("its body is %q", body)
	}
	if want := `PATCH /api/v1/workspaces/workspace_01: if-match does not name the current version "4" (412 PRECONDITION_FAILED, request r-1)`; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	c, _ = client(t, Config{}, refused(400, "VALIDATION_ERROR", "workload.phases[0].dataSize must be between 1 and 2, got 0"))
	_, err = c.SubmitSimple(t.Context(), nil, api.SimpleSubmission{})
	if e, _ := errors.AsType[*Error](err); !errors.Is(err, ErrInvalid) || e.Field != "workload.phases[0].dataSize" {
		t.Errorf("got %#v", err)
	}
	c, _ = client(t, Config{}, answer(502, "<html>", "Content-Type", "text/html"))
	if _, err := create(t.Context(), c); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "Bad Gateway") {
		t.Errorf("of a proxy's page: %v", err)
	}
}

func TestRaw(t *testing.T) {
	t.Parallel()
	c, _ := client(t, Config{}, answer(201, workspace, "ETag", `"1"`))
	var raw *http.Response
	w, err := c.CreateWorkspace(t.Context(), nil, api.WorkspaceCreate{Name: "w"}, Raw(&raw))
	if err != nil || w.ID != "workspace_01" || api.Tag(raw) != `"1"` || raw.StatusCode != 201 {
		t.Fatalf("got %v, %v, %v", w, err, raw)
	}
	if body, err := io.ReadAll(raw.Body); string(body) != workspace || err != nil {
		t.Errorf("the raw body is %q, %v", body, err)
	}
}

func TestUnknownMembersAndValuesAreTolerated(t *testing.T) {
	t.Parallel()
	c, _ := client(t, Config{}, answer(200, `{"id":"sim_01","status":"dreaming","new":{"x":1}}`))
	if s, err := c.GetSimulation(t.Context(), "sim_01", nil); err != nil || s.Status != "dreaming" || ended(s.Status) || Failed(s) != nil {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestAllPages(t *testing.T) {
	t.Parallel()
	c, s := client(t, Config{},
		answer(200, `{"workspaces":[{"id":"a"},{"id":"b"}],"pagination":{"count":2,"hasMore":true,"nextCursor":"n1"}}`),
		answer(200, `{"workspaces":[{"id":"c"}],"pagination":{"count":1,"hasMore":false}}`),
		answer(200, `{"workspaces":[{"id":"a"}],"pagination":{"count":1,"hasMore":false}}`),
		refused(403, "FORBIDDEN", "no"))
	all := c.AllWorkspaces(t.Context(), api.ListWorkspacesParams{Search: new("x")})
	var got []string
	for w, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, w.ID)
	}
	if fmt.Sprint(got) != "[a b c]" || s.asked[1].URL.RawQuery != "next=n1&search=x" {
		t.Errorf("got %v with %s", got, s.asked[1].URL)
	}
	for range all {
	}
	if query := s.asked[2].URL.RawQuery; query != "search=x" {
		t.Errorf("iterating again began with %s", query)
	}
	for _, err := range all {
		if !errors.Is(err, ErrForbidden) {
			t.Errorf("got %v", err)
		}
	}
}
