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

// TestReport: what fails decides whether the process is degraded or
// unavailable.
func TestReport(t *testing.T) {
	t.Parallel()
	well, warns, fails := health.State{}, health.State{Message: "behind"}, health.Failed(errors.New("refused by 10.0.0.7"))
	for name, c := range map[string]struct {
		required, other health.State
		want            health.Overall
	}{
		"all well":                   {well, well, health.Ready},
		"a required part warns":      {warns, well, health.Degraded},
		"a required part fails":      {fails, well, health.Unavailable},
		"a part that helps warns":    {well, warns, health.Degraded},
		"a part that helps fails":    {well, fails, health.Degraded},
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
					t.Errorf("clients are shown %q", r.Message)
				}
			}
		})
	}
}

// TestProbesThatHang: a report ends in time, names what does not answer, and
// does not start another probe beside one that hangs.
func TestProbesThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int32
		answer := make(chan struct{})
		var checks health.Checks
		checks.Add(
			health.Check{Name: "deaf", Required: true, Probe: func(context.Context) health.State {
				started.Add(1)
				<-answer // as a library that ignores the context
				return health.State{}
			}},
			health.Check{Name: "slow", Probe: func(ctx context.Context) health.State {
				<-ctx.Done()
				return health.Failed(ctx.Err())
			}},
			health.Check{Name: "well", Probe: func(context.Context) health.State { return health.State{} }},
		)
		for range 5 {
			began := time.Now()
			report := checks.Report(t.Context())
			if took := time.Since(began); took > health.Timeout {
				t.Errorf("a report took %v", took)
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
			t.Errorf("after it answered: %s, %d probes", r.Status, started.Load())
		}
	})
}

// TestAskersShareAProbe: a crowd costs one probe, and an asker that leaves does
// not end it for the others.
func TestAskersShareAProbe(t *testing.T) {
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
		first, leave := context.WithCancel(t.Context())
		go checks.Report(first)
		synctest.Wait()
		reports := make(chan health.Report, 100)
		for range cap(reports) {
			go func() { reports <- checks.Report(t.Context()) }()
		}
		synctest.Wait()
		leave()
		for range cap(reports) {
			if r := <-reports; r.Status != health.Ready {
				t.Fatalf("%+v", r)
			}
		}
		if n := started.Load(); n != 1 {
			t.Errorf("%d probes, want 1", n)
		}
	})
}
