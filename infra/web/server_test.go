package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"netsim/infra/health"
	"netsim/internal/testwait"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// When its context ends, Serve waits for the requests in progress.
func TestServeFinishesRequestsInProgress(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	server := NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		testwait.Gate(t, leave)
		io.WriteString(w, "done")
	}), time.Minute, slog.New(slog.DiscardHandler))
	stopping := make(chan struct{})
	server.RegisterOnShutdown(func() { close(stopping) })
	listener := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, server, listener, time.Minute) }()

	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()
	testwait.Receive(t, entered, "the handler to be entered")
	stop()
	testwait.Receive(t, stopping, "the server to stop")
	close(leave)
	if got := testwait.Receive(t, answer, "the answer"); got != "done" {
		t.Errorf("answer %q, want done", got)
	}
	if err := testwait.Receive(t, ended, "Serve to return"); err != nil {
		t.Errorf("serve: %v", err)
	}
}

// Serve closes the connection of a request that does not end within the grace period.
func TestServeCutsSlowRequests(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	server := NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}), time.Minute, slog.New(slog.DiscardHandler))
	listener := listen(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, server, listener, time.Millisecond) }()
	go func() {
		if resp, err := http.Get("http://" + listener.Addr().String()); err == nil {
			resp.Body.Close()
		}
	}()
	testwait.Receive(t, entered, "the handler to be entered")
	stop()
	if err := testwait.Receive(t, ended, "Serve to return"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("serve: %v, want %v", err, context.DeadlineExceeded)
	}
}

// A profile that is being made does not delay the end.
func TestServeCutsProfiles(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	operations, entered := Operations(ctx, nil, &health.Checks{}, true), make(chan struct{})
	server := NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		operations.ServeHTTP(w, r)
	}), time.Minute, slog.New(slog.DiscardHandler))
	listener := listen(t)
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, server, listener, 5*time.Second) }()
	go func() {
		if resp, err := http.Get("http://" + listener.Addr().String() + "/debug/pprof/goroutine?seconds=100"); err == nil {
			resp.Body.Close()
		}
	}()
	testwait.Receive(t, entered, "the handler to be entered")
	stop()
	if err := testwait.Receive(t, ended, "Serve to return"); err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestServeReportsABrokenListener(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	listener.Close()
	if err := Serve(t.Context(), NewServer(nil, 0, slog.New(slog.DiscardHandler)), listener, 0); err == nil {
		t.Error("Serve on a closed listener: no error")
	}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "up 1") })
	good := health.Check{Name: "readStore", Required: true, Probe: func(context.Context) health.State { return health.State{} }}
	bad := health.Check{Name: "eventLog", Probe: func(context.Context) health.State { return health.Failed(errors.New("no broker")) }}
	worse := bad
	worse.Required = true
	operations := func(list ...health.Check) http.Handler {
		var checks health.Checks
		checks.Add(list...)
		return Operations(t.Context(), metrics, &checks, false)
	}
	profiling := Operations(t.Context(), metrics, &health.Checks{}, true)
	get := func(h http.Handler, path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	for name, test := range map[string]struct {
		handler http.Handler
		path    string
		status  int
		want    string
	}{
		"alive":           {operations(worse), "/livez", 200, `{"status":"alive"}`},
		"ready":           {operations(good), "/readyz", 200, `{"status":"ready","checks":[{"name":"readStore","required":true,"status":"pass"}]}`},
		"degraded":        {operations(good, bad), "/readyz", 200, `"status":"degraded","checks":[{"name":"readStore","required":true,"status":"pass"},{"name":"eventLog","required":false,"status":"fail","message":"no broker"}]`},
		"not ready":       {operations(good, worse), "/readyz", 503, `"status":"unavailable","checks":[{"name":"readStore","required":true,"status":"pass"},{"name":"eventLog","required":true,"status":"fail","message":"no broker"}]`},
		"metrics":         {operations(), "/metrics", 200, "up 1"},
		"profiles":        {profiling, "/debug/pprof/", 200, "goroutine"},
		"a profile":       {profiling, "/debug/pprof/goroutine?debug=1", 200, "goroutine profile"},
		"no profiles":     {operations(), "/debug/pprof/", 404, ""},
		"no profile":      {operations(), "/debug/pprof/heap", 404, ""},
		"no command line": {operations(), "/debug/pprof/cmdline", 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := get(test.handler, test.path)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("got %d %.300s, want %d with %s", status, body, test.status, test.want)
			}
		})
	}
}

func TestServerHasLimits(t *testing.T) {
	t.Parallel()
	s := NewServer(nil, time.Minute, slog.New(slog.DiscardHandler))
	for name, d := range map[string]time.Duration{
		"header": s.ReadHeaderTimeout, "read": s.ReadTimeout, "write": s.WriteTimeout, "idle": s.IdleTimeout,
	} {
		if d <= 0 {
			t.Errorf("%s timeout = %s, want more than 0", name, d)
		}
	}
	if s.MaxHeaderBytes != 32<<10 {
		t.Errorf("MaxHeaderBytes = %d, want %d", s.MaxHeaderBytes, 32<<10)
	}
}
