package telemetry

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// scrape returns the body of a scrape's response.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("scrape: status %d, want 200: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func has(t *testing.T, m *Metrics, lines ...string) {
	t.Helper()
	text := scrape(t, m)
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("the scrape has no line with the prefix %q", line)
		}
	}
}

func hasNot(t *testing.T, m *Metrics, part string) {
	t.Helper()
	if text := scrape(t, m); strings.Contains(text, part) {
		t.Errorf("the scrape has %q, want it absent", part)
	}
}

// A process exposes the metrics of its roles and drops the others.
func TestMetricsOfARole(t *testing.T) {
	t.Parallel()
	m := NewMetrics(Build{Version: "v1", Commit: "abc", Go: "go1"}, []string{RoleReactor}, time.Now)
	m.Counter("netsim_reactions_total")(2, "billing", "done")
	m.Histogram("netsim_reaction_duration_seconds")(.003, "billing")
	m.Counter("netsim_http_refused_total")(1, "read", "RATE_LIMITED") // belongs to the role api
	m.Sample(func(emit Emit) {
		emit("netsim_verdicts_waiting", 3)
		emit("netsim_streams_open", 4) // belongs to the role api
	}, "netsim_verdicts_waiting", "netsim_streams_open")
	has(t, m, `netsim_build_info{commit="abc",go="go1",version="v1"} 1`, "go_goroutines ", "process_resident_memory_bytes ",
		`netsim_reactions_total{handler="billing",outcome="done"} 2`, `netsim_reaction_duration_seconds_bucket{handler="billing",le="0.004"} 1`,
		"netsim_verdicts_waiting 3")
	hasNot(t, m, "netsim_http_")
	hasNot(t, m, "netsim_streams_")
}

// Concurrent scrapes share one run of a query, and its result is cached for queryAge.
func TestAQueryIsCachedAndRunsOnceAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMetrics(Build{}, []string{RoleWorker}, time.Now)
		var runs, running atomic.Int64
		m.Query("runs", func(_ context.Context, emit Emit) error {
			if running.Add(1) > 1 {
				t.Error("two runs of the query at a time, want one")
			}
			defer running.Add(-1)
			<-time.After(time.Second)
			emit("netsim_runs", float64(runs.Add(1)), "local", "running")
			return nil
		}, "netsim_runs")
		const line = `netsim_runs{engine="local",state="running"} `
		go m.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		has(t, m, line+"1")
		has(t, m, line+"1")
		<-time.After(queryAge)
		has(t, m, line+"2")
		synctest.Wait()
		if n := runs.Load(); n != 2 {
			t.Errorf("the query ran %d times, want 2", n)
		}
	})
}

// When a query fails or does not return in time, its metrics are missing from the
// scrape and the failure is counted.
func TestAQueryThatFailsIsCounted(t *testing.T) {
	t.Parallel()
	const noErrors = `netsim_collector_errors_total{collector="jobs"} 0`
	for name, fail := range map[string]func(ctx context.Context) error{
		"fails":     func(context.Context) error { return errors.New("no database") },
		"timed out": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"hangs":     func(context.Context) error { <-time.After(time.Hour); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := NewMetrics(Build{}, []string{RoleWorker}, time.Now)
				working := atomic.Bool{}
				working.Store(true)
				m.Query("jobs", func(ctx context.Context, emit Emit) error {
					emit("netsim_jobs", 7, "run_simulation", "running")
					if working.Load() {
						return nil
					}
					return fail(ctx)
				}, "netsim_jobs")
				has(t, m, `netsim_jobs{kind="run_simulation",state="running"} 7`, noErrors)
				working.Store(false)
				<-time.After(queryAge)
				began := time.Now()
				hasNot(t, m, "netsim_jobs{")
				if took := time.Since(began); took > scrapeWait {
					t.Errorf("the scrape took %v, want at most %v", took, scrapeWait)
				}
				synctest.Wait()
				hasNot(t, m, noErrors)
				<-time.After(2 * time.Hour) // the hanging query ends before the bubble
			})
		})
	}
}

func TestDocumentIsUpToDate(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != Document() {
		t.Error("docs/metrics.md is out of date; run go generate ./infra/telemetry")
	}
}
