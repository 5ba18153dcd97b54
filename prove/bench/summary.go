package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/projections"
)

// year is a year of daily costs of one account, in the form of the costs projection.
// Each item has a cost on every day. The items have three rates and are in twenty
// workspaces.
type year struct {
	account    string
	workspaces []string
	first      time.Time
	days       int
	items      int
}

func newYear(account string, costs int) year {
	y := year{account: account, first: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), days: 365}
	y.items = max(costs/y.days, 1)
	for range 20 {
		y.workspaces = append(y.workspaces, events.NewID(events.WorkspacePrefix))
	}
	return y
}

// seed writes the year into the read model's tables with SQL, because writing it
// through the log takes hours. A test compares the rows with the projection's.
func (y year) seed(ctx context.Context, db *pgxpool.Pool) error {
	days, within := errgroup.WithContext(ctx)
	days.SetLimit(2)
	for day := range y.days {
		days.Go(func() error { return y.seedDay(within, db, day) })
	}
	if err := days.Wait(); err != nil {
		return err
	}
	_, err := db.Exec(ctx, `
		INSERT INTO cost_totals (account_id, period, currency, rate_name, workspace_id, total)
		SELECT account_id, span, currency, rate_name, workspace_id, trim_scale(sum(cost::numeric))
		FROM daily_costs, LATERAL (VALUES (date), (left(date, 9)), (left(date, 7))) AS of (span) WHERE account_id = $1
		GROUP BY account_id, span, currency, rate_name, workspace_id`, y.account)
	if err != nil {
		return fmt.Errorf("seed the sums: %w", err)
	}
	_, err = db.Exec(ctx, `
		INSERT INTO balances (account_id, currency, credits, debits, updated_at)
		SELECT account_id, currency, 0, trim_scale(sum(cost::numeric)), max(rated_at) FROM daily_costs
		WHERE account_id = $1 GROUP BY account_id, currency
		ON CONFLICT (account_id, currency) DO UPDATE
		SET debits = balances.debits + excluded.debits, updated_at = greatest(balances.updated_at, excluded.updated_at)`, y.account)
	if err != nil {
		return fmt.Errorf("seed the balance: %w", err)
	}
	return nil
}

// seedDay writes the costs of one day.
func (y year) seedDay(ctx context.Context, db *pgxpool.Pool, day int) error {
	date := y.first.AddDate(0, 0, day)
	_, err := db.Exec(ctx, `
		INSERT INTO daily_costs (slot, id, account_id, item_id, item_name, date, rate_id, rate_name, rate_amount, cost, currency,
			quantity, workspace_id, sandbox_id, user_id, segments, day_price, unit_days, period, tier_start, tier_end,
			engine_version, first_event_id, last_event_id, version, supersedes, correction_of, rated_at)
		SELECT i || '/' || $2 || '/' || i % 3 + 1, $4::bigint * $5 + i, $1, i, 'item ' || i, $2, i % 3 + 1,
			(ARRAY['cluster', 'storage', 'workspace'])[i % 3 + 1], '1', i % 9 + 1 || '.5', 'CREDIT',
			1, ($6::text[])[i % 20 + 1], '', 'developer',
			'[{"from":"' || $2 || 'T00:00:00Z","to":"' || $3 || 'T00:00:00Z","units":1,"fraction":"1","count":1}]',
			'1', i % 9 + 1 || '.5', 'day', 0, 0, 'rating-1', i, i, 1, 0, 0, $3::text::timestamptz
		FROM generate_series(1, $5::bigint) AS i`,
		y.account, date.Format(time.DateOnly), date.AddDate(0, 0, 1).Format(time.DateOnly), day, y.items, y.workspaces)
	if err != nil {
		return fmt.Errorf("seed the costs of %s: %w", date.Format(time.DateOnly), err)
	}
	return nil
}

// summaries measures the cost summary of a year of whole months, of days within a
// month, and of a period that begins and ends in the middle of months.
func (b *bench) summaries(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	serving, err := s.serve(ctx, "api,projector")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	y := newYear(devissuer.DefaultAccount, b.costs)
	say("writing %d daily costs", y.days*y.items)
	if err := y.seed(ctx, s.pool); err != nil {
		return err
	}
	if _, err := s.pool.Exec(ctx, "VACUUM ANALYZE daily_costs, cost_totals, balances"); err != nil {
		return err
	}
	empty, err := s.emptyLimit(ctx, 1, "GET", nil, b.limit)
	if err != nil {
		return err
	}
	for _, k := range []struct{ what, start, end string }{
		{"of a year of whole months", "2025-01-01", "2025-12-31"},
		{"within a month", "2025-03-05", "2025-03-24"},
		{"from the middle of a month to the middle of another", "2025-01-12", "2025-12-17"},
	} {
		alone, err := s.sumLimit(ctx, y.account, k.start, k.end, b.limit)
		if err != nil {
			return err
		}
		conns, hangUp, err := serving.dial(1)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("summary %s, of %s", k.what, plural(y.days*y.items, "daily cost"))
		path := "/api/v1/billing/costs/summary?startDate=" + k.start + "&endDate=" + k.end
		got, costs, err := b.under(ctx, s, services{serving}, name, plan{warm: b.warm, run: b.run}, each(conns, func(_ int, c *conn) client {
			return client{do: func() error {
				_, err := c.want(http.StatusOK, "GET", path, nil)
				return err
			}}
		}))
		hangUp()
		if err != nil {
			return err
		}
		f := of(name, got, "p99 ≤ 2 ms")
		f.CPU = costs
		b.report.add(f, alone, empty)
	}
	return nil
}

// sumLimit measures how often per second PostgreSQL answers the query alone.
func (s *stack) sumLimit(ctx context.Context, account, start, end string, d time.Duration) (limit, error) {
	from, err := time.Parse(time.DateOnly, start)
	if err != nil {
		return limit{}, err
	}
	to, err := time.Parse(time.DateOnly, end)
	if err != nil {
		return limit{}, err
	}
	rate, err := repeat(ctx, d, func() (int, error) {
		_, err := projections.SumCosts(ctx, s.pool, account, from, to)
		return 1, err
	})
	return limit{Name: "the query alone", Value: rate}, err
}
