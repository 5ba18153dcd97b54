package access

import (
	"slices"
	"strings"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/projections"
)

// Account is the account whose rows the caller sees, "" for every account's.
func Account(c auth.Caller) string {
	if c.Platformwide() {
		return ""
	}
	return c.AccountID
}

// builtIn are the workspaces that are open to everyone.
func builtIn() []string {
	return []string{events.DefaultWorkspace, events.TemplateWorkspace, events.TracesetWorkspace}
}

// workspaces are those that the caller is a member of, nil for every one. Each is
// listed once, although a token may name a built-in one.
func workspaces(c auth.Caller) []string {
	if c.AllWorkspaces {
		return nil
	}
	all := slices.Concat(c.Workspaces, builtIn())
	slices.Sort(all)
	return slices.Compact(all)
}

// Reach is equal for two callers only if they see the same rows.
func Reach(c auth.Caller) string {
	if c.AllWorkspaces {
		return Account(c) + " *"
	}
	return Account(c) + " " + strings.Join(workspaces(c), " ")
}

// Workspaces is the rule of workspaces: the built-in ones, and those of the
// account that the caller is a member of. A workspace is a row of itself.
func Workspaces(c auth.Caller) projections.Rule {
	return projections.Rule{
		{Workspaces: builtIn()},
		{AccountID: Account(c), Workspaces: workspaces(c)},
	}
}

// Owned is the rule of what a workspace owns: its configurations, simulations,
// mapping files and uploads.
func Owned(c auth.Caller) projections.Scope {
	return projections.Scope{AccountID: Account(c), Workspaces: workspaces(c), Live: true}
}

// Tracesets is the rule of tracesets: everyone's public ones, those promoted to
// the account, and what its workspaces own (completions.md section 6.1).
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

// Templates is the rule of the template workspace: public templates, which the
// built-in ones are, and the account's own.
func Templates(c auth.Caller) projections.Rule {
	return projections.Rule{
		{Sharing: commands.VisibleToAll},
		{AccountID: Account(c)},
	}
}
