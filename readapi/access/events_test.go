package access_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netsim/events"
	"netsim/infra/auth"
	"netsim/projections"
	"netsim/readapi/access"
)

// TestWhoSeesEvents is the table of who sees the events of which streams.
func TestWhoSeesEvents(t *testing.T) {
	t.Parallel()
	callers := []struct {
		letter string
		caller auth.Caller
	}{
		{"u", auth.Caller{AccountID: "acct_a", AllWorkspaces: true}},
		{"m", auth.Caller{AccountID: "acct_a", Workspaces: []string{teamA1, teamB}}}, // a member, whose token also names another account's workspace
		{"s", auth.Caller{AccountID: "acct_a", AllWorkspaces: true, Service: true}},
		{"b", auth.Caller{AccountID: "acct_b", AllWorkspaces: true, Service: true}},
		{"*", auth.Caller{AccountID: auth.AllAccounts, AllWorkspaces: true, Service: true}},
		{"l", auth.Caller{AccountID: auth.AllAccounts, Workspaces: []string{teamA1}, Service: true}}, // for every account, limited
		{"x", auth.Caller{AccountID: auth.AllAccounts, AllWorkspaces: true}},                         // no service token; the verifier refuses it
	}
	const used, logged = "netsim.billing.usage_recorded.v1", "netsim.billing.access_logged.v1"
	for _, row := range []struct{ stream, eventType, account, workspace, seen string }{
		{events.DefaultWorkspace, "", "", events.DefaultWorkspace, "umsb*lx"},
		{teamA1, "", "acct_a", teamA1, "ums*l"},
		{teamA2, "", "acct_a", teamA2, "us*"},
		{teamB, "", "acct_b", teamB, "b*"},
		{"sim_1", "", "acct_a", teamA1, "ums*l"},
		{"sim_2", "", "acct_a", teamA2, "us*"},
		{"sim_3", "", "acct_a", deleted, "us*"}, // its deletion is an event, too
		{"sim_4", "", "acct_a", events.DefaultWorkspace, "ums*l"},
		{"sim_5", "", "acct_b", events.DefaultWorkspace, "b*l"},
		{"sim_6", "", "", "", "*"}, // without an owner
		{"config_1", "", "acct_a", teamA1, "ums*l"},
		{"config_2", "", "acct_b", events.TemplateWorkspace, "b*l"}, // a template, shared or not
		{"ts_1", "", "acct_a", teamA2, "us*"},
		{"ts_2", "", "acct_b", teamB, "b*"}, // a traceset, promoted or not
		{"mapfile_1", "", "acct_a", teamA1, "ums*l"},
		{"upload_1", "", "acct_a", teamA1, "ums*l"},
		{"acct_a", used, "acct_a", "", "s*l"},
		{"acct_b", used, "acct_b", "", "b*l"},
		{"acct_a", logged, "acct_a", "", "*"},
		{"platform_1", "", "", "", "sb*l"},
		{"checkpoint_1", "", "", "", "*"},
		{"seal_workspaces_0_2", "", "", "", "*"},
		{"planet_1", "", "", "", "*"}, // of a later release
		{"", "", "", "", "*"},
	} {
		var seen, billing []string
		for _, c := range callers {
			owner := projections.Owner{AccountID: row.account, WorkspaceID: row.workspace}
			rule := access.Events(c.caller, true)
			has := rule.Has(row.eventType, row.stream, owner)
			if has {
				seen = append(seen, c.letter)
			}
			if access.Events(c.caller, false).Has(row.eventType, row.stream, owner) != has {
				billing = append(billing, c.letter)
			}
			checkKeys(t, c.letter, rule, row.stream, row.workspace, has)
		}
		want := strings.Split(row.seen, "")
		slices.Sort(want)
		slices.Sort(seen)
		if !slices.Equal(seen, want) {
			t.Errorf("the events %s of %q, of %q in %q, are seen by %v, want %v", row.eventType, row.stream, row.account, row.workspace, seen, want)
		}
		if isBilling := row.eventType == used || strings.HasPrefix(row.stream, "platform"); isBilling != (len(billing) > 0) {
			t.Errorf("%s: without billing, %v do not see it", row.stream, billing)
		}
	}
}

// checkKeys checks that the partition keys of the rule include those of what it shows.
func checkKeys(t *testing.T, caller string, rule access.EventRule, stream, workspace string, seen bool) {
	t.Helper()
	family, err := events.FamilyOf(stream)
	if err != nil || !seen {
		return
	}
	key := workspace
	if key == "" {
		key = stream
	}
	keys, ok := rule.Keys()[family]
	if !ok || keys != nil && !slices.Contains(keys, key) {
		t.Errorf("%s sees %s, but its partition keys are %s", caller, stream, fmt.Sprint(keys))
	}
}
