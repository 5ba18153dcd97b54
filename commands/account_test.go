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
		{"a stop of more units than are active", one, record(2, "stop", 3, 0), refusal(fault.Internal)},
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
	changed := func(before, amount string) events.CreditHoldChanged {
		return events.CreditHoldChanged{SimulationID: "sim_1", Amount: amount, PreviousAmount: before, Currency: "CREDIT"}
	}
	change := func(before, amount string) commands.ChangeHold {
		return commands.ChangeHold{Changed: changed(before, amount)}
	}
	dollars := granted
	dollars.Currency = "USD"
	check(t, []example[commands.Account]{
		{"a grant", nil, commands.GrantCredit{Granted: granted}, event(granted)},
		{"a hold", given(granted), prepaid("10"), event(hold("10"))},
		{"the remaining credit is held", given(granted, hold("10")), prepaid("10"), event(hold("0.5"))},
		{"no credit remains", given(granted, hold("10"), hold("0.5")), prepaid("10"), refusal(fault.PaymentRequired)},
		{"no credit was ever granted", nil, prepaid("10"), refusal(fault.PaymentRequired)},
		{"another currency does not help", given(dollars), prepaid("10"), refusal(fault.PaymentRequired)},
		{"no price and no credit", nil, prepaid("0"), refusal(fault.PaymentRequired)},
		{"no price", given(granted), prepaid("0"), nothing()},
		{"postpaid", nil, postpaid, event(hold("10"))},
		{"costs are spent", given(granted, cost("10.5", "")), prepaid("10"), refusal(fault.PaymentRequired)},
		{"a new version of a cost counts the difference", given(granted, cost("10", ""), cost("10.25", "10")), prepaid("10"), event(hold("0.25"))},
		{"a correction counts", given(granted, cost("10.5", ""), cost("-1", "")), prepaid("10"), event(hold("1"))},
		{"a hold grows", given(granted, hold("5")), change("5", "8"), event(changed("5", "8"))},
		{"a hold grows by what is free", given(granted, hold("10")), change("10", "20"), event(changed("10", "10.5"))},
		{"a hold grows, and nothing is free", given(granted, hold("10.5")), change("10.5", "20"), refusal(fault.PaymentRequired)},
		{"a hold grows after it has grown", given(granted, hold("5"), changed("5", "8")), change("8", "20"), event(changed("8", "10.5"))},
		{"a hold shrinks, and nothing is free", given(granted, cost("10.5", ""), hold("5")), change("5", "2"), event(changed("5", "2"))},
		{"after a hold has shrunk", given(granted, hold("10"), changed("10", "2")), prepaid("10"), event(hold("8.5"))},
		{"a hold of nothing", given(granted, hold("5")), change("5", "0"), refusal(fault.Internal)},
		{"a release", given(granted, hold("10")), commands.ReleaseCredit{Released: released}, event(released)},
		{"after a release", given(granted, hold("10"), released), prepaid("10"), event(hold("10"))},
	})
}

// TestCreditRefuses: a command with an invalid amount is refused. After an event
// with an invalid amount, the credit is unknown, not 0.
func TestCreditRefuses(t *testing.T) {
	t.Parallel()
	grant := func(amount, currency, reference string) commands.GrantCredit {
		return commands.GrantCredit{Granted: events.CreditGranted{Amount: amount, Currency: currency, Reference: reference}}
	}
	hold := func(amount, currency string) commands.HoldCredit {
		return commands.HoldCredit{Held: events.CreditHeld{SimulationID: "sim_1", Amount: amount, Currency: currency}, Prepaid: true}
	}
	release := func(amount, currency string) commands.ReleaseCredit {
		return commands.ReleaseCredit{Released: events.CreditReleased{SimulationID: "sim_1", Amount: amount, Currency: currency}}
	}
	rich := given(events.CreditGranted{Amount: "100", Currency: "CREDIT"}, events.CreditHeld{SimulationID: "sim_1", Amount: "10", Currency: "CREDIT"})
	unknown := func(e events.Data) []events.Data { return and(rich, e) }
	check(t, []example[commands.Account]{
		{"a grant of an invalid amount", nil, grant("ten", "CREDIT", "r"), refusal(fault.Validation)},
		{"a grant with an exponent", nil, grant("1e5", "CREDIT", "r"), refusal(fault.Validation)},
		{"a grant without an amount", nil, grant("", "CREDIT", "r"), refusal(fault.Validation)},
		{"a grant of 0", nil, grant("0", "CREDIT", "r"), refusal(fault.Validation)},
		{"a grant below 0", nil, grant("-5", "CREDIT", "r"), refusal(fault.Validation)},
		{"a grant in an unknown currency", nil, grant("5", "EUR", "r"), refusal(fault.Validation)},
		{"a grant without a currency", nil, grant("5", "", "r"), refusal(fault.Validation)},
		{"a grant without a reference", nil, grant("5", "CREDIT", " "), refusal(fault.Validation)},
		{"a hold of an invalid amount", rich, hold("ten", "CREDIT"), refusal(fault.Internal)},
		{"a hold below 0", rich, hold("-1", "CREDIT"), refusal(fault.Internal)},
		{"a hold in an unknown currency", rich, hold("1", "EUR"), refusal(fault.Internal)},
		{"a release of an invalid amount", rich, release("ten", "CREDIT"), refusal(fault.Internal)},
		{"a release of 0", rich, release("0", "CREDIT"), refusal(fault.Internal)},
		{"a release in an unknown currency", rich, release("1", "EUR"), refusal(fault.Internal)},
		{"a release of all that is held", rich, release("10", "CREDIT"), event(events.CreditReleased{SimulationID: "sim_1", Amount: "10", Currency: "CREDIT"})},
		{"a release of more than is held", rich, release("10.01", "CREDIT"), refusal(fault.Internal)},
		{"a release where nothing is held", nil, release("1", "CREDIT"), refusal(fault.Internal)},
		{"after an event with a grant of an invalid amount", unknown(events.CreditGranted{Amount: "ten", Currency: "CREDIT"}), hold("1", "CREDIT"), refusal(fault.Internal)},
		{"after an event with a grant without an amount", unknown(events.CreditGranted{Currency: "CREDIT"}), hold("1", "CREDIT"), refusal(fault.Internal)},
		{"after an event with a cost of an invalid amount", unknown(events.DailyCostRated{Cost: "ten", Currency: "CREDIT"}), hold("1", "CREDIT"), refusal(fault.Internal)},
		{"after an event with a hold of an invalid amount", unknown(events.CreditHeld{Amount: "ten", Currency: "CREDIT"}), release("1", "CREDIT"), refusal(fault.Internal)},
		{"after such an event in another currency", unknown(events.CreditGranted{Amount: "ten", Currency: "USD"}), hold("1", "CREDIT"), event(events.CreditHeld{SimulationID: "sim_1", Amount: "1", Currency: "CREDIT"})},
	})
}

func TestRecordDailyCost(t *testing.T) {
	t.Parallel()
	rated := events.DailyCostRated{DailyCostID: 1, Date: "2026-04-15", Cost: "0.25", Currency: "CREDIT", Version: 1}
	with := func(change func(*events.DailyCostRated)) events.DailyCostRated {
		r := rated
		change(&r)
		return r
	}
	second := with(func(r *events.DailyCostRated) { r.Version, r.PreviousCost = 2, "0.2" })
	correction := with(func(r *events.DailyCostRated) { r.Cost, r.CorrectionOf = "-0.25", 1 })
	examples := []example[commands.Account]{
		{"a cost", nil, commands.RecordDailyCost{Rated: rated}, event(rated)},
		{"another version", given(rated), commands.RecordDailyCost{Rated: second}, event(second)},
		{"a correction below 0", given(rated), commands.RecordDailyCost{Rated: correction}, event(correction)},
	}
	for name, invalidate := range map[string]func(*events.DailyCostRated){
		"an invalid cost":                         func(r *events.DailyCostRated) { r.Cost = "ten" },
		"no cost":                                 func(r *events.DailyCostRated) { r.Cost = "" },
		"a cost below 0":                          func(r *events.DailyCostRated) { r.Cost = "-1" },
		"an unknown currency":                     func(r *events.DailyCostRated) { r.Currency = "EUR" },
		"an invalid date":                         func(r *events.DailyCostRated) { r.Date = "2026-04-31" },
		"no version":                              func(r *events.DailyCostRated) { r.Version = 0 },
		"a first version with a previous cost":    func(r *events.DailyCostRated) { r.PreviousCost = "1" },
		"a later version without a previous cost": func(r *events.DailyCostRated) { r.Version = 2 },
		"an invalid previous cost":                func(r *events.DailyCostRated) { r.Version, r.PreviousCost = 2, "ten" },
	} {
		examples = append(examples, example[commands.Account]{name, nil, commands.RecordDailyCost{Rated: with(invalidate)}, refusal(fault.Internal)})
	}
	check(t, examples)
}

func TestLogAccess(t *testing.T) {
	t.Parallel()
	access := events.AccessLogged{Caller: "ada", Operation: "ListRates", FilterKey: "userName"}
	check(t, []example[commands.Account]{
		{"an access", given(events.CreditGranted{Amount: "1", Currency: "CREDIT"}), commands.LogAccess{Access: access}, event(access)},
	})
}
