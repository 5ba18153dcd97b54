package access

import (
	"context"
	"errors"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/projections"
)

// Access reads rows of the read model for the caller of a request, and refuses
// what the caller may not see or do.
type Access struct {
	DB          projections.Reader
	Rows        *projections.Lookups
	TraceRoutes bool // the flag enable_trace_routes
}

// Caller returns the caller of a request.
func Caller(ctx context.Context) (auth.Caller, error) {
	caller, ok := auth.CallerFrom(ctx)
	if !ok {
		return caller, errors.New("the request has no caller")
	}
	return caller, nil
}

// rule is one of the rules in rules.go.
type rule func(auth.Caller) projections.Rule

func owned(c auth.Caller) projections.Rule { return projections.Rule{Owned(c)} }

// everOwned is owned, with the rows of deleted workspaces.
func everOwned(c auth.Caller) projections.Rule {
	s := Owned(c)
	s.Live = false
	return projections.Rule{s}
}

// admit returns nil when the caller sees the row by the rule, Forbidden when
// membership of the workspace is all that is missing, and else NotFound
// (completions.md section 1.6). If the rule does not admit the row as it is given,
// admit reads whether the workspace is live.
func (a *Access) admit(ctx context.Context, may rule, what, id string, row projections.Owner) error {
	caller, err := Caller(ctx)
	if err != nil || may(caller).Has(row) {
		return err
	}
	if row.Live, err = projections.WorkspaceIsLive(ctx, a.DB, row.WorkspaceID); err != nil {
		return err
	}
	everywhere := caller
	everywhere.AllWorkspaces = true
	switch {
	case may(caller).Has(row):
		return nil
	case may(everywhere).Has(row):
		return notMember(row.WorkspaceID)
	}
	return fault.Missing(what, id)
}

// Member returns Forbidden unless the caller is a member of the workspace, or the
// id is "". It does not check the workspace's account.
func Member(ctx context.Context, workspace string) error {
	caller, err := Caller(ctx)
	if err != nil || workspace == "" || caller.MemberOf(workspace) {
		return err
	}
	return notMember(workspace)
}

func notMember(workspace string) error {
	return fault.New(fault.Forbidden, "you are not a member of workspace %s", workspace)
}

// HasWorkspace reports whether the caller may list the content of a workspace, in
// any state. It is false for a missing workspace and for another account's, so
// that the caller cannot tell the two apart. It returns Forbidden for a workspace
// of the caller's account that the caller is not a member of.
func (a *Access) HasWorkspace(ctx context.Context, id string) (bool, error) {
	w, err := a.Rows.Workspace(ctx, id)
	if err == nil {
		err = a.admit(ctx, Workspaces, "workspace", id, projections.Owner{AccountID: w.AccountID, WorkspaceID: id})
	}
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// mayEnd returns Forbidden unless the caller may end or delete a simulation or a
// study. In the default workspace, which is open to the whole account, these are the
// user who made it and callers whose token names the workspace.
func mayEnd(caller auth.Caller, what, id, workspace, createdBy string) error {
	own := createdBy == caller.UserID || createdBy == caller.Subject // old runs have the subject
	if workspace != events.DefaultWorkspace || own || caller.Names(workspace) {
		return nil
	}
	return fault.New(fault.Forbidden, "%s %s is another user's; the token must name workspace %s", what, id, workspace)
}
