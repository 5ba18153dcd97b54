package projections_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/projections"
)

// Cached rows are counted with their bytes until they are dropped. Rows that no later
// fact changes are dropped with the second batch after their own.
func TestCachedRowsAreCounted(t *testing.T) {
	t.Parallel()
	p := projections.NewUsage()
	next := int64(0)
	apply := func(count int) {
		t.Helper()
		var facts []events.Fact
		for range count {
			next++
			facts = append(facts, events.Fact{Event: events.Event{
				Frame: events.Frame{Stream: "acct_1", Sequence: next},
				Data:  events.UsageRecorded{BillingEventID: next, BillingItemID: next, Meter: "storage", Action: "start", ItemName: fmt.Sprintf("%040d", next)},
			}})
		}
		p.Load(&pgx.Batch{}, facts)
		if err := p.Apply(&columns.Writes{}, facts); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want int) {
		t.Helper()
		rows, bytes := p.Cached()
		if rows != want || bytes < 100*rows || bytes > 1000*rows {
			t.Errorf("%d rows of %d bytes are cached, want %d rows and a few hundred bytes each", rows, bytes, want)
		}
	}
	apply(10)
	expect(20) // an item and an event each
	apply(10)
	expect(40)
	apply(10)
	expect(50)
	for range 6 {
		apply(5000)
	}
	expect(30_000) // the items of four batches, the events of two
	p.Forget()
	expect(0)
}
