package audit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"netsim/events"
	"netsim/rating"
)

const (
	testPlatform = "platform_netsim"
	testStream   = "checkpoint_netsim"
	testParts    = 3
)

// rowKey is the key of a row of the daily costs.
type rowKey struct {
	item, rate int64
	date       string
}

// world writes a log in memory like the service: rates, items, nightly accruals and
// checkpoints.
type world struct {
	cluster  string    // "" is cluster-1
	ruleFrom time.Time // earlier days are rated by Rule1
	t        testing.TB
	key      *Key
	records  map[string][]events.Record // by topic and partition
	heads    map[string]events.Head
	usage    map[string][]events.UsageRecorded // by account
	units    map[string]int64
	rates    []events.RateSet
	booked   map[rowKey]events.DailyCostRated
	id       int64
	note     string
	files    map[string][]byte  // heads and their indexes, by SHA-256
	writer   *events.WriterKeys // the service's; nil seals and checks nothing
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOf(t, newTestKey(t))
}

func newTestKey(t testing.TB) *Key {
	t.Helper()
	text, err := NewKey("test")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newWorldOf(t testing.TB, key *Key) *world {
	return &world{
		t: t, key: key, records: map[string][]events.Record{}, heads: map[string]events.Head{},
		usage: map[string][]events.UsageRecorded{}, units: map[string]int64{}, booked: map[rowKey]events.DailyCostRated{},
		files: map[string][]byte{},
	}
}

func partitionName(topic string, number int32) string { return fmt.Sprintf("%s/%d", topic, number) }

// append writes an event at the end of its stream.
func (w *world) append(stream string, data events.Data, at time.Time) {
	w.t.Helper()
	value, err := events.Encode(data)
	if err != nil {
		w.t.Fatal(err)
	}
	family, err := events.FamilyOf(stream)
	if err != nil {
		w.t.Fatal(err)
	}
	head := w.heads[stream]
	m, hash := events.Frame{
		ID: events.DerivedUUID(stream, fmt.Sprint(head.Sequence)).String(), Type: data.EventType(), Stream: stream, PartitionKey: stream,
		Sequence: head.Sequence + 1, PreviousHash: head.Hash, Time: at, Actor: "system", DataVersion: 1,
	}.Message(value)
	w.heads[stream] = events.Head{Sequence: head.Sequence + 1, Hash: hash}
	w.record(family, events.PartitionOf(stream, testParts), w.writer.Seal(family, hash, m), at)
}

// record writes any message to a partition.
func (w *world) record(family events.Family, number int32, m events.Message, at time.Time) {
	name := partitionName(string(family), number)
	w.records[name] = append(w.records[name], events.Record{
		Message: m, Topic: string(family), Partition: number, Offset: int64(len(w.records[name])), Time: at,
	})
}

func (w *world) next() int64 { w.id++; return w.id }

func (w *world) rate(account, name, kind, amount string, at time.Time) {
	r := events.RateSet{
		RateID: int64(len(w.rates) + 1), AccountID: account, Platform: "netsim", RateName: name, RateType: kind, RateTypeRaw: kind,
		Amount: amount, Currency: "CREDIT", Period: "hour", StartDate: "2026-01-01",
	}
	w.rates = append(w.rates, r)
	w.append(testPlatform, r, at)
}

// use opens, changes or stops an item.
func (w *world) use(account, name, action string, item, units int64, at time.Time) {
	var before int64
	for _, u := range w.usage[account] {
		if u.BillingItemID == item {
			before = u.CurrentCount
		}
	}
	w.units[account+name] += units - before
	u := events.UsageRecorded{
		BillingEventID: w.next(), BillingItemID: item, Meter: name, Action: action, RateName: name, ItemName: fmt.Sprint("item ", item),
		PreviousCount: before, CurrentCount: units, BillableCount: w.units[account+name], UserID: "ada",
		ResourceType: "simulation", ResourceID: fmt.Sprint("sim_", item), CauseType: "netsim.simulation.started.v1", OccurredAt: at,
	}
	w.usage[account] = append(w.usage[account], u)
	w.append(account, u, at)
}

// accrue books a day's costs of an account.
func (w *world) accrue(account, name string, day, at time.Time) {
	w.t.Helper()
	price, err := rating.PriceOn(day, account, name, w.rates)
	if err != nil {
		w.t.Fatal(err)
	}
	usage := slices.DeleteFunc(slices.Clone(w.usage[account]), func(u events.UsageRecorded) bool { return u.RateName != name })
	rule := rating.Newest
	if day.Before(w.ruleFrom) {
		rule = func(int64) string { return rating.Rule1 }
	}
	rows := rating.Day(day, price, usage, rule)
	for where, before := range w.booked { // rows that no longer cost anything
		ofAccount := slices.ContainsFunc(usage, func(u events.UsageRecorded) bool { return u.BillingItemID == where.item })
		if ofAccount && where.date == day.Format(time.DateOnly) && !slices.ContainsFunc(rows, func(r events.DailyCostRated) bool { return r.BillingItemID == where.item }) {
			before.Cost, before.UnitDays, before.Quantity, before.Segments = "0", "0", 0, []events.CostSegment{}
			rows = append(rows, before)
		}
	}
	for _, row := range rows {
		where := rowKey{row.BillingItemID, row.RateID, row.Date}
		row.DailyCostID, row.Version = w.next(), 1
		if before, ok := w.booked[where]; ok {
			if before.Cost == row.Cost {
				continue
			}
			row.Version, row.Supersedes, row.PreviousCost = before.Version+1, before.DailyCostID, before.Cost
		}
		w.booked[where] = row
		w.append(account, row, at)
	}
}

// checkpoint publishes a signed checkpoint of the log.
func (w *world) checkpoint(name string, at time.Time) {
	w.t.Helper()
	w.publish(name, at, func(c Checkpoint, chains []Chain) (string, error) { return c.Sign(w.key, chains) })
}

// succeed publishes a checkpoint after which another key signs.
func (w *world) succeed(name string, key *Key, at time.Time) {
	w.t.Helper()
	w.publish(name, at, func(c Checkpoint, chains []Chain) (string, error) { return c.Succeed(w.key, key, chains) })
	w.key = key
}

// publish publishes a checkpoint of the log, with the note that sign returns.
func (w *world) publish(name string, at time.Time, sign func(Checkpoint, []Chain) (string, error)) {
	w.t.Helper()
	log := w.log()
	c := Checkpoint{Name: name, Time: at, Cluster: log.Cluster, Previous: HashOf(w.note)}
	var billing []*partition
	for _, p := range log.open() {
		if err := p.advance(w.t.Context(), p.topic.Ends[p.number], nil); err != nil {
			w.t.Fatal(err)
		}
		c.Parts = append(c.Parts, Part{p.topic.Family, p.topic.ID, p.number, p.next, p.facts, p.rejected, p.digest})
		if p.topic.Family == events.Billing {
			billing = append(billing, p)
		}
	}
	c.Heads = w.store(log)
	note, err := sign(c, chains(billing))
	if err != nil {
		w.t.Fatal(err)
	}
	w.note = note
	w.append(testStream, events.CheckpointPublished{Name: name, Note: note}, at)
}

// log returns the log written so far.
func (w *world) log() *Log {
	log := &Log{Reader: w, Cluster: cmp.Or(w.cluster, "cluster-1"), Keys: w.writer}
	for _, family := range events.Families() {
		t := Topic{Family: family, Name: string(family), ID: "id-" + string(family)}
		for number := range int32(testParts) {
			t.Ends = append(t.Ends, int64(len(w.records[partitionName(t.Name, number)])))
		}
		log.Topics = append(log.Topics, t)
	}
	return log
}

// Read implements Reader.
func (w *world) Read(_ context.Context, topic string, number int32, from int64, _ int, _ time.Duration) ([]events.Record, int64, error) {
	all := w.records[partitionName(topic, number)]
	end := int64(len(all))
	return all[min(from, end):min(from+7, end)], end, nil
}

// edit changes a record of a stream. A log that was returned before keeps the old
// record.
func (w *world) edit(stream string, sequence int64, change func(r *events.Record)) {
	w.t.Helper()
	for name, records := range w.records {
		for i := range records {
			f, _, err := events.ReadFrame(&records[i].Message)
			if err != nil || f.Stream != stream || f.Sequence != sequence {
				continue
			}
			changed := slices.Clone(records)
			changed[i].Value, changed[i].Headers = bytes.Clone(records[i].Value), slices.Clone(records[i].Headers)
			change(&changed[i])
			w.records[name] = changed
			return
		}
	}
	w.t.Fatalf("%s has no event %d", stream, sequence)
}

const (
	alice = "acct_00000000000000000000000001"
	bob   = "acct_00000000000000000000000002"
)

func at(text string) time.Time {
	when, err := time.Parse(time.DateTime, text)
	if err != nil {
		panic(err)
	}
	return when
}

// fourDays returns a world of two accounts after four days, with a late event, and
// with a checkpoint after every day.
func fourDays(t testing.TB) *world {
	t.Helper()
	return fourDaysWith(t, newTestKey(t), true, time.Time{})
}

// fourDaysWith is fourDays with a key and with the day from which the newest rule
// applies. Unless whole, the events of 3 November that add units are missing.
func fourDaysWith(t testing.TB, key *Key, whole bool, ruleFrom time.Time) *world {
	t.Helper()
	w := newWorldOf(t, key)
	w.ruleFrom = ruleFrom
	w.rate("", "cluster", rating.Unit, "10.00", at("2026-11-01 00:00:00"))
	w.rate("", "storage", rating.Flat, "0.25", at("2026-11-01 00:00:00"))
	w.rate(bob, "cluster", rating.Unit, "7.50", at("2026-11-01 00:00:00"))
	w.append(alice, events.CreditGranted{Amount: "1000", Currency: "CREDIT", Reference: "r1"}, at("2026-11-02 08:00:00"))
	w.use(alice, "cluster", "start", 1, 4, at("2026-11-02 09:00:00"))
	w.use(bob, "cluster", "start", 2, 1, at("2026-11-02 09:30:00"))
	w.use(alice, "storage", "start", 3, 2, at("2026-11-02 10:00:00"))
	for day := at("2026-11-02 00:00:00"); day.Before(at("2026-11-06 00:00:00")); day = day.AddDate(0, 0, 1) {
		switch day.Day() {
		case 3:
			if !whole {
				break
			}
			w.use(alice, "cluster", "update", 1, 6, at("2026-11-03 12:00:00"))
			w.use(alice, "storage", "start", 4, 5, at("2026-11-03 18:30:00"))
		case 4:
			w.use(alice, "cluster", "stop", 1, 0, at("2026-11-04 05:59:59"))
		}
		booking := day.AddDate(0, 0, 1).Add(30 * time.Second)
		for _, account := range []string{alice, bob} {
			w.accrue(account, "cluster", day, booking)
			w.accrue(account, "storage", day, booking)
		}
		if day.Day() == 4 { // it stopped on the 3rd already
			w.use(alice, "storage", "stop", 3, 0, at("2026-11-03 20:00:00"))
			w.accrue(alice, "storage", at("2026-11-03 00:00:00"), booking.Add(time.Minute))
			w.accrue(alice, "storage", at("2026-11-04 00:00:00"), booking.Add(time.Minute))
		}
		w.checkpoint(day.Format(time.DateOnly), booking.Add(2*time.Minute))
	}
	return w
}
