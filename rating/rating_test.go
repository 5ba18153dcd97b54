package rating_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/rating"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	out, err := time.Parse("2006-01-02 15:04:05.999", text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// book makes billing events of one account and rate name, with their total
// counts.
type book struct {
	t     *testing.T
	units map[int64]int64
	usage []events.UsageRecorded
}

func (b *book) record(when string, item int64, action string, units int64) *book {
	b.t.Helper()
	if b.units == nil {
		b.units = map[int64]int64{}
	}
	before := b.units[item]
	b.units[item] = units
	var count int64
	for _, n := range b.units {
		count += n
	}
	b.usage = append(b.usage, events.UsageRecorded{
		BillingEventID: int64(len(b.usage) + 1), BillingItemID: item, Action: action, RateName: "cluster",
		PreviousCount: before, CurrentCount: units, BillableCount: count, OccurredAt: at(b.t, when),
	})
	return b
}

func rate(id int64, kind, amount, period string) events.RateSet {
	return events.RateSet{
		RateID: id, RateName: "cluster", RateType: kind, Amount: amount, Currency: "CREDIT",
		Period: period, StartDate: "2020-01-01",
	}
}

func tier(r events.RateSet, start, end int64) events.RateSet {
	r.TierStart, r.TierEnd = start, end
	return r
}

func minimum(r events.RateSet, period string) events.RateSet {
	r.MinimumPeriod = period
	return r
}

func priceOn(t *testing.T, day time.Time, list ...events.RateSet) rating.Price {
	t.Helper()
	price, err := rating.PriceOn(day, "acct_1", "cluster", list)
	if err != nil {
		t.Fatal(err)
	}
	return price
}

// TestWholeHoursCostTheirAmount: n hours cost exactly n times an hourly amount,
// at any time of the day and however they are divided into segments.
func TestWholeHoursCostTheirAmount(t *testing.T) {
	t.Parallel()
	day := at(t, "2026-04-15 00:00:00")
	for hour := range 24 {
		for hours := 1; hour+hours <= 24; hours++ {
			from := day.Add(time.Duration(hour) * time.Hour)
			b := (&book{t: t}).record(from.Format(time.DateTime), 1, "start", 1)
			b.record(from.Add(1234567*time.Millisecond).Format("2006-01-02 15:04:05.999"), 2, "start", 1) // divides the hours into two segments
			b.record(from.Add(time.Duration(hours)*time.Hour).Format(time.DateTime), 1, "stop", 0)
			for _, kind := range []string{rating.Unit, rating.Graduated} {
				price := priceOn(t, day, rate(1, kind, "10", rating.PerHour))
				rows := rating.Day(day, price, b.usage, rating.Newest)
				if want := fmt.Sprint(10 * hours); rows[0].Cost != want {
					t.Errorf("%d hours from %d:00 at 10 an hour, by model %s: cost %s, want %s", hours, hour, kind, rows[0].Cost, want)
				}
			}
		}
	}
}

// TestLinesAddUp: the lines of an item and day are rounded together. Each of
// three tiers prices a third of a day. Rounded separately, each would lose a
// third of the last decimal.
func TestLinesAddUp(t *testing.T) {
	t.Parallel()
	day := at(t, "2026-04-15 00:00:00")
	price := priceOn(t, day,
		tier(rate(1, rating.Graduated, "1", rating.PerDay), 0, 1),
		tier(rate(2, rating.Graduated, "1", rating.PerDay), 1, 2),
		tier(rate(3, rating.Graduated, "1", rating.PerDay), 2, 0))
	b := (&book{t: t}).record("2026-04-15 00:00:00", 1, "start", 3).record("2026-04-15 08:00:00", 1, "stop", 0)
	var got []string
	for _, r := range rating.Day(day, price, b.usage, rating.Newest) {
		got = append(got, r.Cost)
	}
	want := []string{"0.333333333333333334", "0.333333333333333333", "0.333333333333333333"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
}

// TestWorkedCheck rates the worked example of docs/rating.md.
func TestWorkedCheck(t *testing.T) {
	t.Parallel()
	day := at(t, "2026-04-15 00:00:00")
	price := priceOn(t, day,
		tier(rate(1, rating.Graduated, "30", rating.PerMonth), 0, 10),
		tier(rate(2, rating.Graduated, "20", rating.PerMonth), 10, 50),
		tier(rate(3, rating.Graduated, "10", rating.PerMonth), 50, 0))
	b := (&book{t: t}).
		record("2026-04-14 12:00:00", 1, "start", 8).
		record("2026-04-15 06:00:00", 1, "update", 12).
		record("2026-04-15 18:00:00", 1, "update", 60)

	rows := rating.Day(day, price, b.usage, rating.Newest)

	total := "0"
	var got []string
	for _, r := range rows {
		var err error
		if total, err = rating.Add(total, r.Cost); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("rate %d: %s × %s = %s", r.RateID, r.DayPrice, r.UnitDays, r.Cost))
	}
	want := []string{
		"rate 1: 1 × 9.5 = 9.5",
		"rate 2: 0.666666666667 × 11 = 7.333333333337",
		"rate 3: 0.333333333333 × 2.5 = 0.8333333333325",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if want := "17.6666666666695"; total != want {
		t.Errorf("the day costs %s, want %s", total, want)
	}
}

// TestARowExplainsItsCost: a row has the segments, the price and the billing
// events from which its cost follows.
func TestARowExplainsItsCost(t *testing.T) {
	t.Parallel()
	day := at(t, "2026-04-15 00:00:00")
	b := (&book{t: t}).
		record("2026-04-14 23:00:00", 7, "start", 2).
		record("2026-04-15 01:00:00", 8, "start", 3).
		record("2026-04-15 06:00:00", 7, "update", 5).
		record("2026-04-15 12:00:00", 7, "stop", 0)
	b.usage[0].ItemName, b.usage[0].WorkspaceID, b.usage[0].UserID = "nightly", "workspace_1", "ada"

	rows := rating.Day(day, priceOn(t, day, rate(4, rating.Unit, "10.00", rating.PerHour)), b.usage[:1:1], rating.Newest)
	if len(rows) != 1 || rows[0].Cost != "480" {
		t.Fatalf("a whole day of 2 units at 10 an hour: %+v, want 480", rows)
	}
	rows = rating.Day(day, priceOn(t, day, rate(4, rating.Unit, "10.00", rating.PerHour)), b.usage, rating.Newest)

	want := events.DailyCostRated{
		BillingItemID: 7, ItemName: "nightly", Date: "2026-04-15", RateID: 4, RateName: "cluster",
		RateAmount: "10.00", Cost: "420", Currency: "CREDIT", Quantity: 5,
		WorkspaceID: "workspace_1", UserID: "ada",
		Segments: []events.CostSegment{
			{From: day, To: day.Add(6 * time.Hour), Units: 2, Fraction: "0.25", Count: 2},
			{From: day.Add(6 * time.Hour), To: day.Add(12 * time.Hour), Units: 5, Fraction: "0.25", Count: 8},
		},
		DayPrice: "240", UnitDays: "1.75", Period: "hour", EngineVersion: rating.EngineVersion,
		FirstEventID: 1, LastEventID: 4,
	}
	if len(rows) != 2 {
		t.Fatalf("%d rows, want one of each item", len(rows))
	}
	if diff := cmp.Diff(want, rows[0]); diff != "" {
		t.Errorf("row of item 7 (-want +got):\n%s", diff)
	}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	// Two items on 15 April: the first has 3 units from 06:00 to 18:00, the
	// second 9 units from 12:00 on.
	usage := func(t *testing.T) []events.UsageRecorded {
		return (&book{t: t}).
			record("2026-04-15 06:00:00", 1, "start", 3).
			record("2026-04-15 12:00:00", 2, "start", 9).
			record("2026-04-15 18:00:00", 1, "stop", 0).usage
	}
	packages := rate(1, rating.Package, "6", rating.PerDay)
	packages.PackageSize = 5
	for _, tt := range []struct {
		name string
		list []events.RateSet
		want []string // item@rate: cost
	}{
		{"unit of a day", []events.RateSet{rate(1, rating.Unit, "4", rating.PerDay)}, []string{"1@1: 6", "2@1: 18"}},
		{"unit of an hour", []events.RateSet{rate(1, rating.Unit, "0.5", rating.PerHour)}, []string{"1@1: 18", "2@1: 54"}},
		{"unit of a year", []events.RateSet{rate(1, rating.Unit, "365", rating.PerYear)}, []string{"1@1: 1.5", "2@1: 4.5"}},
		{"flat is charged to the first", []events.RateSet{rate(1, rating.Flat, "8", rating.PerDay)}, []string{"1@1: 4", "2@1: 2"}},
		{"graduated by ordinal", []events.RateSet{
			tier(rate(1, rating.Graduated, "4", rating.PerDay), 0, 5), tier(rate(2, rating.Graduated, "1", rating.PerDay), 5, 0),
		}, []string{"1@1: 6", "2@1: 7", "2@2: 2.75"}}, // 2@1: 2 units for a quarter of the day, then 5 for a quarter
		{"volume by the count of all", []events.RateSet{
			tier(rate(1, rating.Volume, "4", rating.PerDay), 0, 10), tier(rate(2, rating.Volume, "1", rating.PerDay), 10, 0),
		}, []string{"1@1: 3", "1@2: 0.75", "2@1: 9", "2@2: 2.25"}},
		{"package", []events.RateSet{packages}, []string{"1@1: 3", "2@1: 6"}}, // item 2: 2 more packages, then 2 packages
		{"the newer of two rows", []events.RateSet{
			rate(1, rating.Unit, "9", rating.PerDay), rate(2, rating.Unit, "4", rating.PerDay),
		}, []string{"1@2: 6", "2@2: 18"}},
		{"no rate, no row", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			day := at(t, "2026-04-15 00:00:00")
			var got []string
			for _, r := range rating.Day(day, priceOn(t, day, tt.list...), usage(t), rating.Newest) {
				got = append(got, fmt.Sprintf("%d@%d: %s", r.BillingItemID, r.RateID, r.Cost))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("costs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMinimumPeriod(t *testing.T) {
	t.Parallel()
	// 1 unit from 10:10 to 10:20, then 4 units to 11:30, and 2 units from the
	// 17th on.
	b := (&book{t: t}).
		record("2026-04-15 10:10:00", 1, "start", 1).
		record("2026-04-15 10:20:00", 1, "update", 4).
		record("2026-04-15 11:30:00", 1, "update", 0).
		record("2026-04-17 08:00:00", 1, "update", 2)
	hourly := rate(1, rating.Unit, "1", rating.PerHour)
	monthly := rate(1, rating.Unit, "30", rating.PerMonth)
	for _, tt := range []struct {
		name string
		rate events.RateSet
		day  string
		want string // cost, "" for no row
	}{
		{"none", hourly, "2026-04-15", "4.833333333333333333"},                            // 24 × (10/1440 + 4 × 70/1440)
		{"hour: two hours of the most units", minimum(hourly, "hour"), "2026-04-15", "8"}, // 4 × 2 hours
		{"day: the whole day of the most units", minimum(hourly, "day"), "2026-04-15", "96"},
		{"month: the first use is charged to the end of the month", minimum(monthly, "month"), "2026-04-15", "15.576388888888888889"},
		{"month: nothing is charged to the next day", minimum(monthly, "month"), "2026-04-16", ""},
		{"month: nothing is charged for a later use", minimum(monthly, "month"), "2026-04-17", ""},
		{"month: the first use of the next month", minimum(monthly, "month"), "2026-05-01", "60"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			day := at(t, tt.day+" 00:00:00")
			got := ""
			for _, r := range rating.Day(day, priceOn(t, day, tt.rate), b.usage, rating.Newest) {
				got += r.Cost
			}
			if got != tt.want {
				t.Errorf("the day costs %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPriceOn(t *testing.T) {
	t.Parallel()
	own := func(r events.RateSet) events.RateSet { r.AccountID = "acct_1"; return r }
	other := func(r events.RateSet) events.RateSet { r.AccountID = "acct_2"; return r }
	valid := func(r events.RateSet, from, to string) events.RateSet { r.StartDate, r.EndDate = from, to; return r }
	unit := func(id int64) events.RateSet { return rate(id, rating.Unit, "1", rating.PerDay) }
	graduated := func(id, from, to int64) events.RateSet {
		return tier(rate(id, rating.Graduated, "1", rating.PerDay), from, to)
	}
	for _, tt := range []struct {
		name string
		list []events.RateSet
		want []int64
	}{
		{"of the platform", []events.RateSet{unit(1)}, []int64{1}},
		{"the account's own first", []events.RateSet{own(unit(1)), unit(2)}, []int64{1}},
		{"not another account's", []events.RateSet{other(unit(2)), unit(1)}, []int64{1}},
		{"start inclusive, end exclusive", []events.RateSet{
			valid(unit(1), "2026-04-15", "2026-04-16"), valid(unit(2), "2026-04-01", "2026-04-15"), valid(unit(3), "2026-04-16", ""),
		}, []int64{1}},
		{"tiers in order", []events.RateSet{graduated(2, 10, 0), graduated(1, 0, 10)}, []int64{1, 2}},
		{"a new list with other tiers", []events.RateSet{
			graduated(1, 0, 10), graduated(2, 10, 0), graduated(3, 0, 20), graduated(4, 20, 0),
		}, []int64{3, 4}},
		{"a unit price instead of tiers", []events.RateSet{graduated(1, 0, 10), graduated(2, 10, 0), unit(3)}, []int64{3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []int64
			for _, r := range priceOn(t, at(t, "2026-04-15 00:00:00"), tt.list...) {
				got = append(got, r.RateID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOneHour(t *testing.T) {
	t.Parallel()
	day := at(t, "2026-04-15 00:00:00")
	for _, tt := range []struct {
		name string
		list []events.RateSet
		want string
	}{
		{"of an hourly rate", []events.RateSet{rate(1, rating.Unit, "10.00", rating.PerHour)}, "30 CREDIT"},
		{"of a monthly rate", []events.RateSet{rate(1, rating.Unit, "720", rating.PerMonth)}, "3 CREDIT"},
		{"of no rate", nil, "0 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			amount, currency := priceOn(t, day, tt.list...).OneHour(day, 3)
			if got := amount + " " + currency; got != tt.want {
				t.Errorf("an hour of 3 units costs %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	good := rate(1, rating.Unit, "1", rating.PerDay)
	for name, invalidate := range map[string]func(*events.RateSet){
		"a word for an amount":     func(r *events.RateSet) { r.Amount = "ten" },
		"an exponent":              func(r *events.RateSet) { r.Amount = "1e3" },
		"infinity":                 func(r *events.RateSet) { r.Amount = "Infinity" },
		"a negative amount":        func(r *events.RateSet) { r.Amount = "-1" },
		"13 decimals":              func(r *events.RateSet) { r.Amount = "0.0000000000001" },
		"no amount":                func(r *events.RateSet) { r.Amount = "" },
		"an unknown type":          func(r *events.RateSet) { r.RateType = "tiered" },
		"an unknown period":        func(r *events.RateSet) { r.Period = "week" },
		"a minimum of a year":      func(r *events.RateSet) { r.MinimumPeriod = "year" },
		"an empty tier":            func(r *events.RateSet) { r.TierStart, r.TierEnd = 5, 5 },
		"a package without a size": func(r *events.RateSet) { r.RateType = rating.Package },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := good
			invalidate(&bad)
			if _, err := rating.Check(bad); err == nil {
				t.Errorf("Check accepts %+v", bad)
			}
		})
	}
	if _, err := rating.Check(good); err != nil {
		t.Errorf("a valid row: error %v", err)
	}
}

func BenchmarkDay(b *testing.B) {
	day := time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
	price, err := rating.PriceOn(day, "acct_1", "cluster", []events.RateSet{rate(1, rating.Unit, "0.03", rating.PerMonth)})
	if err != nil {
		b.Fatal(err)
	}
	usage := []events.UsageRecorded{{BillingEventID: 1, BillingItemID: 7, Action: "start", CurrentCount: 3, OccurredAt: day.AddDate(0, 0, -3)}}
	b.ReportAllocs()
	for b.Loop() {
		rating.Day(day, price, usage, rating.Newest)
	}
}

func TestOfHour(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hourly string
		time   time.Duration
		want   string
	}{
		{"10", time.Hour, "10"}, {"10", 360 * time.Millisecond, "0.001"}, {"0.1", 100 * time.Hour, "10"},
		{"1", time.Second, "0.000277777778"}, {"1", 999 * time.Microsecond, "0"}, {"0", time.Hour, "0"},
	} {
		if got, err := rating.OfHour(tt.hourly, tt.time); got != tt.want || err != nil {
			t.Errorf("%s at %s an hour cost %s (%v), want %s", tt.time, tt.hourly, got, err, tt.want)
		}
	}
	if _, err := rating.OfHour("ten", time.Hour); err == nil {
		t.Error("a price that is no number was accepted")
	}
}
