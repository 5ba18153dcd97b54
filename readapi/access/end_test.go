package access

import (
	"testing"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
)

// TestWhoMayEnd is the table of who may end and delete runs and studies that the caller
// sees.
func TestWhoMayEnd(t *testing.T) {
	t.Parallel()
	const workspace = "workspace_000000000000000000000000a1"
	ada := auth.Caller{UserID: "user_ada", Subject: "ada"}
	with := func(change func(*auth.Caller)) auth.Caller {
		c := ada
		change(&c)
		return c
	}
	for name, row := range map[string]struct {
		caller               auth.Caller
		workspace, createdBy string
		may                  bool
	}{
		"own":                           {ada, events.DefaultWorkspace, "user_ada", true},
		"own, of an old release":        {ada, events.DefaultWorkspace, "ada", true},
		"another's":                     {ada, events.DefaultWorkspace, "user_bob", false},
		"of nobody":                     {ada, events.DefaultWorkspace, "", false},
		"another's, in a workspace":     {ada, workspace, "user_bob", true}, // which only members see
		"another's, for all workspaces": {with(func(c *auth.Caller) { c.AllWorkspaces = true }), events.DefaultWorkspace, "user_bob", true},
		"another's, by name":            {with(func(c *auth.Caller) { c.Workspaces = []string{events.DefaultWorkspace} }), events.DefaultWorkspace, "user_bob", true},
		"another's, by another name":    {with(func(c *auth.Caller) { c.Workspaces = []string{workspace} }), events.DefaultWorkspace, "user_bob", false},
		"another's, by a service":       {with(func(c *auth.Caller) { c.Service = true }), events.DefaultWorkspace, "user_bob", false},
	} {
		err := mayEnd(row.caller, "simulation", "sim_1", row.workspace, row.createdBy)
		if (err == nil) != row.may || err != nil && !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v, want it allowed: %t", name, err, row.may)
		}
	}
}
