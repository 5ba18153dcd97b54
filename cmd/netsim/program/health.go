package program

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"netsim/fault"
	web "netsim/infra/http"
	"netsim/projections"
	"netsim/readapi"
)

// checks are what readiness depends on.
func (s *core) checks() []web.Check {
	return []web.Check{
		{Name: "eventLog", Run: func(ctx context.Context) error {
			_, err := s.journal.Describe(ctx)
			return err
		}},
		{Name: "readStore", Run: s.pool.Ping},
		{Name: "objectStore", Run: s.objects.Ping},
		{Name: "projections", Run: func(context.Context) error {
			if lag := s.lag(); lag > s.config.MaxLag {
				return fmt.Errorf("%w: %d records", errLagging, lag)
			}
			return nil
		}},
	}
}

// readiness tells the same to the clients of the API, and how those parts do
// without which the service is degraded only (completions 2.1).
func (s *core) readiness(d *domain) []readapi.Check {
	all := []readapi.Check{
		{Name: "engine", Run: func(ctx context.Context) readapi.State {
			switch attended, err := d.jobs.Attended(ctx); {
			case err != nil:
				return silent()
			case !attended:
				return readapi.State{Message: "no worker takes up simulations"}
			}
			return readapi.State{Message: d.silentEngines(ctx)}
		}},
		{Name: "billing", Run: func(ctx context.Context) readapi.State {
			rates, _, err := projections.ListRates(ctx, s.pool, projections.RateQuery{Page: projections.Page{Limit: 1}})
			switch {
			case err != nil:
				return silent()
			case len(rates) == 0:
				return readapi.State{Message: "there are no rates"}
			case s.auditKey == nil:
				return readapi.State{Message: "there is no audit key: no checkpoints are published"}
			}
			return readapi.State{}
		}},
	}
	for _, check := range s.checks() {
		all = append(all, readapi.Check{Name: check.Name, Run: func(ctx context.Context) readapi.State {
			state := readapi.State{}
			if err := check.Run(ctx); err != nil {
				state = silent()
			}
			if check.Name == "projections" {
				lag := s.lag()
				state.LagEvents = &lag
			}
			return state
		}})
	}
	return all
}

// silentEngines tells how many of the remote engines do not answer; "" when all
// do.
func (d *domain) silentEngines(ctx context.Context) string {
	urls := d.engines.URLs()
	var silent atomic.Int32
	var asked sync.WaitGroup
	for _, base := range urls {
		asked.Go(func() {
			if _, err := d.engines.Describe(ctx, base); err != nil {
				silent.Add(1)
			}
		})
	}
	asked.Wait()
	if silent.Load() == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d remote engines do not answer", silent.Load(), len(urls))
}

// silent is the state of a part that does not answer. Why is not for clients.
func silent() readapi.State { return readapi.State{Failed: true, Message: "it does not answer"} }

// lag is how many records the projector of this process has not judged.
func (s *core) lag() int64 {
	if !s.config.has(RoleProjector) {
		return 0
	}
	return s.projector.Report().LagRecords
}

// admit refuses writes whose verdict would be long in coming.
func (s *core) admit(context.Context) error {
	if s.lag() <= s.config.MaxLag {
		return nil
	}
	return &fault.Fault{
		Code: fault.Unavailable, Message: "the service is catching up; try again soon",
		RetryAfter: 2 * time.Second, Cause: errLagging,
	}
}
