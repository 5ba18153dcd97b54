package billing_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/billing"
	"netsim/billing/prices"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/writelog"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
	"netsim/projections"
	"netsim/rating/slowbill"
)

// keeper runs scenarios, one account each, on the servers of one test world. It
// keeps the same books in a model.
type keeper struct {
	*testworld.World
	log     *killableLog
	billing *billing.Metering
	mu      sync.Mutex
	clock   time.Time

	// Of the current account.
	t       *testing.T
	account string
	model   *ledgerModel
	sims    map[int]string
	latest  map[int]time.Time // when the last event of each item occurred
	list    []events.RateSet
}

// patience is how long a command may take, on a busy machine longer than in the service.
const patience = 2 * time.Minute

func newKeeper(t *testing.T) *keeper {
	k := &keeper{World: testworld.New(t), clock: day("2027-01-20 00:00:00")}
	k.log = &killableLog{Log: k.WriteLog}
	k.Commands.Now, k.Commands.Timeout = k.now, patience
	k.restart()
	return k
}

// killableLog is the log of a process that is killed at an append.
type killableLog struct {
	*writelog.Log
	left    atomic.Int64 // appends until the process is killed; below 1 it is not killed
	written bool         // whether the last append reaches the log
}

var errKilled = errors.New("killed")

// Append implements handle.Log.
func (m *killableLog) Append(ctx context.Context, family events.Family, key string, message events.Message) (handle.Wait, error) {
	if m.left.Add(-1) != 0 {
		return m.Log.Append(ctx, family, key, message)
	}
	if m.written {
		if _, err := m.Log.Append(ctx, family, key, message); err != nil {
			return nil, err
		}
	}
	return func(context.Context) (events.Position, error) { return events.Position{}, errKilled }, nil
}

// restart replaces the process by a new one with empty memory.
func (k *keeper) restart() {
	h := &handle.Handler{Log: k.log, Now: k.now, Timeout: patience}
	k.billing = newMetering(h, k.DB, k.now)
}

func (k *keeper) now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.clock
}

func (k *keeper) advance(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clock = k.clock.Add(d)
}

// run runs a scenario on a new account, and compares the books at its end.
func (k *keeper) run(t *testing.T, steps []bookStep) {
	k.advance(midnight(k.now()).AddDate(0, 1, 1).Sub(k.now()))
	k.t, k.account, k.list = t, events.NewID(events.AccountPrefix), nil
	k.sims, k.latest = map[int]string{}, map[int]time.Time{}
	k.try(bookStep{}, k.accrue)
	k.model = newLedgerModel(midnight(k.now()).AddDate(0, 0, -1))
	for _, s := range steps {
		if s.Closing {
			first := midnight(k.now()).AddDate(0, 1, 1-k.now().Day())
			k.advance(first.AddDate(0, 0, 1).Add(s.After % (48 * time.Hour)).Sub(k.now()))
		} else {
			k.advance(s.After)
		}
		k.step(s)
	}
	for item := range k.sims {
		k.step(bookStep{What: "delete", Item: item})
	}
	k.advance(24 * time.Hour)
	k.step(bookStep{What: "accrue"})
	k.compare()
	k.replay()
}

func (k *keeper) step(s bookStep) {
	now := k.now()
	at := now.Add(-s.Late)
	if last, ok := k.latest[s.Item]; ok && at.Before(last) {
		at = last // the events of an item become known in order
	}
	name := fmt.Sprint("item ", s.Item)
	switch s.What {
	case "accrue":
		k.try(s, k.accrue)
		k.model.accrue(now)
	case "prices":
		k.setPrices(s, now)
	case "meet":
		k.latest[s.Item] = at
		k.meet(s, at, name, now)
	case "publish":
		k.latest[s.Item] = at
		k.react(s, at, events.SimulationResultsPublished{Manifest: "m", Bytes: s.Units * 1_000_000_000})
		k.model.publish(name, s.Units, at, now)
	case "delete":
		k.latest[s.Item] = at
		k.react(s, at, events.SimulationDeleted{Reason: "request"})
		k.model.remove(name, at, now)
	}
}

// try runs a step of a process, and repeats it after each kill until it succeeds.
func (k *keeper) try(s bookStep, do func(context.Context) error) {
	k.t.Helper()
	k.log.written = s.Written
	k.log.left.Store(int64(s.KillAt))
	for err := do(k.t.Context()); err != nil; err = do(k.t.Context()) {
		if !errors.Is(err, errKilled) {
			k.t.Fatalf("%s: %v", s.What, err)
		}
		k.restart()
	}
	if s.Twice {
		if err := do(k.t.Context()); err != nil {
			k.t.Fatalf("%s again: %v", s.What, err)
		}
	}
	k.log.left.Store(0)
}

// meet runs the accrual in one process and the reaction to a late event in
// another. Both have computed their entries before either writes. The accrual
// writes first, or, with Written, the reaction.
func (k *keeper) meet(s bookStep, at time.Time, name string, now time.Time) {
	k.t.Helper()
	f := k.fact(s, at, events.SimulationResultsPublished{Manifest: "m", Bytes: s.Units * 1_000_000_000})
	begin := func(do func(*billing.Metering) error) (release func() error) {
		held := &blockedReader{Reader: k.DB, t: k.t, reached: make(chan struct{}), until: make(chan struct{})}
		done := make(chan error, 1)
		go func() {
			done <- do(newMetering(&handle.Handler{Log: k.WriteLog, Now: k.now, Timeout: patience}, held, k.now))
		}()
		testwait.Receive(k.t, held.reached, "the process to block")
		return func() error {
			close(held.until)
			return testwait.Receive(k.t, done, "the process to finish")
		}
	}
	first := begin(func(b *billing.Metering) error {
		return b.Books.AccrueDay(k.t.Context(), midnight(now).AddDate(0, 0, -1))
	})
	second := begin(func(b *billing.Metering) error { return b.React(k.t.Context(), f) })
	if s.Written {
		first, second = second, first
	}
	if err := errors.Join(first(), second()); err != nil {
		k.t.Fatal(err)
	}
	k.model.publish(name, s.Units, at, now)
	k.model.accrue(now)
}

// blockedReader is a read model that blocks the query for ids of costs.
type blockedReader struct {
	projections.Reader
	t              testwait.Test
	reached, until chan struct{}
	once           sync.Once
}

// Query implements projections.Reader.
func (h *blockedReader) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if len(args) > 0 && args[0] == string(billing.DailyCostIDs) {
		h.once.Do(func() { close(h.reached) })
		testwait.Gate(h.t, h.until)
	}
	return h.Reader.Query(ctx, sql, args...)
}

func (k *keeper) accrue(ctx context.Context) error {
	return k.billing.Books.AccrueDay(ctx, midnight(k.now()).AddDate(0, 0, -1))
}

// react runs the reaction to a fact of the item's simulation. The fact happened
// at the given time.
func (k *keeper) react(s bookStep, at time.Time, data events.Data) {
	k.t.Helper()
	f := k.fact(s, at, data)
	k.try(s, func(ctx context.Context) error { return k.billing.React(ctx, f) })
}

func (k *keeper) fact(s bookStep, at time.Time, data events.Data) events.Fact {
	k.t.Helper()
	sim, found := k.sims[s.Item]
	if !found {
		sim = events.NewID(events.SimulationPrefix)
		k.sims[s.Item] = sim
		testworld.Do(k.t, k.World, sim, commands.RequestSimulation{Requested: events.SimulationRequested{
			Origin: commands.OriginStart, AccountID: k.account, WorkspaceID: events.DefaultWorkspace, Name: fmt.Sprint("item ", s.Item),
		}})
	}
	return events.Fact{Event: events.Event{Data: data, Frame: events.Frame{
		ID: events.NewID("e"), Type: data.EventType(), Stream: sim, Time: at, Actor: "system",
	}}}
}

// setPrices applies a price list with the account's new rows, or its current
// ones, and with the rows of earlier accounts.
func (k *keeper) setPrices(s bookStep, now time.Time) {
	k.t.Helper()
	start := now.AddDate(0, 0, 1).Format(time.DateOnly)
	if k.list == nil {
		start = "2020-01-01"
	}
	if s.Rates != nil {
		k.list = nil
		file := priceFile{applied: midnight(now)}
		for i, r := range s.Rates {
			r.AccountID, r.StartDate = k.account, start
			k.list = append(k.list, r)
			file.rates = append(file.rates, slowbill.Rate{
				ID: int64(i), Type: r.RateType, Amount: r.Amount, Period: r.Period, Minimum: r.MinimumPeriod,
				TierStart: r.TierStart, TierEnd: r.TierEnd, PackageSize: r.PackageSize,
			})
		}
		k.model.files = append(k.model.files, file)
	}
	k.try(s, func(ctx context.Context) error {
		var state commands.Platform
		found, err := k.WriteLog.Load(ctx, commands.PlatformStream(platform), "")
		if err != nil {
			return err
		}
		if known, err := commands.ReadState(commands.PlatformStream(platform), found.State); err != nil {
			return err
		} else if p, ok := known.(*commands.Platform); ok {
			state = *p
		}
		list := prices.List{Rates: slices.Clone(k.list)}
		for _, r := range state.Rates {
			if r.AccountID != k.account {
				list.Rates = append(list.Rates, r)
			}
		}
		plan, err := prices.NewPlan(list, platform, state, k.now())
		if err != nil {
			return err
		}
		return plan.Apply(ctx, k.billing.Commands)
	})
}

// compare fails the test unless rows, summary, balance and the account's state
// equal those of the model.
func (k *keeper) compare() {
	k.t.Helper()
	ctx := k.t.Context()
	want, sum := k.model.books()
	rows, err := k.DB.Query(ctx, `
		SELECT d.item_name, coalesce(o.date, d.date), d.tier_start, d.cost, CASE WHEN o.id IS NULL THEN '' ELSE d.date END
		FROM daily_costs d LEFT JOIN daily_costs o ON o.id = d.correction_of AND d.correction_of <> 0
		WHERE d.account_id = $1`, k.account)
	if err != nil {
		k.t.Fatal(err)
	}
	got := []string{}
	for rows.Next() {
		var item, date, cost, corrected string
		var tier int64
		if err := rows.Scan(&item, &date, &tier, &cost, &corrected); err != nil {
			k.t.Fatal(err)
		}
		got = append(got, bookedLine(item, date, tier, cost, corrected))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		k.t.Fatalf("lines (-model +books):\n%s", diff)
	}
	if len(want) == 0 {
		return
	}
	end := k.now().AddDate(0, 0, 1)
	sums, err := projections.SumCosts(ctx, k.DB, k.account, end.AddDate(-1, 0, 0), end)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, s := range sums {
		if s.Total != slowbill.Exact(sum) {
			k.t.Errorf("summary %+v, want %s", s, slowbill.Exact(sum))
		}
	}
	balances, _, err := projections.ListBalances(ctx, k.DB, k.account, projections.Page{Limit: 2})
	owed := slowbill.Exact(new(big.Rat).Neg(sum))
	if err != nil || len(balances) != 1 || balances[0].Current != owed {
		k.t.Errorf("balances %+v, %v, want %s", balances, err, owed)
	}
	found, err := k.WriteLog.Load(ctx, k.account, "")
	if err != nil {
		k.t.Fatal(err)
	}
	state, err := commands.ReadState(k.account, found.State)
	if a, ok := state.(*commands.Account); err != nil || !ok || a.Credits["CREDIT"].Balance != owed {
		k.t.Errorf("state %s, %v, want a balance of %s", found.State, err, owed)
	}
}
