package focus_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/infra/columns"
	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/projections"
	"netsim/rating"
)

const (
	mine   = "acct_00000000000000000000000001"
	theirs = "acct_00000000000000000000000002"
	lab    = "workspace_00000000000000000000000001"
)

// books is a read model in PostgreSQL, to which the tests apply facts.
type books struct {
	t     testing.TB
	pool  *pgxpool.Pool
	parts []projections.Projection
	count map[string]int64 // facts by stream
	ids   int64            // the last id of a daily cost
}

func newBooks(t testing.TB) *books {
	t.Helper()
	pool, err := postgres.Open(t.Context(), teststack.Postgres(t), "readmodel", 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := postgres.Migrate(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	b := &books{t: t, pool: pool, parts: projections.All(), count: map[string]int64{}}
	b.exec("CREATE SCHEMA readmodel")
	for _, p := range b.parts {
		b.exec(p.Schema())
	}
	b.exec(`INSERT INTO directory VALUES ('user', 'user_1', 'Ada Lovelace', now()), ('sandbox', 'sb_1', 'Bobs box', now()),
		('account', $1, 'Mine Labs', now())`, mine)
	b.project(lab, events.WorkspaceCreated{AccountID: mine, Name: "lab, \"main\"", Owner: "user_1"})
	return b
}

func (b *books) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatal(err)
	}
}

// project applies events of a stream as facts, in one batch.
func (b *books) project(stream string, data ...events.Data) {
	b.t.Helper()
	facts := make([]events.Fact, len(data))
	for i, d := range data {
		b.count[stream]++
		at := day("2026-04-15").Add(time.Duration(b.count[stream]) * time.Second)
		facts[i] = events.Fact{RecordedAt: at, Event: events.Event{
			Frame: events.Frame{ID: "e", Stream: stream, Sequence: b.count[stream], CauseID: "cause", Time: at},
			Hash:  events.Hash{7}, Data: d,
		}}
	}
	reads, writes := &pgx.Batch{}, &columns.Writes{}
	for _, p := range b.parts {
		p.Load(reads, facts)
	}
	if err := b.pool.SendBatch(b.t.Context(), reads).Close(); err != nil {
		b.t.Fatal(err)
	}
	for _, p := range b.parts {
		if err := p.Apply(writes, facts); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := writes.Send(b.t.Context(), b.pool); err != nil {
		b.t.Fatal(err)
	}
}

// rate records rates and usage, and books what they cost on the days.
func (b *books) rate(account string, rates []events.RateSet, usage []events.UsageRecorded, days ...string) []events.DailyCostRated {
	b.t.Helper()
	b.project("platform_netsim", all(rates)...)
	b.project(account, all(usage)...)
	var booked []events.DailyCostRated
	for _, d := range days {
		price, err := rating.PriceOn(day(d), account, rates[0].RateName, rates)
		if err != nil {
			b.t.Fatal(err)
		}
		booked = append(booked, rating.Day(day(d), price, usage, rating.Newest)...)
	}
	return b.book(account, booked...)
}

// book gives costs their ids and records them.
func (b *books) book(account string, rows ...events.DailyCostRated) []events.DailyCostRated {
	b.t.Helper()
	for i := range rows {
		b.ids++
		rows[i].DailyCostID = b.ids
		rows[i].Version = max(rows[i].Version, 1)
	}
	b.project(account, all(rows)...)
	return rows
}

func all[D events.Data](rows []D) []events.Data {
	data := make([]events.Data, len(rows))
	for i, r := range rows {
		data[i] = r
	}
	return data
}

func day(text string) time.Time {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return at
}

// used returns a billing event of an item, the given hours after midnight of 1
// April.
func used(event, item int64, name, action string, units int64, hours float64) events.UsageRecorded {
	return events.UsageRecorded{
		BillingEventID: event, BillingItemID: item, Meter: name, Action: action, RateName: name, ItemName: "nightly",
		CurrentCount: units, BillableCount: units, WorkspaceID: lab, UserID: "user_1", SandboxID: "sb_1",
		ResourceType: "simulation", ResourceID: "sim_1", CauseType: "netsim.simulation.started.v1",
		OccurredAt: day("2026-04-01").Add(time.Duration(hours * float64(time.Hour))),
	}
}

// priced returns a row of the price list that is valid on all days of the tests.
func priced(id int64, name, kind, amount, period string) events.RateSet {
	return events.RateSet{
		RateID: id, Platform: "netsim", RateName: name, RateType: kind, RateTypeRaw: kind, Amount: amount, Currency: "CREDIT",
		Period: period, UnitName: "ranks", UnitSize: "1024", StartDate: "2020-01-01",
	}
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// sumOf returns the SHA-256 of a file, in hex.
func sumOf(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}
