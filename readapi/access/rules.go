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

// Webhooks is the rule of webhooks: those of the account that send nothing that the caller
// does not see. Their events, which only the operator of the platform sees, have the URLs.
func Webhooks(c auth.Caller) projections.WebhookReach {
	return projections.WebhookReach{AccountID: Account(c), Workspaces: workspaces(c), Billing: c.ReadsBilling()}
}

// EventRule says which events a caller sees.
type EventRule struct {
	caller     auth.Caller
	billing    bool // whether the caller reads billing
	operator   bool // whether the caller sees every stream
	workspaces projections.Rule
	owned      projections.Rule
}

// Events is the rule of events: those of the streams that the caller may see by the
// rules of workspaces and of what they own, whether deleted or not. Sharing does not
// matter: the history of something shared says who else uses it. Events of billing
// need what reads of billing need, if billing has operations. A
// platform-wide service token sees everything; what no operation shows, it alone sees.
func Events(c auth.Caller, billing bool) EventRule {
	return EventRule{caller: c, billing: billing && c.ReadsBilling(), workspaces: Workspaces(c), owned: everOwned(c)}
}

// Streams is the rule of streams and of causes, which are read to find out why a state is
// as it is: that of Events, and an operator sees everything.
func Streams(c auth.Caller, billing bool) EventRule {
	r := Events(c, billing)
	r.operator = c.Operator
	return r
}

// Account returns the account whose events the caller sees, "" for those of all.
func (r EventRule) Account() string {
	if r.operator {
		return ""
	}
	return Account(r.caller)
}

// Has reports whether the caller sees an event of the type in the stream, which
// belongs to the account and the workspace.
func (r EventRule) Has(eventType, stream string, owner projections.Owner) bool {
	if r.operator {
		return true
	}
	prefix, _, _ := strings.Cut(stream, "_")
	switch prefix {
	case events.WorkspacePrefix:
		return r.workspaces.Has(owner)
	case events.ConfigurationPrefix, events.SimulationPrefix, events.StudyPrefix, events.TracesetPrefix, events.MappingFilePrefix, events.UploadPrefix:
		return r.owned.Has(owner)
	case events.AccountPrefix:
		if eventType == (events.AccessLogged{}).EventType() {
			return r.everything()
		}
		return r.billing && (r.Account() == "" || r.Account() == stream)
	case events.PlatformPrefix: // the price list, which every reader of billing sees
		return r.billing
	}
	return r.everything()
}

// everything reports whether the caller is the operator of the platform.
func (r EventRule) everything() bool {
	return r.operator || r.caller.Platformwide() && r.caller.AllWorkspaces
}

// Keys returns, by family, the partition keys of the events that the caller can see;
// nil stands for every key.
func (r EventRule) Keys() map[events.Family][]string {
	keys := map[events.Family][]string{}
	for _, family := range events.Families() {
		switch {
		case r.everything():
			keys[family] = nil
		case family == events.Billing:
			if r.billing {
				keys[family] = nil
			}
		case family != events.Checkpoints:
			keys[family] = slices.Clone(workspaces(r.caller))
		}
	}
	return keys
}
