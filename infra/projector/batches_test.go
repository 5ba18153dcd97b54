package projector_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// A read model is the same, row by row, whatever its batches were, whether rows were
// copied, whether a batch was prepared beside the commit of another, and wherever
// the rebuild was interrupted.
func TestBatchesDoNotMatter(t *testing.T) {
	t.Parallel()
	random := testworld.Random(t)
	log := newMemoryLog(3)
	appendHistory(t, log, random)
	w := &testworld.World{Servers: testworld.Servers{Database: teststack.Postgres(t)}, Logger: testworld.Silent()}
	at := func(schema string, batch, copyFrom int, observe func(int, time.Duration)) *projector.Projector {
		return w.Projector(w.Pool(t, schema), schema, func(c *projector.Config) {
			c.Log, c.BatchSize, c.CopyFrom, c.Observe = log, batch, copyFrom, observe
			c.Projections = append(c.Projections, refusing{"refused", func(writes *columns.Writes) error {
				writes.Queue(`SELECT lower('SEVEN')::int`)
				return nil
			}})
		})
	}
	live := at(projector.Live, log.records, math.MaxInt, nil)
	if err := live.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := live.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := live.Report()
	if r.Parked < 2 || r.Verdicts[events.Stale] == 0 || r.Verdicts[events.Duplicate] == 0 || r.Records != int64(log.records) {
		t.Fatalf("the history has too little in it: %+v", r)
	}
	for i := range 6 {
		batch, copyFrom, cut := 1+random.IntN(1<<random.IntN(11)), 1+random.IntN(1<<random.IntN(8)), random.IntN(log.records)
		name := fmt.Sprintf("batches of %d, copies from %d, interrupted after %d records", batch, copyFrom, cut)
		schema := fmt.Sprint("model", i)
		ctx, interrupt := context.WithCancel(t.Context())
		committed := 0
		partial := at(schema, batch, copyFrom, func(records int, _ time.Duration) {
			if committed += records; committed >= cut {
				interrupt()
			}
		})
		if _, err := partial.Rebuild(ctx, false); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", name, err)
		}
		whole := at(schema, batch, copyFrom, nil)
		if _, err := whole.Rebuild(t.Context(), false); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c, err := whole.Diff(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(c.Differences) > 0 {
			t.Errorf("%s: the read model differs: %+v", name, c.Differences)
		}
	}
}

// keyed is a message and what its partition is computed from.
type keyed struct {
	key     string
	message events.Message
}

// appendHistory appends facts of several kinds, mixed with records that are not
// facts and facts that cannot be applied.
func appendHistory(t *testing.T, log *memoryLog, random *rand.Rand) {
	t.Helper()
	appendSimulations(t, log, 40)
	var open []*chain
	var sent []keyed
	account := &chain{id: events.NewID(events.AccountPrefix)}
	account.key = account.id
	var items []events.UsageRecorded // the first events of active items
	var versions [9]int64            // of the daily costs
	add := func(c *chain, data events.Data) {
		sent = append(sent, keyed{c.key, c.append(t, log, data)})
	}
	for n := range 400 {
		if len(open) == 0 || n%100 == 50 || random.IntN(3) == 0 {
			c := &chain{id: events.NewID(events.WorkspacePrefix)}
			c.key = c.id
			name := fmt.Sprint("Workspace ", n)
			if n%100 == 50 {
				name = "refused"
			}
			add(c, events.WorkspaceCreated{AccountID: "acct", Name: name})
			open = append(open, c)
		}
		c := open[random.IntN(len(open))]
		switch n % 8 {
		case 0:
			again := sent[random.IntN(len(sent))] // a duplicate or a stale record
			log.append(t, again.key, again.message)
		case 1:
			s := &chain{id: events.NewID(events.SimulationPrefix), key: c.id}
			add(s, events.SimulationRequested{Origin: "start", AccountID: "acct", WorkspaceID: c.id, Name: fmt.Sprint("Run ", n)})
			if random.IntN(2) == 0 {
				add(s, events.SimulationDeleted{Reason: "request"})
			}
		case 2:
			s := &chain{id: events.NewID(events.ConfigurationPrefix), key: c.id}
			add(s, events.ConfigurationCreated{AccountID: "acct", WorkspaceID: c.id, Name: "c", Document: "{}", Status: "draft"})
			add(s, events.ConfigurationUpdated{Version: 2, Name: "d", ComponentCount: 3})
		case 3:
			used := events.UsageRecorded{
				BillingEventID: int64(n), BillingItemID: int64(n), Meter: events.MeterStorage, RateName: "storage",
				Action: "start", SizeBytes: int64(random.IntN(1000)), OccurredAt: time.UnixMilli(int64(n)),
			}
			add(account, used)
			if items = append(items, used); random.IntN(2) == 0 {
				i := random.IntN(len(items))
				used = items[i]
				used.BillingEventID, used.Action = int64(1000+n), "stop"
				items = slices.Delete(items, i, i+1)
				add(account, used)
			}
		case 4:
			add(account, events.CreditGranted{Amount: fmt.Sprintf("%d.25", n), Currency: "CREDIT", Reference: fmt.Sprint(n)})
		case 5:
			item := random.IntN(9)
			versions[item]++
			add(account, events.DailyCostRated{
				DailyCostID: int64(n), BillingItemID: int64(item), Date: "2026-01-02", RateID: 1, RateName: "storage",
				Cost: fmt.Sprintf("0.%d", 1+random.IntN(999)), Currency: "CREDIT", Version: versions[item],
			})
		default:
			add(c, events.WorkspaceUpdated{Name: fmt.Sprint("renamed ", n)})
		}
	}
}
