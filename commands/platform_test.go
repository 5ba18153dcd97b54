package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
)

// Source: completions 7.3.

func TestSetRate(t *testing.T) {
	t.Parallel()
	rate := func(id int64) events.RateSet {
		return events.RateSet{RateID: id, RateName: "cluster", RateType: "unit", Amount: "10.00"}
	}
	set := commands.SetRate{Rate: rate(0)}
	check(t, []example[commands.Platform]{
		{"the first", nil, set, event(rate(1))},
		{"the next", given(rate(1), rate(2)), set, event(rate(3))},
		{"after a row that was ended", given(rate(1), rate(2), rate(1)), set, event(rate(3))},
	})
}
