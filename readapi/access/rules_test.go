package access_test

import (
	"strings"
	"testing"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/projections"
	"netsim/readapi/access"
)

// lettered is a caller with the letter that stands for it in the tables.
type lettered struct {
	letter string
	caller auth.Caller
}

// everyone returns the callers of the tables.
func everyone() []lettered {
	return []lettered{
		{"u", auth.Caller{AccountID: "acct_a", AllWorkspaces: true}},
		{"r", auth.Caller{AccountID: "acct_a", AllWorkspaces: true, Billing: true}},
		{"o", auth.Caller{AccountID: "acct_a", AllWorkspaces: true, Operator: true}},
		{"m", auth.Caller{AccountID: "acct_a", Workspaces: []string{teamA1, teamB}}}, // a member, whose token also names another account's workspace
		{"s", auth.Caller{AccountID: "acct_a", AllWorkspaces: true, Service: true}},
		{"b", auth.Caller{AccountID: "acct_b", AllWorkspaces: true, Service: true}},
		{"*", auth.Caller{AccountID: auth.AllAccounts, AllWorkspaces: true, Service: true}},
		{"l", auth.Caller{AccountID: auth.AllAccounts, Workspaces: []string{teamA1}, Service: true}},        // for every account, limited
		{"x", auth.Caller{AccountID: auth.AllAccounts, AllWorkspaces: true, Billing: true, Operator: true}}, // no service token; the verifier refuses it
	}
}

// letters returns the letters of the callers for which sees returns true, in the order of
// everyone.
func letters(sees func(auth.Caller) bool) string {
	var seen strings.Builder
	for _, c := range everyone() {
		if sees(c.caller) {
			seen.WriteString(c.letter)
		}
	}
	return seen.String()
}

// TestWhoSeesRows is the table of who sees which rows, by each rule.
func TestWhoSeesRows(t *testing.T) {
	t.Parallel()
	const (
		all  = "uromsb*lx"
		gone = false // the workspace is deleted, or is being deleted
		live = true
	)
	own := func(c auth.Caller) projections.Rule { return projections.Rule{access.Owned(c)} }
	from := func(workspace string) func(auth.Caller) projections.Rule {
		return func(c auth.Caller) projections.Rule { return access.TracesetsFrom(c, workspace) }
	}
	const private, tenant, public = commands.ScopeWorkspace, commands.ScopeTenant, commands.ScopePublic
	for _, row := range []struct {
		name                        string
		rule                        func(auth.Caller) projections.Rule
		account, workspace, sharing string
		live                        bool
		seen                        string
	}{
		{"workspaces", access.Workspaces, "", events.DefaultWorkspace, "", gone, all},
		{"workspaces", access.Workspaces, "", events.TemplateWorkspace, "", gone, all},
		{"workspaces", access.Workspaces, "", events.TracesetWorkspace, "", gone, all},
		{"workspaces", access.Workspaces, "acct_a", teamA1, "", gone, "uroms*l"}, // its state is checked beside the rule
		{"workspaces", access.Workspaces, "acct_a", teamA2, "", gone, "uros*"},
		{"workspaces", access.Workspaces, "acct_b", teamB, "", gone, "b*"},

		{"owned", own, "acct_a", teamA1, "", live, "uroms*l"},
		{"owned", own, "acct_a", teamA1, "", gone, ""},
		{"owned", own, "acct_a", teamA2, "", live, "uros*"},
		{"owned", own, "acct_a", events.DefaultWorkspace, "", live, "uroms*l"},
		{"owned", own, "acct_b", events.DefaultWorkspace, "", live, "b*l"},
		{"owned", own, "acct_b", teamB, "", live, "b*"},
		{"owned", own, "acct_b", teamB, "", gone, ""},
		{"owned", own, "", "", "", live, "*"}, // without an owner

		{"tracesets", access.Tracesets, "acct_a", teamA1, private, live, "uroms*l"},
		{"tracesets", access.Tracesets, "acct_a", teamA1, private, gone, ""},
		{"tracesets", access.Tracesets, "acct_a", teamA2, private, live, "uros*"},
		{"tracesets", access.Tracesets, "acct_b", teamB, private, live, "b*"},
		{"tracesets", access.Tracesets, "acct_a", teamA2, tenant, gone, "uroms*l"}, // promoted ones stay
		{"tracesets", access.Tracesets, "acct_b", teamB, tenant, live, "b*l"},
		{"tracesets", access.Tracesets, "acct_b", teamB, public, gone, all},

		{"tracesets from a1", from(teamA1), "acct_a", teamA1, private, live, "uroms*l"},
		{"tracesets from a1", from(teamA1), "acct_a", teamA1, private, gone, ""},
		{"tracesets from a1", from(teamA1), "acct_a", teamA2, private, live, ""},
		{"tracesets from a1", from(teamA1), "acct_b", teamA1, private, live, "b*l"}, // no such row exists
		{"tracesets from a1", from(teamA1), "acct_a", teamA2, tenant, gone, "uroms*l"},
		{"tracesets from a1", from(teamA1), "acct_b", teamB, tenant, live, "b*l"},
		{"tracesets from a1", from(teamA1), "acct_b", teamB, public, gone, all},
		{"tracesets from nowhere", from(""), "acct_a", teamA1, private, live, ""},
		{"tracesets from nowhere", from(""), "acct_a", teamA1, tenant, live, ""},
		{"tracesets from nowhere", from(""), "acct_b", teamB, public, gone, all},

		{"templates", access.Templates, "", events.TemplateWorkspace, commands.VisibleToAll, live, all},
		{"templates", access.Templates, "acct_a", events.TemplateWorkspace, commands.VisibleToAccount, live, "uroms*l"},
		{"templates", access.Templates, "acct_b", events.TemplateWorkspace, commands.VisibleToAccount, live, "b*l"},
		{"templates", access.Templates, "acct_b", events.TemplateWorkspace, commands.VisibleToAll, live, all},
	} {
		owner := projections.Owner{AccountID: row.account, WorkspaceID: row.workspace, Sharing: row.sharing, Live: row.live}
		if got := letters(func(c auth.Caller) bool { return row.rule(c).Has(owner) }); got != row.seen {
			t.Errorf("%s: the row %+v is seen by %q, want %q", row.name, owner, got, row.seen)
		}
		reached := map[string]bool{}
		for _, c := range everyone() {
			reach, sees := access.Reach(c.caller), row.rule(c.caller).Has(owner)
			if before, known := reached[reach]; known && before != sees {
				t.Errorf("%s: of two callers with the reach %q, one sees the row %+v", row.name, reach, owner)
			}
			reached[reach] = sees
		}
	}
}
