package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/google/go-cmp/cmp"

	"netsim/fault"
)

func TestFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method string // default GET
		accept string
		reads  bool
		err    error
		status int
		header http.Header // headers that the response must have
		body   string
	}{
		"fault": {
			err:    fault.New(fault.Validation, "limit must be between 1 and 100, got 0"),
			status: 400,
			header: http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}},
			body:   `{"error":{"code":"VALIDATION_ERROR","message":"limit must be between 1 and 100, got 0"}}`,
		},
		"wrapped fault, cause hidden": {
			err:    fmt.Errorf("start: %w", &fault.Fault{Code: fault.Conflict, Message: "busy", Cause: errors.New("row 17")}),
			status: 409,
			body:   `{"error":{"code":"CONFLICT","message":"busy"}}`,
		},
		"another version": {
			err:    &fault.Fault{Code: fault.PreconditionFailed, Message: "another", Version: 4},
			status: 412,
			header: http.Header{"Etag": {`"4"`}},
			body:   `{"error":{"code":"PRECONDITION_FAILED","message":"another"}}`,
		},
		"plain error hidden": {
			err:    errors.New("dial 10.0.0.1: password wrong"),
			status: 500,
			body:   `{"error":{"code":"INTERNAL_ERROR","message":"internal error"}}`,
		},
		"internal fault hidden": {
			err:    fault.New(fault.Internal, "operation %q has no access rule", "X"),
			status: 500,
			body:   `{"error":{"code":"INTERNAL_ERROR","message":"internal error"}}`,
		},
		"unauthorized is a challenge": {
			err:    fault.New(fault.Unauthorized, "a bearer token is required"),
			status: 401,
			header: http.Header{"Www-Authenticate": {`Bearer realm="netsim"`}},
			body:   `{"error":{"code":"UNAUTHORIZED","message":"a bearer token is required"}}`,
		},
		"retry after is rounded up": {
			err:    &fault.Fault{Code: fault.Unavailable, Message: "m", RetryAfter: 1200 * time.Millisecond},
			status: 503,
			header: http.Header{"Retry-After": {"2"}},
			body:   `{"error":{"code":"SERVICE_UNAVAILABLE","message":"m"}}`,
		},
		"read that times out": {
			err:    fmt.Errorf("query: %w", context.DeadlineExceeded),
			status: 504,
			body:   `{"error":{"code":"GATEWAY_TIMEOUT","message":"the request took too long"}}`,
		},
		"write that times out is unknown": {
			method: http.MethodPost,
			err:    fmt.Errorf("append: %w", context.DeadlineExceeded),
			status: 503,
			header: http.Header{"Retry-After": {"1"}},
			body:   `{"error":{"code":"SERVICE_UNAVAILABLE","message":"the outcome is not known yet; repeat the request with the same idempotency key"}}`,
		},
		"POST that reads and times out": {
			method: http.MethodPost, reads: true,
			err:    fmt.Errorf("forecast: %w", context.DeadlineExceeded),
			status: 503,
			header: http.Header{"Retry-After": {"1"}},
			body:   `{"error":{"code":"SERVICE_UNAVAILABLE","message":"the request took too long"}}`,
		},
		"POST that reads during an outage": {
			method: http.MethodPost, reads: true,
			err:    fmt.Errorf("read: %w", io.ErrUnexpectedEOF),
			status: 503,
			header: http.Header{"Retry-After": {"1"}},
			body:   `{"error":{"code":"SERVICE_UNAVAILABLE","message":"the read store does not answer; repeat the request"}}`,
		},
		"read during an outage": {
			err:    fmt.Errorf("list: %w", io.ErrUnexpectedEOF),
			status: 503,
			header: http.Header{"Retry-After": {"1"}},
			body:   `{"error":{"code":"SERVICE_UNAVAILABLE","message":"the read store does not answer; repeat the request"}}`,
		},
		"write during an outage is unknown": {
			method: http.MethodPost,
			err:    fmt.Errorf("read: %w", io.ErrUnexpectedEOF),
			status: 503,
			header: http.Header{"Retry-After": {"1"}},
			body:   `{"error":{"code":"SERVICE_UNAVAILABLE","message":"the outcome is not known yet; repeat the request with the same idempotency key"}}`,
		},
		"body too large": {
			method: http.MethodPost,
			err:    fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 8}),
			status: 413,
			body:   `{"error":{"code":"PAYLOAD_TOO_LARGE","message":"the request body is larger than 8 bytes"}}`,
		},
		"problem details": {
			accept: "application/problem+json",
			err:    fault.New(fault.NotFound, "no simulation"),
			status: 404,
			header: http.Header{"Content-Type": {"application/problem+json"}, "Vary": {"Accept"}},
			body:   `{"type":"about:blank","title":"Not Found","status":404,"detail":"no simulation","code":"NOT_FOUND"}`,
		},
		"head": {
			method: http.MethodHead,
			err:    fault.New(fault.NotFound, "no"),
			status: 404,
			header: http.Header{"Content-Type": {"application/json"}, "Content-Length": {"46"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.method == "" {
				test.method = http.MethodGet
			}
			r := httptest.NewRequestWithContext(t.Context(), test.method, "/x?secret=1", nil)
			r.Header.Set("Accept", test.accept)
			r.Header.Set("X-Request-Id", "r1")
			w := httptest.NewRecorder()
			w.Header().Set("ETag", `"1"`)
			Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				outage := func(err error) string {
					if errors.Is(err, io.ErrUnexpectedEOF) {
						return "the read store does not answer; repeat the request"
					}
					return ""
				}
				changes := func(*http.Request) bool { return !test.reads }
				Errors{Log: slog.New(slog.DiscardHandler), Outage: outage, Changes: changes}.Fail(w, r, test.err)
			})).ServeHTTP(w, r)

			if w.Code != test.status {
				t.Errorf("status = %d, want %d", w.Code, test.status)
			}
			if diff := cmp.Diff(test.body, strings.TrimSuffix(w.Body.String(), "\n")); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			for key := range test.header {
				if diff := cmp.Diff(test.header[key], w.Header()[key]); diff != "" {
					t.Errorf("header %s (-want +got):\n%s", key, diff)
				}
			}
			if got, want := w.Header().Get("ETag"), test.header.Get("ETag"); got != want {
				t.Errorf("the error has the ETag %q, want %q: not that of the unsent response", got, want)
			}
		})
	}
}

func TestFailKeepsAMorePreciseChallenge(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	Errors{Log: slog.New(slog.DiscardHandler)}.Fail(w, r, fault.New(fault.Unauthorized, "the bearer token is expired"))
	if got := w.Header().Values("WWW-Authenticate"); !cmp.Equal(got, []string{`Bearer error="invalid_token"`}) {
		t.Errorf("challenge %q, want the one that was set before", got)
	}
}

func TestFailLogsInternalErrorsOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	errs := Errors{Log: slog.New(slog.NewTextHandler(&out, nil))}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x?token=hush", nil)
	errs.Fail(httptest.NewRecorder(), r, errors.New("disk on fire"))
	errs.Fail(httptest.NewRecorder(), r, fault.New(fault.NotFound, "no"))
	if got := strings.Count(out.String(), "\n"); got != 1 || !strings.Contains(out.String(), "disk on fire") {
		t.Errorf("log:\n%swant one line, with the internal error", &out)
	}
	if strings.Contains(out.String(), "hush") {
		t.Errorf("log shows the query:\n%s", &out)
	}
}

func TestFailCutsAResponseThatHasBegun(t *testing.T) {
	t.Parallel()
	w := middleware.NewWrapResponseWriter(httptest.NewRecorder(), 1)
	w.WriteHeader(http.StatusOK)
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v, want %v", p, http.ErrAbortHandler)
		}
	}()
	Errors{Log: slog.New(slog.DiscardHandler)}.Fail(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), errors.New("late"))
}

func TestWantsProblem(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"":                         false,
		"*/*":                      false,
		"application/*":            false,
		"application/json":         false,
		"text/html":                false,
		"application/problem+json": true,
		"Application/Problem+JSON": true,
		"application/json, application/problem+json":                 true,
		"application/problem+json;q=0.5, application/json":           false,
		"application/problem+json;q=0.5, application/json;q=0.4":     true,
		"application/problem+json;q=0":                               false,
		"application/problem+json;q=x":                               false,
		"application/problem+json;q=2":                               false,
		"application/problem+json;q=NaN":                             false,
		"application/problem+json; charset=utf-8; Q=1.0":             true,
		"application/problem+json-not":                               false,
		"application/problem+json, */*;q=0.1":                        true,
		strings.Repeat("text/x,", 1000) + "application/problem+json": false,
		"application/problem+json;q=0.001, application/json;q=0.002": false,
	} {
		if got := wantsProblem([]string{accept}); got != want {
			t.Errorf("wantsProblem(%.80q) = %t, want %t", accept, got, want)
		}
	}
	if !wantsProblem([]string{"text/html", "application/problem+json"}) {
		t.Error("wantsProblem with problem details in the second Accept line = false, want true")
	}
}
