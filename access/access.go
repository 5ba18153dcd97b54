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

// rule is a rule of rules.go.
type rule func(auth.Caller) projections.Rule

func owned(c auth.Caller) projections.Rule { return projections.Rule{Owned(c)} }

// everOwned is owned, but what a deleted workspace has passes.
func everOwned(c auth.Caller) projections.Rule {
	s := Owned(c)
	s.Live = false
	return projections.Rule{s}
}

// admit returns nil when the rule shows the row to the caller. A row that only
// another membership would show is Forbidden, every other one NotFound
// (completions.md section 1.6). row.Live is looked up when it matters.
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

// Member refuses a caller who is no member of a workspace, whoever's it is. ""
// stands for every workspace of the caller.
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

// HasWorkspace reports whether a workspace in any state can have something for
// the caller. It is false for a missing one and for another account's, and the
// caller does not learn which of the two it is. One of the account asks for a
// member.
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

// maySteer refuses to end or remove a run of the default workspace, which is
// open to the whole account, unless the run is the caller's or the token names
// the workspace.
func maySteer(caller auth.Caller, s *projections.Simulation) error {
	own := s.CreatedBy == caller.UserID || s.CreatedBy == caller.Subject // of runs from before ids were opaque
	if s.WorkspaceID != events.DefaultWorkspace || own || caller.Names(s.WorkspaceID) {
		return nil
	}
	return fault.New(fault.Forbidden, "simulation %s is another user's; the token must name workspace %s", s.ID, s.WorkspaceID)
}
