package health_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/infra/health"
)

// A failed required check makes the process unavailable. Any other failure or
// warning makes it degraded.
func TestReport(t *testing.T) {
	t.Parallel()
	well, warns, fails := health.State{}, health.State{Message: "behind"}, health.Failed(errors.New("refused by 10.0.0.7"))
	for name, c := range map[string]struct {
		required, other health.State
		want            health.Overall
	}{
		"both pass":                  {well, well, health.Ready},
		"a required part warns":      {warns, well, health.Degraded},
		"a required part fails":      {fails, well, health.Unavailable},
		"an optional part warns":     {well, warns, health.Degraded},
		"an optional part fails":     {well, fails, health.Degraded},
		"one warns, the other fails": {warns, fails, health.Degraded},
		"both fail":                  {fails, fails, health.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var checks health.Checks
			checks.Add(
				health.Check{Name: "a", Required: true, Probe: func(context.Context) health.State { return c.required }},
				health.Check{Name: "b", Probe: func(context.Context) health.State { return c.other }},
			)
			report := checks.Report(t.Context())
			if diff := cmp.Diff(c.want, report.Status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			for _, r := range report.Results {
				if r.Status == health.Fail && r.Message != "it does not answer" {
					t.Errorf("message for clients = %q, want no detail of the error", r.Message)
				}
			}
		})
	}
}

// When a probe hangs, a report still ends in time and reports the check as failed.
// Later reports do not start a second probe beside it.
func TestProbesThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int32
		answer := make(chan struct{})
		var checks health.Checks
		checks.Add(
			health.Check{Name: "hanging", Required: true, Probe: func(context.Context) health.State {
				started.Add(1)
				<-answer // like a library that ignores the context
				return health.State{}
			}},
			health.Check{Name: "slow", Probe: func(ctx context.Context) health.State {
				<-ctx.Done()
				return health.Failed(ctx.Err())
			}},
			health.Check{Name: "passing", Probe: func(context.Context) health.State { return health.State{} }},
		)
		for range 5 {
			began := time.Now()
			report := checks.Report(t.Context())
			if took := time.Since(began); took > health.Timeout {
				t.Errorf("a report took %v, want at most %v", took, health.Timeout)
			}
			var got []health.Status
			for _, r := range report.Results {
				got = append(got, r.Status)
			}
			if diff := cmp.Diff([]health.Status{health.Fail, health.Fail, health.Pass}, got); diff != "" {
				t.Errorf("checks (-want +got):\n%s", diff)
			}
		}
		if n := started.Load(); n != 1 {
			t.Errorf("%d probes of a part that hangs were started, want 1", n)
		}
		close(answer)
		synctest.Wait()
		if r := checks.Report(t.Context()).Results[0]; r.Status != health.Pass || started.Load() != 2 {
			t.Errorf("after the probe returned: %s, %d probes started; want pass and 2", r.Status, started.Load())
		}
	})
}

// Concurrent reports share one probe, which continues when the caller that started
// it cancels.
func TestConcurrentReportsShareAProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int32
		var checks health.Checks
		checks.Add(health.Check{Name: "a", Probe: func(ctx context.Context) health.State {
			started.Add(1)
			select {
			case <-time.After(time.Second):
				return health.State{}
			case <-ctx.Done():
				return health.Failed(ctx.Err())
			}
		}})
		first, cancel := context.WithCancel(t.Context())
		go checks.Report(first)
		synctest.Wait()
		reports := make(chan health.Report, 100)
		for range cap(reports) {
			go func() { reports <- checks.Report(t.Context()) }()
		}
		synctest.Wait()
		cancel()
		for range cap(reports) {
			if r := <-reports; r.Status != health.Ready {
				t.Fatalf("report = %+v, want ready", r)
			}
		}
		if n := started.Load(); n != 1 {
			t.Errorf("%d probes, want 1", n)
		}
	})
}
