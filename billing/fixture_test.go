package billing_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/billing"
	"netsim/billing/prices"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/columns"
	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/projections"
)

const (
	account  = "acct_0000000000e008000000000001"
	platform = "netsim"
)

// books runs billing on a log in memory. It projects each fact to PostgreSQL as
// it is appended, in place of a write log and a projector.
type books struct {
	t       *testing.T
	pool    *pgxpool.Pool
	handler *handle.Handler
	billing *billing.Metering

	mu     sync.Mutex
	clock  time.Time
	parts  []projections.Projection
	states map[string]commands.State
	heads  map[string]events.Head
	prior  map[string]*events.Prior // by stream and command id
	facts  []events.Fact
	killAt string // the event type at whose next append the process is killed; "" for none
}

func newBooks(t *testing.T) *books {
	t.Helper()
	ctx := t.Context()
	b := &books{
		t: t, parts: projections.All(), clock: day("2026-04-15 10:00:00"),
		states: map[string]commands.State{}, heads: map[string]events.Head{}, prior: map[string]*events.Prior{},
	}
	var err error
	if b.pool, err = postgres.Open(ctx, teststack.Postgres(t), "readmodel", 8); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.pool.Close)
	if err := postgres.Migrate(ctx, b.pool); err != nil {
		t.Fatal(err)
	}
	b.exec("CREATE SCHEMA readmodel")
	for _, p := range b.parts {
		b.exec(p.Schema())
	}
	b.handler = &handle.Handler{Log: b, Now: b.now}
	b.billing = newMetering(b.handler, b.pool, b.now)
	list, err := prices.Default()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second start changes nothing
		if refused, err := list.Load(ctx, b.handler, platform, account); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
	}
	return b
}

func newMetering(h *handle.Handler, db projections.Reader, now func() time.Time) *billing.Metering {
	return billing.New(billing.Config{
		Commands: h, DB: db,
		Books: &billing.Books{Commands: h, DB: db, Now: now},
		Holds: &billing.Holds{Commands: h, DB: db, Now: now},
	})
}

func day(text string) time.Time {
	at, err := time.Parse(time.DateTime, text)
	if err != nil {
		panic(err)
	}
	return at
}

func (b *books) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

// at sets the clock.
func (b *books) at(text string) *books {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = day(text)
	return b
}

// Load implements handle.Log.
func (b *books) Load(_ context.Context, stream, commandID string) (events.Snapshot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := events.Snapshot{Head: b.heads[stream], Prior: b.prior[stream+"/"+commandID]}
	var err error
	if state := b.states[stream]; state != nil {
		s.State, err = json.Marshal(state)
	}
	return s, err
}

// Append implements handle.Log. It projects an accepted record at once.
func (b *books) Append(_ context.Context, family events.Family, _ string, m events.Message) (handle.Wait, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := events.Position{Family: family, Offset: int64(len(b.facts))}
	wait := func(context.Context) (events.Position, error) { return at, nil }
	frame, hash, err := events.ReadFrame(&m)
	if err != nil {
		return nil, err
	}
	if frame.Type == b.killAt {
		b.killAt = ""
		return func(context.Context) (events.Position, error) { return at, errKilled }, nil
	}
	if events.Judge(b.heads[frame.Stream], &frame, hash, true, 0, 1) != events.Accepted {
		at.Offset = -1
		return wait, nil
	}
	data, err := events.Decode(frame.Type, m.Value)
	if err != nil {
		return nil, err
	}
	f := events.Fact{
		Event:  events.Event{Frame: frame, Hash: hash, Data: data},
		Family: family, Offset: at.Offset, RecordedAt: b.clock.Add(time.Millisecond),
	}
	if b.states[frame.Stream] == nil {
		if b.states[frame.Stream], err = commands.ReadState(frame.Stream, nil); err != nil {
			return nil, err
		}
	}
	b.states[frame.Stream].Evolve(f.Event)
	b.heads[frame.Stream] = events.Head{Sequence: frame.Sequence, Hash: hash}
	if frame.CommandID != "" {
		b.prior[frame.Stream+"/"+frame.CommandID] = &events.Prior{Sequence: frame.Sequence, Digest: frame.CommandDigest}
	}
	b.facts = append(b.facts, f)
	return wait, b.project(f)
}

// Verdict implements handle.Log.
func (b *books) Verdict(_ context.Context, at events.Position) (events.Verdict, error) {
	if at.Offset < 0 {
		return events.Stale, nil
	}
	return events.Accepted, nil
}

func (b *books) project(f events.Fact) error {
	ctx, reads, writes := b.t.Context(), &pgx.Batch{}, &columns.Writes{}
	for _, p := range b.parts {
		p.Load(reads, []events.Fact{f})
	}
	if err := b.pool.SendBatch(ctx, reads).Close(); err != nil {
		return err
	}
	for _, p := range b.parts {
		if err := p.Apply(writes, []events.Fact{f}); err != nil {
			return err
		}
	}
	return writes.Send(ctx, b.pool)
}

// record appends a fact and returns it.
func (b *books) record(stream, actor string, data events.Data) events.Fact {
	b.t.Helper()
	b.mu.Lock()
	head, now := b.heads[stream], b.clock
	b.mu.Unlock()
	value, err := events.Encode(data)
	if err != nil {
		b.t.Fatal(err)
	}
	family, err := events.FamilyOf(stream)
	if err != nil {
		b.t.Fatal(err)
	}
	m, _ := events.Frame{
		ID: events.DerivedUUID(stream, fmt.Sprint(head.Sequence)).String(), Type: data.EventType(),
		Stream: stream, PartitionKey: stream, Sequence: head.Sequence + 1, PreviousHash: head.Hash,
		Time: now, Actor: actor, CorrelationID: "request-1", DataVersion: 1,
	}.Message(value)
	if _, err := b.Append(b.t.Context(), family, stream, m); err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.facts[len(b.facts)-1]
}

// react runs the reaction to each fact twice, as after a crash between the
// reaction and its acknowledgement.
func (b *books) react(facts ...events.Fact) {
	b.t.Helper()
	for _, f := range append(facts, facts...) {
		if err := b.billing.React(b.t.Context(), f); err != nil {
			b.t.Fatal(err)
		}
	}
}

// recorded returns the account's facts as text, in order.
func (b *books) recorded(account string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, f := range b.facts {
		if f.Stream != account {
			continue
		}
		switch d := f.Data.(type) {
		case events.UsageRecorded:
			out = append(out, fmt.Sprintf("%s %s of %s: %d to %d, %d in all", d.Meter, d.Action, d.ItemName, d.PreviousCount, d.CurrentCount, d.BillableCount))
		case events.CreditHeld:
			out = append(out, fmt.Sprintf("held %s %s", d.Amount, d.Currency))
		case events.CreditHoldChanged:
			out = append(out, fmt.Sprintf("holds %s instead of %s %s", d.Amount, d.PreviousAmount, d.Currency))
		case events.CreditReleased:
			out = append(out, fmt.Sprintf("released %s %s: %s", d.Amount, d.Currency, d.Reason))
		case events.CreditGranted:
			out = append(out, fmt.Sprintf("granted %s %s", d.Amount, d.Currency))
		case events.DailyCostRated:
			text := fmt.Sprintf("cost of %s on %s: %s %s", d.ItemName, d.Date, d.Cost, d.Currency)
			if d.Version > 1 {
				text += fmt.Sprintf(", version %d, before %s", d.Version, d.PreviousCost)
			}
			if d.CorrectionOf != 0 {
				text += ", a correction"
			}
			out = append(out, text)
		case events.AccessLogged:
			out = append(out, fmt.Sprintf("%s looked up by %s in %s", d.Caller, d.FilterKey, d.Operation))
		}
	}
	return out
}

func (b *books) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatal(err)
	}
}
