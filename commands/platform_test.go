package commands_test

import (
	"testing"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// Source: completions 7.3.

// priceRow is a row of the price list for units of cluster.
func priceRow(amount, start string) events.RateSet {
	return events.RateSet{
		RateName: "cluster", RateType: "unit", Amount: amount, Currency: "CREDIT", Period: "hour",
		UnitName: "ranks", UnitSize: "1024", StartDate: start,
	}
}

func TestSetRate(t *testing.T) {
	t.Parallel()
	rate := func(id int64, account, amount, start string) events.RateSet {
		r := priceRow(amount, start)
		r.RateID, r.AccountID = id, account
		return r
	}
	set := func(account, amount, start string) commands.SetRate {
		return commands.SetRate{Rate: rate(0, account, amount, start), List: "list"}
	}
	first := rate(1, "", "10", "1960-01-01")
	const today, tomorrow = "1970-01-01", "1970-01-02"
	check(t, []example[commands.Platform]{
		{"the first, from any day on", nil, set("", "10", "1960-01-01"), event(first)},
		{"a recorded row", given(first), set("", "10", "1960-01-01"), nothing()},
		{"from tomorrow on", given(first), set("", "12", tomorrow), event(rate(2, "", "12", tomorrow))},
		{"from today on", given(first), set("", "12", today), refusal(fault.Conflict)},
		{"an account's own from today on", given(first), set("acct_1", "12", today), refusal(fault.Conflict)},
		{"beside a price of another account", given(rate(1, "acct_2", "9", "1960-01-01")), set("acct_1", "12", today), event(rate(2, "acct_1", "12", today))},
		{"after a row with an end", given(first, rate(2, "", "11", "2030-01-01"), first), set("", "12", tomorrow), event(rate(3, "", "12", tomorrow))},
	})
}

// TestSetRateRefuses: an invalid row is refused.
func TestSetRateRefuses(t *testing.T) {
	t.Parallel()
	var examples []example[commands.Platform]
	for name, invalidate := range map[string]func(*events.RateSet){
		"no name":                  func(r *events.RateSet) { r.RateName = "" },
		"no amount":                func(r *events.RateSet) { r.Amount = "" },
		"an amount with exponent":  func(r *events.RateSet) { r.Amount = "1e2" },
		"an amount below 0":        func(r *events.RateSet) { r.Amount = "-1" },
		"an unknown currency":      func(r *events.RateSet) { r.Currency = "EUR" },
		"no currency":              func(r *events.RateSet) { r.Currency = "" },
		"an unknown model":         func(r *events.RateSet) { r.RateType = "tiered" },
		"an unknown period":        func(r *events.RateSet) { r.Period = "week" },
		"an empty tier":            func(r *events.RateSet) { r.TierStart, r.TierEnd = 5, 5 },
		"a package without a size": func(r *events.RateSet) { r.RateType = "package" },
		"half a unit":              func(r *events.RateSet) { r.UnitSize = "0.5" },
		"an invalid start":         func(r *events.RateSet) { r.StartDate = "2026-02-30" },
		"an end before the start":  func(r *events.RateSet) { r.EndDate = r.StartDate },
	} {
		row := priceRow("10", "1970-01-02")
		invalidate(&row)
		examples = append(examples, example[commands.Platform]{name, nil, commands.SetRate{Rate: row}, refusal(fault.Validation)})
	}
	check(t, examples)
}

// TestAFirstListIsSetWhole: each row of the list that brought the first price may
// begin in the past; a row of another list may not.
func TestAFirstListIsSetWhole(t *testing.T) {
	t.Parallel()
	var p commands.Platform
	set := func(list string, tier int64) error {
		c := commands.SetRate{List: list, Rate: priceRow("10", "1960-01-01")}
		c.Rate.RateType, c.Rate.TierStart, c.Rate.TierEnd = "graduated", tier, tier+1
		data, err := c.Decide(&p, time.UnixMilli(0))
		if err == nil {
			p.Evolve(events.Event{Frame: events.Frame{CorrelationID: list}, Data: data})
		}
		return err
	}
	for tier := range int64(3) {
		if err := set("first", tier); err != nil {
			t.Errorf("tier %d: %v", tier, err)
		}
	}
	if err := set("second", 3); !fault.Is(err, fault.Conflict) {
		t.Errorf("another list: %v, want a conflict", err)
	}
}

// TestAFirstListComesAgain: the list that brought the first price cannot set a
// price for days that have one by now, but can for days without one.
func TestAFirstListComesAgain(t *testing.T) {
	t.Parallel()
	var p commands.Platform
	apply := func(list string, c commands.Command[commands.Platform]) error {
		data, err := c.Decide(&p, time.UnixMilli(0))
		if err == nil && data != nil {
			p.Evolve(events.Event{Frame: events.Frame{CorrelationID: list}, Data: data})
		}
		return err
	}
	row := commands.SetRate{List: "first", Rate: priceRow("5", "1960-01-01")}
	for _, step := range []struct {
		list string
		c    commands.Command[commands.Platform]
	}{
		{"first", row}, {"second", commands.EndRate{RateID: 1, EndDate: "1970-01-02"}},
		{"second", commands.SetRate{Rate: priceRow("7", "1970-01-02"), List: "second"}},
	} {
		if err := apply(step.list, step.c); err != nil {
			t.Fatal(err)
		}
	}
	if err := apply("first", row); !fault.Is(err, fault.Conflict) {
		t.Errorf("the row of 1960 again: %v, want a conflict", err)
	}
	row.Rate.StartDate, row.Rate.EndDate = "1950-01-01", "1960-01-01"
	if err := apply("first", row); err != nil {
		t.Errorf("a row of days without a price: %v", err)
	}
}

func TestEndRate(t *testing.T) {
	t.Parallel()
	rate := func(end string) events.RateSet {
		r := priceRow("10", "1960-01-01")
		r.RateID, r.EndDate = 1, end
		return r
	}
	end := func(date string) commands.EndRate { return commands.EndRate{RateID: 1, EndDate: date} }
	check(t, []example[commands.Platform]{
		{"tomorrow", given(rate("")), end("1970-01-02"), event(rate("1970-01-02"))},
		{"today", given(rate("")), end("1970-01-01"), refusal(fault.Conflict)},
		{"again", given(rate("1970-01-02")), end("1970-01-02"), nothing()},
		{"later than before", given(rate("1970-01-02")), end("1970-02-01"), event(rate("1970-02-01"))},
		{"never", given(rate("1970-01-02")), end(""), event(rate(""))},
		{"after it has ended", given(rate("1970-01-01")), end("1970-02-01"), refusal(fault.Conflict)},
		{"on an invalid date", given(rate("")), end("2030-02-30"), refusal(fault.Validation)},
		{"a missing row", nil, end("1970-02-01"), refusal(fault.NotFound)},
	})
}
