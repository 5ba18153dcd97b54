package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"netsim/events"
	"netsim/infra/projector"
)

// accrualLimit ends the measurement when the service does not end the work.
const accrualLimit = 15 * time.Minute

// accounts is the number of accounts that own the items.
const accounts = 100

// accrual measures the nightly accrual for a day with many active items, from the
// start of the job until every cost is in the read model. One process has all roles.
// The items are opened through the log and projected before the measurement.
func (b *bench) accrual(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, accrualLimit, fmt.Errorf("the accrual took longer than %s", accrualLimit))
	defer cancel()
	s, err := b.startStack(ctx, servers{sync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	yesterday := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
	if err := s.openItems(ctx, b.items, yesterday); err != nil {
		return err
	}
	serving, err := s.serve(ctx, allRoles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	name := fmt.Sprintf("nightly accrual of %s", plural(b.items, "active item"))
	profiled := make(chan error, 1)
	go func() { profiled <- b.profile(ctx, serving.ops, name, 4*b.run) }()
	before := s.cpu(serving.process)
	took, err := s.awaitAccrual(ctx, yesterday)
	if err != nil {
		return errors.Join(err, serving.complaint())
	}
	costs := s.since(before, b.items, serving.process)
	if err := errors.Join(<-profiled, s.checkAccrual(ctx, b.items, yesterday)); err != nil {
		return err
	}
	produced, err := s.produceLimit(ctx, 2048, partitions, b.limit)
	if err != nil {
		return err
	}
	copied, err := s.copyLimit(ctx, "daily_costs", 8192, b.limit)
	b.report.add(figure{Name: name, Value: took.Seconds(), Unit: " s", Reach: "≤ 30 s"})
	b.report.add(figure{
		Name: "costs of that accrual", Value: float64(b.items) / took.Seconds(), Unit: "/s", Reach: "≥ 33,300/s", CPU: costs,
	}, produced, copied)
	return err
}

// openItems appends facts that open items of one storage unit each at different times
// of the day, and waits until the facts are projected.
func (s *stack) openItems(ctx context.Context, count int, day time.Time) (err error) {
	serving, err := s.serve(ctx, "api,projector")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	j, err := s.openEventLog(ctx)
	if err != nil {
		return err
	}
	defer j.Close()
	before, err := s.judged(ctx)
	if err != nil {
		return err
	}
	say("opening %d items", count)
	if _, err := appendAll(ctx, j, openedItems(count, day)); err != nil {
		return err
	}
	if err := s.awaitJudged(ctx, before+int64(count)); err != nil {
		return err
	}
	return s.allFacts(ctx, projector.Live)
}

func openedItems(count int, day time.Time) iter.Seq2[fact, error] {
	return func(yield func(fact, error) bool) {
		streams, workspaces := make([]*stream, accounts), make([]string, accounts)
		for i := range streams {
			streams[i], workspaces[i] = newStream(events.AccountPrefix, ""), events.NewID(events.WorkspacePrefix)
		}
		for n := range count {
			s := streams[n%accounts]
			at := day.Add(time.Duration(n) * (20 * time.Hour / time.Duration(count))).Truncate(time.Millisecond)
			m, err := s.next(events.UsageRecorded{
				BillingEventID: int64(n + 1), BillingItemID: int64(n + 1), Meter: "storage", Action: "start", RateName: "storage",
				ItemName: fmt.Sprintf("nightly %d", n), CurrentCount: 1, BillableCount: int64(n/accounts + 1),
				WorkspaceID: workspaces[n%accounts], UserID: "developer", ResourceType: "results",
				ResourceID: events.NewID(events.SimulationPrefix), CauseType: "netsim.simulation.results_published.v1",
				SizeBytes: 48_213, OccurredAt: at,
			}, at)
			if !yield(fact{s, m}, err) || err != nil {
				return
			}
		}
	}
}

// awaitAccrual waits until the accrual of the day has ended and returns its duration.
func (s *stack) awaitAccrual(ctx context.Context, day time.Time) (took time.Duration, err error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var seconds *float64
		err := s.pool.QueryRow(ctx, `
			SELECT extract(epoch FROM max(finalized_at) - min(attempted_at))::float8 FROM jobs.river_job
			WHERE kind = 'accrue_day' AND args->>'date' = $1 AND state = 'completed'`, day.Format(time.DateOnly)).Scan(&seconds)
		if err != nil {
			return 0, err
		}
		if seconds != nil {
			return time.Duration(*seconds * float64(time.Second)), nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// checkAccrual checks that every item has a cost, and that the totals match the costs.
func (s *stack) checkAccrual(ctx context.Context, count int, day time.Time) error {
	var rows int
	var equal bool
	err := s.pool.QueryRow(ctx, `
		SELECT count(*), coalesce(sum(cost::numeric) = (SELECT sum(total) FROM cost_totals WHERE period = $1) AND min(date) = $1, false)
		FROM daily_costs`, day.Format(time.DateOnly)).Scan(&rows, &equal)
	if err == nil && (rows != count || !equal) {
		err = fmt.Errorf("%d items have %d costs, and totals match costs: %t", count, rows, equal)
	}
	return err
}
