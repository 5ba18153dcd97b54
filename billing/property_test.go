package billing_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netsim/events"
	"netsim/rating"
)

// casesSetting names the environment variable that sets how many scenarios
// TestBooksEqualTheModel draws.
const casesSetting = "NETSIM_TEST_BOOKS"

// TestBooksEqualTheModel: for random scenarios the real reactions on real servers
// book the same lines and corrections as the plain model, with the same summary
// and balance. A scenario changes the items of one account, with late events, new
// prices, repeated accruals and killed processes.
func TestBooksEqualTheModel(t *testing.T) {
	t.Parallel()
	cases := 24
	if text := os.Getenv(casesSetting); text != "" {
		var err error
		if cases, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	k := newKeeper(t)
	scenarios := rapid.Custom(anyScenario)
	for seed := range cases {
		steps := scenarios.Example(seed)
		if !t.Run(fmt.Sprint("scenario ", seed), func(t *testing.T) { k.run(t, steps) }) {
			for _, s := range steps {
				t.Logf("%+v", s)
			}
			return // the next scenarios use the same servers
		}
	}
}

// shared returns rates that price all items of an account together.
func shared() []events.RateSet {
	row := events.RateSet{
		RateName: "storage", Currency: "CREDIT", Platform: platform, UnitName: "bytes", UnitSize: "1000000000",
		RateType: rating.Volume, Amount: "4", Period: rating.PerDay,
	}
	next := row
	row.TierEnd, next.TierStart, next.Amount = 5, 5, "1"
	return []events.RateSet{row, next}
}

// TestBooksSurviveEveryDeath kills the process at each of the first six appends of
// every step, before or after the record is written. In the scenario the late end of one item
// changes what the others cost.
func TestBooksSurviveEveryDeath(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	for at := range 6 {
		for _, written := range []bool{false, true} {
			t.Run(fmt.Sprintf("append %d, written %t", at+1, written), func(t *testing.T) {
				steps := []bookStep{
					{What: "prices", Rates: shared()},
					{What: "publish", After: time.Hour, Item: 1, Units: 2}, {What: "publish", Item: 2, Units: 3}, {What: "publish", Item: 3, Units: 1},
					{What: "accrue", After: 49 * time.Hour},
					{What: "publish", After: time.Hour, Item: 2, Units: 1, Late: 30 * time.Hour},
					{What: "delete", After: time.Hour, Item: 1, Late: 26 * time.Hour},
					{What: "delete", After: 40 * 24 * time.Hour, Item: 3, Late: 41 * 24 * time.Hour},
				}
				for i := range steps {
					steps[i].KillAt, steps[i].Written, steps[i].Twice = at+1, written, true
				}
				k.run(t, steps)
			})
		}
	}
}

// TestTheNightMeetsLateEvents: an accrual and the reaction to a late event book
// the same days at once, in two processes. Each computes its entries before the
// other writes, and the books are right nevertheless.
func TestTheNightMeetsLateEvents(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	for _, accrual := range []string{"is first", "is second"} {
		t.Run("the accrual "+accrual, func(t *testing.T) {
			k.run(t, []bookStep{
				{What: "prices", Rates: shared()},
				{What: "publish", Item: 1, Units: 2}, {What: "publish", Item: 2, Units: 3}, {What: "publish", Item: 3, Units: 9},
				{What: "meet", After: 25 * time.Hour, Item: 1, Units: 4, Late: 24 * time.Hour, Written: accrual == "is second"},
				{What: "accrue", After: 24 * time.Hour}, // closing an item books only the days from its last cost on
			})
		})
	}
}

// bookStep is a step of a scenario.
type bookStep struct {
	What    string        // publish, delete, accrue, prices or meet
	After   time.Duration // since the previous step
	Closing bool          // the step is on the 2nd or 3rd of the next month instead
	Item    int
	Units   int64
	Late    time.Duration // how long after the change it becomes known
	Twice   bool          // the step is repeated
	KillAt  int           // the append at which the process is killed, 0 for none
	Written bool          // that append reaches the log
	Rates   []events.RateSet
}

func anyScenario(t *rapid.T) []bookStep {
	steps := []bookStep{{What: "prices", Rates: anyPrices(t)}}
	for range rapid.SampledFrom([]int{4, 8, 12, 16}).Draw(t, "steps") {
		s := bookStep{
			What:  rapid.SampledFrom([]string{"publish", "publish", "publish", "publish", "delete", "accrue", "prices"}).Draw(t, "what"),
			After: anyTime(t, time.Minute, 8*time.Hour, 8*time.Hour, 30*time.Hour, 6*24*time.Hour, 20*24*time.Hour),
			Item:  rapid.SampledFrom([]int{1, 2, 3}).Draw(t, "item"),
			Units: rapid.SampledFrom([]int64{1, 2, 3, 5, 8, 13}).Draw(t, "units"),
			Late:  anyTime(t, 0, time.Hour, 3*24*time.Hour, 40*24*time.Hour),
			Twice: rapid.Bool().Draw(t, "twice"),
		}
		s.Closing = rapid.IntRange(0, 5).Draw(t, "closing") == 0
		if rapid.IntRange(0, 2).Draw(t, "killed") == 0 {
			s.KillAt, s.Written = rapid.IntRange(1, 4).Draw(t, "at"), rapid.Bool().Draw(t, "written")
		}
		if s.What == "prices" && rapid.IntRange(0, 3).Draw(t, "other") > 0 {
			s.Rates = anyPrices(t) // otherwise the current ones are applied again
		}
		if steps = append(steps, s); rapid.Bool().Draw(t, "sleeps") {
			steps = append(steps, bookStep{What: "accrue", After: anyTime(t, 48*time.Hour)})
		}
	}
	return steps
}

// anyTime draws a duration up to one of the given limits.
func anyTime(t *rapid.T, most ...time.Duration) time.Duration {
	limit := rapid.SampledFrom(most).Draw(t, "most")
	part := rapid.SampledFrom([]time.Duration{0, 1, 2, 3, 4, 5, 6, 7, 8}).Draw(t, "part")
	return (limit*part/8 + time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms"))*time.Millisecond).Truncate(time.Millisecond)
}

// anyPrices draws a price of storage of any type, as rows without dates.
func anyPrices(t *rapid.T) []events.RateSet {
	row := events.RateSet{
		RateName: "storage", Currency: "CREDIT", Platform: platform, UnitName: "bytes", UnitSize: "1000000000",
		RateType:      rapid.SampledFrom(rating.ModelNames()).Draw(t, "type"),
		Period:        rapid.SampledFrom([]string{rating.PerHour, rating.PerDay, rating.PerMonth, rating.PerYear}).Draw(t, "period"),
		MinimumPeriod: rapid.SampledFrom([]string{"", "", rating.PerHour, rating.PerDay, rating.PerMonth}).Draw(t, "minimum"),
	}
	amount := func() string { return rapid.StringMatching(`[0-9]{1,3}(\.[0-9]{1,6})?`).Draw(t, "amount") }
	row.Amount = amount()
	model, err := rating.ModelOf(row.RateType)
	switch {
	case err != nil:
		t.Fatal(err)
	case model.Packaged:
		row.PackageSize = rapid.Int64Range(1, 7).Draw(t, "package")
	case model.Tiered:
		low := row
		low.TierEnd, low.Amount = rapid.Int64Range(1, 12).Draw(t, "bound"), amount()
		row.TierStart = low.TierEnd
		return []events.RateSet{low, row}
	}
	return []events.RateSet{row}
}
