//go:build tools

package lake_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/rating"
	"netsim/stream/lake"
)

// The costs in the lake are those of the API, to the last digit: later versions replace
// earlier ones, also late ones of an earlier day, and corrections count beside what they
// correct.
func TestCostsEqualTheBooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := run(t, lake.New(w.config()))
	accounts := []string{events.NewID(events.AccountPrefix), events.NewID(events.AccountPrefix)}
	id := int64(0)
	for a, account := range accounts {
		book := func(change func(*events.DailyCostRated)) {
			id++
			r := events.DailyCostRated{
				DailyCostID: id, BillingItemID: int64(10 * (a + 1)), ItemName: "item", Date: "2026-04-15", RateID: 1, RateName: "cluster",
				RateAmount: "10", Cost: "0.027777777777777778", Currency: "CREDIT", Quantity: 1, WorkspaceID: events.DefaultWorkspace,
				DayPrice: "1", UnitDays: "1", Period: "day", EngineVersion: "rating-2", Version: 1,
				Segments: []events.CostSegment{},
			}
			change(&r)
			testworld.In[commands.Account](t, w.World, account, account, commands.RecordDailyCost{Rated: r})
		}
		book(func(*events.DailyCostRated) {})
		book(func(r *events.DailyCostRated) { r.Date = "2026-04-16" })
		book(func(r *events.DailyCostRated) {
			r.Version, r.PreviousCost, r.Supersedes, r.Cost = 2, "0.027777777777777778", id-2, "12345678901234567890.000000000000000001"
		})
		book(func(r *events.DailyCostRated) {
			r.RateID, r.RateName, r.Cost, r.WorkspaceID = 2, "storage", "0.000000000000000001", ""
		})
		book(func(r *events.DailyCostRated) { r.Date, r.CorrectionOf, r.Cost = "2026-05-01", 2, "-0.5" })
		book(func(r *events.DailyCostRated) { r.Date, r.CorrectionOf, r.Cost = "2026-05-01", 2, "0.25" })
		book(func(r *events.DailyCostRated) { r.Currency, r.RateID, r.Cost = "USD", 3, "1.1" })
	}
	w.await(t)
	stop()
	duck := w.attach(t)
	w.requireFacts(t, duck)
	for _, account := range accounts {
		sums, err := projections.SumCosts(t.Context(), w.DB, account, day(t, "2026-04-01"), day(t, "2026-05-31"))
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]string{}, map[string]string{}
		for _, s := range sums {
			key := s.Currency
			if s.RateName != nil {
				key += " rate " + *s.RateName
			}
			if s.WorkspaceID != nil {
				key += " workspace " + *s.WorkspaceID
			}
			want[key] = plain(t, s.Total)
		}
		for _, row := range duck.Query(t, fmt.Sprintf(`SELECT currency || coalesce(' rate ' || rate_name, '') || coalesce(' workspace ' || workspace_id, ''), sum(cost)
			FROM (SELECT * REPLACE (coalesce(workspace_id, '') AS workspace_id) FROM lake.daily_costs WHERE account_id = '%s')
			GROUP BY GROUPING SETS ((currency), (currency, rate_name), (currency, workspace_id))`, account)) {
			got[row[0]] = plain(t, row[1])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the sums (-books +lake):\n%s", diff)
		}
		rows, _, err := projections.ListDailyCosts(t.Context(), w.DB, projections.DailyCostQuery{
			BillingFilter: projections.BillingFilter{AccountID: account, Page: projections.Page{Limit: 100}}, StartDate: "2026-04-01", EndDate: "2026-05-31",
		})
		if err != nil {
			t.Fatal(err)
		}
		var books [][]string
		for _, r := range rows {
			books = append(books, []string{fmt.Sprint(r.Row.DailyCostID), plain(t, r.Row.Cost), r.Row.Date, r.Row.RateName, fmt.Sprint(r.Row.Version)})
		}
		lines := duck.Query(t, `SELECT daily_cost_id, cost, date, rate_name, version FROM lake.cost_lines WHERE account_id = '`+account+`' ORDER BY date, daily_cost_id`)
		for _, line := range lines {
			line[1] = plain(t, line[1])
		}
		if diff := cmp.Diff(books, lines); diff != "" {
			t.Errorf("the lines (-books +lake):\n%s", diff)
		}
	}
}

func day(t testing.TB, text string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// plain returns a decimal in canonical form.
func plain(t testing.TB, amount string) string {
	t.Helper()
	text, err := rating.Add(amount, "0")
	if err != nil {
		t.Fatal(err)
	}
	return text
}
