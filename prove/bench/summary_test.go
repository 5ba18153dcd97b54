package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/projections"
)

// TestSeededYearEqualsTheProjection: the rows that the bench writes with SQL equal the
// rows that the projection makes from the facts.
func TestSeededYearEqualsTheProjection(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), teststack.Postgres(t)
	y := newYear("acct_00000000000000000000000001", 365*60)
	y.days = 40 // more than a month
	seeded, projected := costTables(t, url, "seeded"), costTables(t, url, "projected")
	if err := y.seed(ctx, seeded); err != nil {
		t.Fatal(err)
	}
	p := projections.NewCosts()
	var facts []events.Fact
	for day := range y.days {
		for item := range y.items {
			facts = append(facts, y.fact(day, item+1))
		}
	}
	reads, writes := &pgx.Batch{}, &columns.Writes{}
	p.Load(reads, facts)
	if err := p.Apply(writes, facts); err != nil {
		t.Fatal(err)
	}
	if err := writes.Send(ctx, projected); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"daily_costs", "cost_totals", "balances"} {
		if diff := cmp.Diff(rowsOf(ctx, t, projected, table), rowsOf(ctx, t, seeded, table)); diff != "" {
			t.Errorf("%s (-projection +bench):\n%.2000s", table, diff)
		}
	}
}

// costTables creates the projection's tables in a schema.
func costTables(t *testing.T, url, schema string) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), url, schema, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), fmt.Sprintf("CREATE SCHEMA %s; %s", schema, projections.NewCosts().Schema())); err != nil {
		t.Fatal(err)
	}
	return pool
}

func (y year) fact(day, item int) events.Fact {
	date := y.first.AddDate(0, 0, day)
	next := date.AddDate(0, 0, 1)
	cost := fmt.Sprintf("%d.5", item%9+1)
	return events.Fact{Event: events.Event{Frame: events.Frame{Stream: y.account, Time: next}, Data: events.DailyCostRated{
		DailyCostID: int64(day*y.items + item), BillingItemID: int64(item), ItemName: fmt.Sprint("item ", item),
		Date: date.Format(time.DateOnly), RateID: int64(item%3 + 1), RateName: []string{"cluster", "storage", "workspace"}[item%3],
		RateAmount: "1", Cost: cost, Currency: "CREDIT", Quantity: 1, WorkspaceID: y.workspaces[item%20], UserID: "developer",
		Segments: []events.CostSegment{{From: date, To: next, Units: 1, Fraction: "1", Count: 1}},
		DayPrice: "1", UnitDays: cost, Period: "day", EngineVersion: "rating-1",
		FirstEventID: int64(item), LastEventID: int64(item), Version: 1,
	}}}
}

// rowsOf renders the rows of a table, in order.
func rowsOf(ctx context.Context, t *testing.T, db *pgxpool.Pool, table string) []string {
	t.Helper()
	rows, err := db.Query(ctx, fmt.Sprintf("SELECT r::text FROM %s AS r ORDER BY 1", table))
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(out) == 0 {
		t.Fatalf("%s: %d rows, %v", table, len(out), err)
	}
	return out
}
