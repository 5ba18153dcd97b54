package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
)

// lines is a log handler that stores the log lines of requests.
type lines struct {
	slog.Handler
	mu  sync.Mutex
	all []string
}

// Handle implements slog.Handler.
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "request" {
		return nil
	}
	var line strings.Builder
	r.Attrs(func(a slog.Attr) bool { line.WriteString(a.String() + " "); return true })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line.String())
	return nil
}

// Every request has one log line, however it ends.
func TestEveryRequestHasOneLogLine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handle func(http.ResponseWriter, *http.Request)
		want   string
	}{
		"answered":    {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "thing") }, "status=200 bytes=5 "},
		"panics":      {func(http.ResponseWriter, *http.Request) { panic("boom") }, "status=500 code=INTERNAL_ERROR "},
		"cut off":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "status=0 "},
		"panics late": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "begun"); panic("boom") }, "status=200 code=INTERNAL_ERROR "},
		"cancelled": {func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			Errors{Log: slog.New(slog.DiscardHandler)}.Fail(w, r, r.Context().Err())
		}, "status=504 code=GATEWAY_TIMEOUT "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &lines{Handler: slog.NewTextHandler(io.Discard, nil)}
			router := chi.NewRouter()
			router.Use(Identify, Observer{Log: slog.New(log), Metrics: &Metrics{}, Now: time.Now}.Observe, Recover(Errors{Log: slog.New(slog.DiscardHandler)}.Fail))
			router.Get("/things/{id}", test.handle)
			ctx, cancel := context.WithCancel(t.Context())
			if name == "cancelled" {
				cancel()
			}
			defer cancel()
			func() {
				defer func() { recover() }() //nolint:errcheck // the server cuts the connection
				router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/things/7", nil))
			}()
			if len(log.all) != 1 || !strings.Contains(log.all[0], "route=/things/{id} "+test.want) {
				t.Errorf("lines %q, want one with %q", log.all, test.want)
			}
		})
	}
}

// While traces are off, a request allocates nothing for them.
func TestNoTraceAllocatesNothing(t *testing.T) {
	o, r := Observer{}, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	n := testing.AllocsPerRun(100, func() {
		r, span := o.trace(r)
		if traceID(r, span) != "" {
			t.Error("the request has a trace id, want none")
		}
		endSpan(r.Context(), span, &exchange{})
	})
	if n != 0 {
		t.Errorf("%g allocations without a trace, want 0", n)
	}
}
