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
	const used, logged = "netsim.billing.usage_recorded.v1", "netsim.billing.access_logged.v1"
	for _, row := range []struct{ stream, eventType, account, workspace, seen string }{
		{events.DefaultWorkspace, "", "", events.DefaultWorkspace, "uromsb*lx"},
		{teamA1, "", "acct_a", teamA1, "uroms*l"},
		{teamA2, "", "acct_a", teamA2, "uros*"},
		{teamB, "", "acct_b", teamB, "b*"},
		{"sim_1", "", "acct_a", teamA1, "uroms*l"},
		{"sim_2", "", "acct_a", teamA2, "uros*"},
		{"sim_3", "", "acct_a", deleted, "uros*"}, // its deletion is an event, too
		{"sim_4", "", "acct_a", events.DefaultWorkspace, "uroms*l"},
		{"sim_5", "", "acct_b", events.DefaultWorkspace, "b*l"},
		{"sim_6", "", "", "", "*"}, // without an owner
		{"config_1", "", "acct_a", teamA1, "uroms*l"},
		{"config_2", "", "acct_b", events.TemplateWorkspace, "b*l"}, // a template, shared or not
		{"ts_1", "", "acct_a", teamA2, "uros*"},
		{"ts_2", "", "acct_b", teamB, "b*"}, // a traceset, promoted or not
		{"mapfile_1", "", "acct_a", teamA1, "uroms*l"},
		{"upload_1", "", "acct_a", teamA1, "uroms*l"},
		{"acct_a", used, "acct_a", "", "rs*l"},
		{"acct_b", used, "acct_b", "", "b*l"},
		{"acct_a", logged, "acct_a", "", "*"},
		{"platform_1", "", "", "", "rsb*lx"},
		{"checkpoint_1", "", "", "", "*"},
		{"seal_workspaces_0_2", "", "", "", "*"},
		{"planet_1", "", "", "", "*"}, // of a later release
		{"", "", "", "", "*"},
	} {
		owner := projections.Owner{AccountID: row.account, WorkspaceID: row.workspace}
		var billing []string
		seen := letters(func(c auth.Caller) bool {
			rule := access.Events(c, true)
			has := rule.Has(row.eventType, row.stream, owner)
			if access.Events(c, false).Has(row.eventType, row.stream, owner) != has {
				billing = append(billing, c.AccountID)
			}
			if access.Streams(c, true).Has(row.eventType, row.stream, owner) != (has || c.Operator) {
				t.Errorf("the facts %s of the stream %q are seen by %+v other than its events", row.eventType, row.stream, c)
			}
			checkKeys(t, c, rule, row.stream, row.workspace, has)
			return has
		})
		if seen != row.seen {
			t.Errorf("the events %s of %q, of %q in %q, are seen by %q, want %q", row.eventType, row.stream, row.account, row.workspace, seen, row.seen)
		}
		if isBilling := row.eventType == used || strings.HasPrefix(row.stream, "platform"); isBilling != (len(billing) > 0) {
			t.Errorf("%s: without billing, %v do not see it", row.stream, billing)
		}
	}
}

// checkKeys checks that the partition keys of the rule include those of what it shows.
func checkKeys(t *testing.T, caller auth.Caller, rule access.EventRule, stream, workspace string, seen bool) {
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
		t.Errorf("%+v sees %s, but its partition keys are %s", caller, stream, fmt.Sprint(keys))
	}
}
