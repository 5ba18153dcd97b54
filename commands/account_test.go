package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// Source: completions 7.

func used(item int64, action string, before, after, all int64) events.UsageRecorded {
	return events.UsageRecorded{
		BillingItemID: item, Action: action, RateName: "cluster",
		PreviousCount: before, CurrentCount: after, BillableCount: all,
	}
}

func TestRecordUsage(t *testing.T) {
	t.Parallel()
	record := func(item int64, action string, before, after int64) commands.RecordUsage {
		return commands.RecordUsage{Usage: used(item, action, before, after, 0)}
	}
	one := given(used(1, "start", 0, 2, 2))
	two := and(one, used(2, "start", 0, 3, 5))
	storage := used(3, "start", 0, 7, 7)
	storage.RateName = "storage"
	check(t, []example[commands.Account]{
		{"the first", nil, record(1, "start", 0, 2), event(used(1, "start", 0, 2, 2))},
		{"another adds to it", one, record(2, "start", 0, 3), event(used(2, "start", 0, 3, 5))},
		{"other rate names do not count", and(one, storage), record(2, "start", 0, 3), event(used(2, "start", 0, 3, 5))},
		{"an update counts the difference", two, record(1, "update", 2, 6), event(used(1, "update", 2, 6, 9))},
		{"an update to the same units", two, record(1, "update", 2, 2), nothing()},
		{"a stop takes its units away", two, record(2, "stop", 3, 0), event(used(2, "stop", 3, 0, 2))},
		{"a stop of an item without units", nil, record(1, "stop", 0, 0), event(used(1, "stop", 0, 0, 0))},
		{"a start without units", one, record(2, "start", 0, 0), event(used(2, "start", 0, 0, 2))},
		{"more than there is", one, record(2, "stop", 3, 0), refusal(fault.Internal)},
	})
}

func TestCredit(t *testing.T) {
	t.Parallel()
	granted := events.CreditGranted{Amount: "10.5", Currency: "CREDIT", Reference: "opening"}
	hold := func(amount string) events.CreditHeld {
		return events.CreditHeld{SimulationID: "sim_1", Amount: amount, Currency: "CREDIT"}
	}
	prepaid := func(amount string) commands.HoldCredit { return commands.HoldCredit{Held: hold(amount), Prepaid: true} }
	postpaid := commands.HoldCredit{Held: hold("10")}
	released := events.CreditReleased{SimulationID: "sim_1", Amount: "10", Currency: "CREDIT", Reason: "ended"}
	cost := func(cost, before string) events.DailyCostRated {
		return events.DailyCostRated{Cost: cost, PreviousCost: before, Currency: "CREDIT"}
	}
	dollars := granted
	dollars.Currency = "USD"
	check(t, []example[commands.Account]{
		{"a grant", nil, commands.GrantCredit{Granted: granted}, event(granted)},
		{"a hold", given(granted), prepaid("10"), event(hold("10"))},
		{"what is left is held", given(granted, hold("10")), prepaid("10"), event(hold("0.5"))},
		{"nothing is left", given(granted, hold("10"), hold("0.5")), prepaid("10"), refusal(fault.PaymentRequired)},
		{"nothing was ever there", nil, prepaid("10"), refusal(fault.PaymentRequired)},
		{"another currency does not help", given(dollars), prepaid("10"), refusal(fault.PaymentRequired)},
		{"no price, but no credit", nil, prepaid("0"), refusal(fault.PaymentRequired)},
		{"no price", given(granted), prepaid("0"), nothing()},
		{"postpaid", nil, postpaid, event(hold("10"))},
		{"costs are spent", given(granted, cost("10.5", "")), prepaid("10"), refusal(fault.PaymentRequired)},
		{"a new version of a cost counts the difference", given(granted, cost("10", ""), cost("10.25", "10")), prepaid("10"), event(hold("0.25"))},
		{"a correction counts", given(granted, cost("10.5", ""), cost("-1", "")), prepaid("10"), event(hold("1"))},
		{"a release", given(granted, hold("10")), commands.ReleaseCredit{Released: released}, event(released)},
		{"after a release", given(granted, hold("10"), released), prepaid("10"), event(hold("10"))},
	})
}

func TestRecordDailyCostAndAccess(t *testing.T) {
	t.Parallel()
	rated := events.DailyCostRated{DailyCostID: 1, Cost: "0.25", Currency: "CREDIT"}
	access := events.AccessLogged{Caller: "ada", Operation: "ListRates", FilterKey: "userName"}
	check(t, []example[commands.Account]{
		{"a cost", nil, commands.RecordDailyCost{Rated: rated}, event(rated)},
		{"an access", given(rated), commands.LogAccess{Access: access}, event(access)},
	})
}
