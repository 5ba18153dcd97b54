package commands_test

import (
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

func TestSetQuotas(t *testing.T) {
	t.Parallel()
	set := func(name string, limit int64) commands.SetQuotas {
		return commands.SetQuotas{Limits: map[string]*int64{name: &limit}}
	}
	quotas := func(q ...events.AccountQuota) events.AccountQuotasSet {
		return events.AccountQuotasSet{Quotas: append([]events.AccountQuota{}, q...)}
	}
	streams, runs := events.AccountQuota{Name: "streams.open", Limit: 3}, events.AccountQuota{Name: "runs.unfinished"}
	byDefault := commands.SetQuotas{Limits: map[string]*int64{"streams.open": nil}}
	check(t, []example[commands.Account]{
		{"the first", nil, set("streams.open", 3), event(quotas(streams))},
		{"another is added", given(quotas(streams)), set("runs.unfinished", 0), event(quotas(runs, streams))},
		{"another limit replaces it", given(quotas(streams)), set("streams.open", 4), event(quotas(events.AccountQuota{Name: "streams.open", Limit: 4}))},
		{"the same limit", given(quotas(streams)), set("streams.open", 3), nothing()},
		{"the default removes it", given(quotas(runs, streams)), byDefault, event(quotas(runs))},
		{"the default of the last", given(quotas(streams)), byDefault, event(quotas())},
		{"the default of none", nil, byDefault, nothing()},
		{"an unknown name", nil, set("streams", 3), refusal(fault.Validation)},
		{"a limit below 0", nil, set("streams.open", -1), refusal(fault.Validation)},
		{"a limit above the largest", nil, set("streams.open", 1_000_000_000_000_000), refusal(fault.Validation)},
	})
}
