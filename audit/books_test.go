package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"netsim/events"
	"netsim/rating"
)

// raw appends an event with data that no release writes.
func (w *world) raw(stream, partitionKey, eventType, value string, at time.Time) {
	head := w.heads[stream]
	m, hash := events.Frame{
		ID: events.DerivedUUID(stream, fmt.Sprint(head.Sequence)).String(), Type: eventType, Stream: stream, PartitionKey: partitionKey,
		Sequence: head.Sequence + 1, PreviousHash: head.Hash, Time: at, Actor: "system", DataVersion: 1,
	}.Message([]byte(value))
	w.heads[stream] = events.Head{Sequence: head.Sequence + 1, Hash: hash}
	w.record(events.Billing, events.PartitionOf(partitionKey, testParts), w.writer.Seal(events.Billing, hash, m), at)
}

// row returns the booked row of an item's day, as its next version.
func (w *world) row(item, rate int64, date string) events.DailyCostRated {
	row := w.booked[rowKey{item, rate, date}]
	row.Supersedes, row.PreviousCost = row.DailyCostID, row.Cost
	row.DailyCostID, row.Version = w.next(), row.Version+1
	return row
}

// wrongBooks are events that a service of this release would not write, each with what a
// verification finds.
func wrongBooks() map[string]struct {
	write func(w *world, when time.Time)
	want  string
} {
	type wrong = struct {
		write func(w *world, when time.Time)
		want  string
	}
	cost := func(change func(c *events.DailyCostRated)) func(w *world, when time.Time) {
		return func(w *world, when time.Time) {
			c := w.row(1, 1, "2026-11-03")
			change(&c)
			w.append(alice, c, when)
		}
	}
	event := func(data events.Data) func(w *world, when time.Time) {
		return func(w *world, when time.Time) { w.append(alice, data, when) }
	}
	value := func(eventType, value string) func(w *world, when time.Time) {
		return func(w *world, when time.Time) { w.raw(alice, alice, eventType, value, when) }
	}
	return map[string]wrong{
		"another cost":            {cost(func(c *events.DailyCostRated) { c.Cost = "1200.000000000000000001" }), "cost is 1200.000000000000000001, by its events 1200"},
		"a cost that is none":     {cost(func(c *events.DailyCostRated) { c.Cost = "1e3" }), "cost is 1e3, by its events 1200"},
		"another rate name":       {cost(func(c *events.DailyCostRated) { c.RateName = "disk" }), "rateName is disk, by its events cluster"},
		"another rate amount":     {cost(func(c *events.DailyCostRated) { c.RateAmount = "10" }), "rateAmount is 10, by its events 10.00"},
		"another currency":        {cost(func(c *events.DailyCostRated) { c.Currency = "USD" }), "currency is USD, by its events CREDIT"},
		"another item name":       {cost(func(c *events.DailyCostRated) { c.ItemName = "é\u2028\"\\<" }), "itemName is é\u2028\"\\<, by its events item 1"},
		"another workspace":       {cost(func(c *events.DailyCostRated) { c.WorkspaceID = "workspace_1" }), "workspaceId is workspace_1"},
		"another sandbox":         {cost(func(c *events.DailyCostRated) { c.SandboxID = "s" }), "sandboxId is s"},
		"another user":            {cost(func(c *events.DailyCostRated) { c.UserID = "bob" }), "userId is bob, by its events ada"},
		"another day price":       {cost(func(c *events.DailyCostRated) { c.DayPrice = "241" }), "dayPrice is 241, by its events 240"},
		"other unit days":         {cost(func(c *events.DailyCostRated) { c.UnitDays = "6" }), "unitDays is 6, by its events 5"},
		"another period":          {cost(func(c *events.DailyCostRated) { c.Period = "day" }), "period is day, by its events hour"},
		"an unknown rule":         {cost(func(c *events.DailyCostRated) { c.EngineVersion = "rating-0" }), "engineVersion is rating-0, by its events rating-2"},
		"another quantity":        {cost(func(c *events.DailyCostRated) { c.Quantity = 7 }), "quantity and tier is 7 in 0 to 0, by its events 6 in 0 to 0"},
		"no segments":             {cost(func(c *events.DailyCostRated) { c.Segments = nil }), "sum of the segments is 0, by its events 5"},
		"a segment of a word":     {cost(func(c *events.DailyCostRated) { c.Segments[0].Fraction = "half" }), "sum of the segments is , by its events 5"},
		"a row of a day unused":   {cost(func(c *events.DailyCostRated) { c.Date, c.Version, c.Supersedes = "2026-11-05", 1, 0 }), "by its events it costs nothing"},
		"a version skipped":       {cost(func(c *events.DailyCostRated) { c.Version++ }), "is version 3 and supersedes"},
		"another one superseded":  {cost(func(c *events.DailyCostRated) { c.Supersedes++ }), "; the one before it is"},
		"another previous cost":   {cost(func(c *events.DailyCostRated) { c.PreviousCost = "1" }), "supersedes a cost of 1200, but names 1"},
		"a version of no row":     {cost(func(c *events.DailyCostRated) { c.Date = "2026-11-01" }), "is version 2 of a row that is not there"},
		"a correction of none":    {cost(func(c *events.DailyCostRated) { c.CorrectionOf = 999 }), "corrects 999, which is not there"},
		"a correction too many":   {cost(func(c *events.DailyCostRated) { c.CorrectionOf, c.Cost = c.Supersedes, "0.5" }), "cost is 1200.5, by its events 1200"},
		"a correction of nothing": {cost(func(c *events.DailyCostRated) { c.CorrectionOf, c.Cost = c.Supersedes, "-0" }), ""},
		"a correction of a word":  {cost(func(c *events.DailyCostRated) { c.CorrectionOf, c.Cost = c.Supersedes, "few" }), `cost is "few" is not a decimal number`},
		"units that do not add up": {
			event(events.UsageRecorded{BillingEventID: 900, BillingItemID: 900, Action: "start", RateName: "cluster", CurrentCount: 1, BillableCount: 7, OccurredAt: at("2026-11-06 09:00:00")}),
			"says that 7 units of cluster are active; by the events before it, 1 are",
		},
		"a release of none":      {event(events.CreditReleased{SimulationID: "sim_1"}), "the credit released for sim_1 was never held"},
		"a change of no hold":    {event(events.CreditHoldChanged{SimulationID: "$&"}), "the hold changed for $& was never made"},
		"a grant of a word":      {event(events.CreditGranted{Amount: "ten", Currency: "CREDIT"}), `the amount of a grant: "ten" is not a decimal number`},
		"a grant too precise":    {event(events.CreditGranted{Amount: "0.0000000000000000001"}), "of at most 18 decimals"},
		"half an object":         {value("netsim.billing.credit_granted.v1", "{"), "the event cannot be read: decode netsim.billing.credit_granted.v1"},
		"a number for a text":    {value("netsim.billing.credit_granted.v1", `{"amount":5}`), "the event cannot be read: decode netsim.billing.credit_granted.v1"},
		"members in other cases": {value("netsim.billing.credit_granted.v1", ` {"AMOUNT" : "ten", "extra": [null, {"a": 1e5}]} `), `"ten" is not a decimal number`},
		"an integer too large":   {value("netsim.billing.usage_recorded.v1", `{"billingEventId":9223372036854775808}`), "the event cannot be read"},
		"a date of 31 November":  {value("netsim.billing.usage_recorded.v1", `{"occurredAt":"2026-11-31T00:00:00Z"}`), "the event cannot be read"},
		"bytes that are no text": {value("netsim.billing.credit_granted.v1", "{\"amount\":\"\xff\xc3\"}"), "is not a decimal number"},
		"an unknown type":        {value("netsim.billing.none.v1", "{}"), `unknown event type "netsim.billing.none.v1"`},
		"the partition of another": {
			func(w *world, when time.Time) {
				w.raw(alice, bob, "netsim.billing.credit_granted.v1", `{"amount":"1"}`, when)
			},
			"the event is in the partition of " + bob,
		},
		"a rate below 0":          {func(w *world, when time.Time) { w.rate("", "cluster", rating.Unit, "-1", when) }, "amount -1 must be at least 0 and have at most 12 decimals"},
		"a rate of no type":       {func(w *world, when time.Time) { w.rate("", "cluster", "tiered", "1", when) }, `there is no rate type "tiered"`},
		"a rate that is replaced": {func(w *world, when time.Time) { w.rate("", "cluster", rating.Unit, "11", when) }, "by its events"},
	}
}

// TestWrongBooksAreFound: what is wrong in the books is found in a bundle whose signatures
// and proofs are right.
func TestWrongBooksAreFound(t *testing.T) {
	t.Parallel()
	for name, tt := range wrongBooks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fourDaysWith(t, fixedKey(t), true, time.Time{})
			tt.write(w, at("2026-11-06 10:00:00"))
			w.checkpoint("2026-11-06", at("2026-11-07 00:02:30"))
			r := verifyBundle(t, bundleOf(t, w, ofDays("2026-11-02", "2026-11-06")), w.key.Verifier)
			if reported := findings(r.Problems); !strings.Contains(reported, tt.want) || (reported == "") != (tt.want == "") {
				t.Errorf("want %q, found:\n%s", tt.want, reported)
			}
		})
	}
}

// TestPricesOfAllKinds: the days of two months at prices of every model, period and minimum
// are rated again with the same results. One cost that is wrong is found.
func TestPricesOfAllKinds(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, fixedKey(t))
	var names []string
	for _, model := range rating.ModelNames() {
		for _, period := range []string{rating.PerHour, rating.PerDay, rating.PerMonth, rating.PerYear} {
			if model != rating.Unit && (period == rating.PerDay || period == rating.PerYear) {
				continue
			}
			name := model + "-" + period
			names = append(names, name)
			minimum := map[string]string{rating.PerHour: rating.PerDay, rating.PerDay: "", rating.PerMonth: rating.PerMonth, rating.PerYear: rating.PerHour}[period]
			for tier := range int64(2) {
				r := events.RateSet{
					RateID: int64(len(w.rates) + 1), Platform: "netsim", RateName: name, RateType: model, Amount: fmt.Sprintf("%d.37", 3-tier), Currency: "CREDIT",
					Period: period, MinimumPeriod: minimum, TierStart: 4 * tier, TierEnd: 4 - 4*tier, PackageSize: 3, StartDate: "2026-01-01",
				}
				w.rates = append(w.rates, r)
				w.append(testPlatform, r, at("2026-10-01 00:00:00"))
			}
		}
	}
	for i, name := range names {
		item, start := int64(10*i+1), at("2026-10-28 11:12:13").Add(time.Duration(i)*time.Hour)
		w.use(alice, name, "start", item, 3, start)
		w.use(alice, name, "start", item+1, 2, start.Add(5*time.Hour+time.Millisecond))
		w.use(alice, name, "update", item, 6, start.Add(26*time.Hour))
		w.use(alice, name, "stop", item, 0, start.Add(57*time.Hour+123*time.Millisecond))
		w.use(alice, name, "stop", item+1, 0, start.Add(60*time.Hour))
	}
	for day := at("2026-10-28 00:00:00"); day.Before(at("2026-11-06 00:00:00")); day = day.AddDate(0, 0, 1) {
		for _, name := range names {
			w.accrue(alice, name, day, at("2026-11-06 00:00:30"))
		}
	}
	w.checkpoint("2026-11-05", at("2026-11-06 00:02:30"))
	request := ofDays("2026-10-28", "2026-11-05")
	r := verifyBundle(t, bundleOf(t, w, request), w.key.Verifier)
	if len(r.Problems) > 0 || r.Rated.Days < 60 || r.Rated.Unrated > 0 {
		t.Errorf("%+v, found:\n%s", r.Rated, findings(r.Problems))
	}
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(w.booked)), func(key rowKey) bool { return key.date != "2026-10-30" })
	slices.SortFunc(keys, func(a, b rowKey) int { return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.rate, b.rate)) })
	for _, key := range keys {
		row := w.row(key.item, key.rate, key.date)
		sum, err := rating.Add(row.Cost, "0.000000000000000001")
		if err != nil {
			t.Fatal(err)
		}
		row.Cost = sum
		w.append(alice, row, at("2026-11-06 00:03:00"))
	}
	w.checkpoint("wrong", at("2026-11-06 00:04:00"))
	if r := verifyBundle(t, bundleOf(t, w, request), w.key.Verifier); len(r.Problems) != len(keys) || len(keys) < 14 {
		t.Errorf("%d costs are wrong, found:\n%s", len(keys), findings(r.Problems))
	}
}
