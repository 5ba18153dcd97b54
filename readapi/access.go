package readapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/projections"
)

func callerOf(ctx context.Context) (auth.Caller, error) {
	caller, ok := auth.CallerFrom(ctx)
	if !ok {
		return caller, errors.New("the request has no caller")
	}
	return caller, nil
}

// accountOf is the account that the caller sees, "" for every one.
func accountOf(caller auth.Caller) string {
	if caller.Platformwide() {
		return ""
	}
	return caller.AccountID
}

// scopeOf is what the caller sees of a list (completions.md section 1.6).
func scopeOf(caller auth.Caller) projections.Scope {
	s := projections.Scope{AccountID: accountOf(caller)}
	if !caller.AllWorkspaces {
		s.Workspaces = append(slices.Clone(caller.Workspaces),
			events.DefaultWorkspace, events.TemplateWorkspace, events.TracesetWorkspace)
	}
	return s
}

// reach tells callers apart who see different lists.
func reach(caller auth.Caller) string {
	s := scopeOf(caller)
	if s.Workspaces == nil {
		return s.AccountID + " *"
	}
	return s.AccountID + " " + strings.Join(s.Workspaces, " ")
}

// admit checks the caller's access to a resource of an account in a workspace:
// another account's does not exist, the account's own in a workspace of which
// the caller is no member is forbidden (completions.md section 1.6).
func admit(caller auth.Caller, what, id, account, workspace string) error {
	if !caller.Platformwide() && account != caller.AccountID {
		return fault.Missing(what, id)
	}
	return member(caller, workspace)
}

// admitLive is admit for the caller and what goes with its workspace.
func (a *API) admitLive(ctx context.Context, what, id, account, workspace string) error {
	caller, err := callerOf(ctx)
	if err != nil {
		return err
	}
	live, err := projections.WorkspaceIsLive(ctx, a.DB, workspace)
	if err != nil {
		return err
	}
	if !live {
		return fault.Missing(what, id)
	}
	return admit(caller, what, id, account, workspace)
}

func member(caller auth.Caller, workspace string) error {
	if !caller.MemberOf(workspace) {
		return fault.New(fault.Forbidden, "you are not a member of workspace %s", workspace)
	}
	return nil
}

// mayAsk refuses a list of a workspace of which the caller is no member; "" is
// every workspace that the caller sees.
func mayAsk(ctx context.Context, workspace string) error {
	caller, err := callerOf(ctx)
	if err != nil || workspace == "" {
		return err
	}
	return member(caller, workspace)
}

// listable reports whether there can be something to list in a workspace: not
// when it does not exist, or is another account's, and nobody is told which of
// both it is. One of the account asks for a member.
func (a *API) listable(ctx context.Context, caller auth.Caller, workspace string) (bool, error) {
	if events.BuiltIn(workspace) || caller.Platformwide() {
		return true, nil
	}
	w, err := a.Rows.Workspace(ctx, workspace)
	if fault.Is(err, fault.NotFound) || err == nil && w.AccountID != caller.AccountID {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, member(caller, workspace)
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
