package access

import (
	"slices"
	"strings"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/projections"
)

// Account returns the account whose rows the caller sees, "" for those of all
// accounts.
func Account(c auth.Caller) string {
	if c.Platformwide() {
		return ""
	}
	return c.AccountID
}

// builtIn returns the workspaces that are open to everyone.
func builtIn() []string {
	return []string{events.DefaultWorkspace, events.TemplateWorkspace, events.TracesetWorkspace}
}

// workspaces returns the workspaces that the caller is a member of, and nil if
// these are all. A built-in workspace is listed once, even if the token names it
// too.
func workspaces(c auth.Caller) []string {
	if c.AllWorkspaces {
		return nil
	}
	all := slices.Concat(c.Workspaces, builtIn())
	slices.Sort(all)
	return slices.Compact(all)
}

// Reach returns a text that is equal for two callers only if they see the same
// rows.
func Reach(c auth.Caller) string {
	if c.AllWorkspaces {
		return Account(c) + " *"
	}
	return Account(c) + " " + strings.Join(workspaces(c), " ")
}

// Workspaces is the rule of workspaces: the built-in ones, and those of the
// account that the caller is a member of. The row of a workspace belongs to the
// workspace itself.
func Workspaces(c auth.Caller) projections.Rule {
	return projections.Rule{
		{Workspaces: builtIn()},
		{AccountID: Account(c), Workspaces: workspaces(c)},
	}
}

// Owned is the rule of the rows that a workspace owns: its configurations,
// simulations, mapping files and uploads.
func Owned(c auth.Caller) projections.Scope {
	return projections.Scope{AccountID: Account(c), Workspaces: workspaces(c), Live: true}
}

// Tracesets is the rule of tracesets: public ones, those promoted to the account,
// and those that the caller's workspaces own (completions.md section 6.1).
func Tracesets(c auth.Caller) projections.Rule {
	owned := Owned(c)
	owned.Sharing = commands.ScopeWorkspace
	return projections.Rule{
		{Sharing: commands.ScopePublic},
		{Sharing: commands.ScopeTenant, AccountID: Account(c)},
		owned,
	}
}

// TracesetsFrom is the rule of the tracesets that can be seen from a workspace:
// public ones, those promoted to the account, and the workspace's own. Without a
// workspace only public ones can be seen.
func TracesetsFrom(c auth.Caller, workspace string) projections.Rule {
	all := Tracesets(c)
	if workspace == "" {
		return all[:1]
	}
	last := len(all) - 1
	all[last] = all[last].In(workspace)
	return all
}

// Templates is the rule of the template workspace: public templates, which
// include the built-in ones, and the account's own.
func Templates(c auth.Caller) projections.Rule {
	return projections.Rule{
		{Sharing: commands.VisibleToAll},
		{AccountID: Account(c)},
	}
}
