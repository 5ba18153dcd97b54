package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"netsim/fault"
)

func atMost(bytes int64) func(*http.Request) int64 {
	return func(*http.Request) int64 { return bytes }
}

// service returns a router with the middleware around handlers that read, write,
// panic at once, and panic after the response has begun.
func service(t *testing.T, log io.Writer) (http.Handler, *Metrics) {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, nil))
	metrics := &Metrics{}
	fail := Errors{Log: logger}.Fail
	router := chi.NewRouter()
	router.Use(Identify, Observer{Log: logger, Metrics: metrics, Now: time.Now}.Observe, Harden, Recover(fail), LimitBody(atMost(8), fail),
		Budget(time.Hour, time.Minute, func(*http.Request) time.Duration { return 0 }, never))
	Unrouted(router, fail)
	router.Get("/things/{id}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "thing") })
	router.Post("/things", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			fail(w, r, err)
			return
		}
		w.Write(body)
	})
	router.Get("/panic", func(http.ResponseWriter, *http.Request) { panic("boom") })
	router.Get("/late", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "begun")
		panic("late boom")
	})
	router.Get("/deadline", func(w http.ResponseWriter, r *http.Request) {
		if _, bounded := r.Context().Deadline(); !bounded {
			t.Error("the request's context has no deadline")
		}
	})
	return router, metrics
}

// The lists of the fixed headers are shared, so a change must stay in its response.
func TestHardenedHeadersAreThoseOfEveryResponse(t *testing.T) {
	t.Parallel()
	h := Harden(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/change" {
			w.Header().Add("Cache-Control", "private")
			w.Header().Set("X-Frame-Options", "SAMEORIGIN")
			w.Header().Del("Referrer-Policy")
		}
	}))
	headers := func(path string) http.Header {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w.Header()
	}
	before, changed, after := headers("/"), headers("/change"), headers("/")
	if diff := cmp.Diff(before, after); diff != "" || len(before) != 5 || len(changed["Cache-Control"]) != 2 {
		t.Errorf("the headers after another response (-before +after):\n%s", diff)
	}
}

func TestStack(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h, _ := service(t, &log)
	for name, test := range map[string]struct {
		method, path string
		body         io.Reader
		status       int
		want         string
		allow        string
	}{
		"found":          {http.MethodGet, "/things/7", nil, 200, "thing", ""},
		"bounded":        {http.MethodGet, "/deadline", nil, 200, "", ""},
		"no route":       {http.MethodGet, "/nothing", nil, 404, "NOT_FOUND", ""},
		"no such method": {http.MethodDelete, "/things/7", nil, 405, "METHOD_NOT_ALLOWED", "GET"},
		"odd method":     {"BREW", "/things", nil, 405, "METHOD_NOT_ALLOWED", "POST"},
		"small body":     {http.MethodPost, "/things", strings.NewReader("12345678"), 200, "12345678", ""},
		"large body":     {http.MethodPost, "/things", strings.NewReader("123456789"), 413, "larger than 8 bytes", ""},
		"large, unsized": {http.MethodPost, "/things", io.MultiReader(strings.NewReader("123456789")), 413, "larger than 8 bytes", ""},
		"panic":          {http.MethodGet, "/panic", nil, 500, `"internal error"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), test.method, test.path, test.body))
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("got %d %s, want %d with %q", w.Code, w.Body, test.status, test.want)
			}
			if got := w.Header().Get("Allow"); got != test.allow {
				t.Errorf("Allow = %q, want %q", got, test.allow)
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("X-Request-Id") == "" {
				t.Errorf("headers %v, want those of Harden and an X-Request-Id", w.Header())
			}
		})
	}
	if !strings.Contains(log.String(), "panic: boom") {
		t.Errorf("the panic is not in the log:\n%s", &log)
	}
}

func TestPanicAfterTheResponseBeganCutsTheConnection(t *testing.T) {
	t.Parallel()
	h, _ := service(t, io.Discard)
	server := httptest.NewServer(h)
	defer server.Close()
	resp, err := server.Client().Get(server.URL + "/late")
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Error("the client read a complete response, want an error")
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	for sent, kept := range map[string]bool{
		"abc-123_X.y": true, "": false, "a b": false, "a\tb": false, "é": false,
		strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, `"x"`: false,
	} {
		var seen string
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("X-Request-Id", sent)
		Identify(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = RequestID(r.Context()) })).ServeHTTP(w, r)
		if seen == "" || w.Header().Get("X-Request-Id") != seen || (seen == sent) != kept {
			t.Errorf("sent %q: id %q, echoed %q, want it kept: %t", sent, seen, w.Header().Get("X-Request-Id"), kept)
		}
	}
}

func TestUnless(t *testing.T) {
	t.Parallel()
	lagging := func(context.Context) error { return fault.New(fault.Unavailable, "the projector lags") }
	writes := func(r *http.Request) bool { return r.Method == http.MethodPost }
	h := Unless(lagging, writes, Errors{Log: slog.New(slog.DiscardHandler)}.Fail)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for method, want := range map[string]int{http.MethodPost: 503, http.MethodGet: 200} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/", nil))
		if w.Code != want {
			t.Errorf("%s while lagging = %d, want %d", method, w.Code, want)
		}
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h, metrics := service(t, &log)
	got := map[string]int{}
	metrics.Answered = func(method, route string, status int, _ time.Duration) {
		got[fmt.Sprint(method, " ", route, " ", status)]++
		if metrics.Active() != 0 {
			t.Errorf("%d requests are active after the end of the only one, want 0", metrics.Active())
		}
	}
	for _, request := range [][2]string{
		{"GET", "/things/1?token=hush"}, {"GET", "/things/2"}, {"GET", "/a"}, {"GET", "/b"}, {"BREW", "/c"}, {"POST", "/things"}, {"GET", "/panic"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), request[0], request[1], nil)
		r.Header.Set("Authorization", "Bearer hush")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	want := map[string]int{
		"GET /things/{id} 200": 2, "GET unmatched 404": 2, "_OTHER unmatched 405": 1, "POST /things 200": 1, "GET /panic 500": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests by labels (-want +got):\n%s", diff)
	}
	if strings.Contains(log.String(), "hush") {
		t.Errorf("the log shows a secret:\n%s", &log)
	}
}

// A long request has more time than other requests.
func TestLongRequestsHaveMoreTime(t *testing.T) {
	t.Parallel()
	for _, more := range []time.Duration{0, time.Hour} {
		h := Budget(time.Minute, time.Minute, func(*http.Request) time.Duration { return more }, never)(
			http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				deadline, _ := r.Context().Deadline()
				if left := time.Until(deadline); left > time.Minute+more || left < more {
					t.Errorf("%s are left, want a minute and %s", left, more)
				}
			}))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil))
	}
}

func never(*http.Request) bool { return false }
