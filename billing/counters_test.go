package billing_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/billing"
	"netsim/events"
)

// TestCountersAreRaised: after RaiseCounters the next ids are above those in
// the read model.
func TestCountersAreRaised(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.record(account, "system", events.UsageRecorded{
		BillingEventID: 70, BillingItemID: 50, Action: "start", CurrentCount: 1, OccurredAt: time.Now(),
	})
	for range 2 {
		if err := billing.RaiseCounters(t.Context(), b.pool); err != nil {
			t.Fatal(err)
		}
	}
	for counter, want := range map[billing.Counter]int64{billing.BillingItemIDs: 51, billing.BillingEventIDs: 71} {
		ids, err := counter.Next(t.Context(), b.pool, 2)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{want, want + 1}, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", counter, diff)
		}
	}
}

// TestCountersInUseAreSkipped: after SkipCounters the next ids are far above
// those in the read model, and a counter without any still begins with 1.
func TestCountersInUseAreSkipped(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	b.record(account, "system", events.UsageRecorded{
		BillingEventID: 70, BillingItemID: 50, Action: "start", CurrentCount: 1, OccurredAt: time.Now(),
	})
	if err := billing.SkipCounters(t.Context(), b.pool); err != nil {
		t.Fatal(err)
	}
	for counter, want := range map[billing.Counter]int64{billing.BillingItemIDs: 1_000_051, billing.BillingEventIDs: 1_000_071, billing.DailyCostIDs: 1} {
		ids, err := counter.Next(t.Context(), b.pool, 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int64{want}, ids); diff != "" {
			t.Errorf("%s (-want +got):\n%s", counter, diff)
		}
	}
}
