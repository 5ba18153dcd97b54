package projections_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/events"
	"netsim/projections"
)

var billingTables = []string{
	"billing_items", "billing_events", "daily_costs", "cost_totals", "balances", "credit_holds", "rates",
}

func billingProjections() []projections.Projection {
	return []projections.Projection{
		projections.NewUsage(), projections.NewCosts(), projections.NewHolds(), projections.NewRates(),
	}
}

// anyBilling draws billing facts of two accounts and a price list.
func anyBilling(t *rapid.T) []events.Fact {
	var facts []events.Fact
	noon := time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC)
	amount := rapid.StringMatching(`[0-9]{1,4}(\.[0-9]{1,18})?`)
	sequences, opened := map[string]int64{}, map[int64]string{}
	costs, closed := map[string]events.DailyCostRated{}, map[int64]bool{}
	for i := range int64(rapid.IntRange(1, 40).Draw(t, "facts")) {
		stream := fmt.Sprintf("acct_%d", rapid.IntRange(1, 2).Draw(t, "account"))
		var data events.Data
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0, 1:
			item := rapid.Int64Range(1, 4).Draw(t, "item")
			u := events.UsageRecorded{
				BillingEventID: i + 1, BillingItemID: item, Meter: "storage", Action: "start", RateName: "storage",
				CurrentCount: rapid.Int64Range(0, 9).Draw(t, "units"), OccurredAt: noon.Add(time.Duration(i) * time.Minute),
			}
			if owner := opened[item]; owner != "" {
				stream, u.Action = owner, rapid.SampledFrom([]string{"update", "stop"}).Draw(t, "action")
			}
			if closed[item] {
				continue
			}
			opened[item], closed[item] = stream, u.Action == "stop"
			data = u
		case 2:
			data = events.CreditGranted{Amount: amount.Draw(t, "credit"), Currency: rapid.SampledFrom([]string{"CREDIT", "USD"}).Draw(t, "currency")}
		case 3:
			data = events.CreditHeld{SimulationID: stream + "sim", Amount: amount.Draw(t, "held"), Currency: "CREDIT", ExpiresAt: noon}
		case 4:
			data = events.CreditReleased{SimulationID: stream + "sim"}
		case 5:
			d := events.DailyCostRated{
				DailyCostID: i + 1, BillingItemID: rapid.Int64Range(1, 3).Draw(t, "rated item"), Date: "2026-04-15", RateID: 1,
				RateName: "storage", Cost: amount.Draw(t, "cost"), Currency: "CREDIT", WorkspaceID: "workspace_1", Version: 1,
			}
			key := fmt.Sprint(stream, d.BillingItemID)
			if before, ok := costs[key]; ok {
				d.Version, d.Supersedes = before.Version+1, before.DailyCostID
			}
			d.BillingItemID += 10 * int64(len(stream)+int(stream[len(stream)-1])) // an item belongs to one account
			costs[key] = d
			data = d
		case 6:
			stream = "platform_netsim"
			data = events.RateSet{RateID: rapid.Int64Range(1, 3).Draw(t, "rate"), RateName: "storage", Amount: amount.Draw(t, "amount")}
		}
		sequences[stream]++
		facts = append(facts, events.Fact{
			Event: events.Event{Data: data, Frame: events.Frame{
				Stream: stream, Sequence: sequences[stream], CauseID: "cause",
				Time: noon.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "clock")) * time.Second),
			}},
			RecordedAt: noon.Add(time.Duration(i) * time.Second),
		})
	}
	return facts
}

// TestBillingIgnoresBatches: the contents of the tables depend neither on how the
// facts are split into batches nor on the row cache.
func TestBillingIgnoresBatches(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m, err := newReadModel(ctx, connect(t), "readmodel", billingProjections()...)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		facts := anyBilling(rt)
		dumpOf := func(cut func(rest int) int, forget bool) map[string][]string {
			if err := m.empty(ctx, billingTables...); err != nil {
				rt.Fatal(err)
			}
			for rest := facts; len(rest) > 0; {
				n := cut(len(rest))
				if err := m.apply(ctx, rest[:n]...); err != nil {
					rt.Fatal(err)
				}
				if rest = rest[n:]; forget {
					m.forget()
				}
			}
			dump, err := m.dump(ctx, billingTables...)
			if err != nil {
				rt.Fatal(err)
			}
			return dump
		}
		atOnce := dumpOf(func(rest int) int { return rest }, false)
		oneByOne := dumpOf(func(int) int { return 1 }, true)
		random := dumpOf(func(rest int) int { return rapid.IntRange(1, rest).Draw(rt, "batch") }, rapid.Bool().Draw(rt, "forget"))
		if diff := cmp.Diff(atOnce, oneByOne); diff != "" {
			rt.Errorf("one by one differs (-at once +one by one):\n%s", diff)
		}
		if diff := cmp.Diff(atOnce, random); diff != "" {
			rt.Errorf("random batches differ (-at once +random):\n%s", diff)
		}
	})
}

// TestSumCosts: a sum over any range of days counts each day once, although it
// adds the sums of months, of days with the same first digit, and of single days.
func TestSumCosts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	m, err := newReadModel(ctx, connect(t), "readmodel", projections.NewCosts())
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	var facts []events.Fact
	for i := range int64(800) {
		facts = append(facts, events.Fact{Event: events.Event{Frame: events.Frame{Stream: "acct_1", Sequence: i + 1}, Data: events.DailyCostRated{
			DailyCostID: i + 1, BillingItemID: 1, Date: first.AddDate(0, 0, int(i)).Format(time.DateOnly),
			Cost: "0.1", Currency: "USD", RateName: "cluster", Version: 1,
		}}})
	}
	if err := m.apply(ctx, facts...); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		from := rapid.IntRange(0, 799).Draw(rt, "from")
		days := rapid.IntRange(1, min(366, 800-from)).Draw(rt, "days")
		sums, err := projections.SumCosts(ctx, m.db, "acct_1", first.AddDate(0, 0, from), first.AddDate(0, 0, from+days-1))
		if err != nil {
			rt.Fatal(err)
		}
		want := strings.TrimSuffix(fmt.Sprintf("%d.%d", days/10, days%10), ".0")
		for _, s := range sums {
			if s.Total != want {
				rt.Errorf("%d days cost %s, want %s", days, s.Total, want)
			}
		}
		if len(sums) != 3 { // of all costs, of the rate name, of the workspace ""
			rt.Errorf("got %d sums, want 3", len(sums))
		}
	})
}
