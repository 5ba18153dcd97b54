package readapi

import (
	"context"

	"netsim/commands"
	"netsim/fault"
	"netsim/infra/auth"
	"netsim/projections"
	"netsim/simulator/validation"
)

// AdmitTraceset checks that the traceset is there for the caller. Any that the
// caller cannot see does not exist; without the traceset routes, none does.
func (a *API) AdmitTraceset(ctx context.Context, id string) error {
	caller, err := callerOf(ctx)
	if err != nil {
		return err
	}
	t, err := projections.FindTraceset(ctx, a.DB, id)
	if err != nil {
		return err
	}
	live, err := projections.WorkspaceIsLive(ctx, a.DB, t.WorkspaceID)
	if err != nil {
		return err
	}
	if !a.TraceRoutes || t.Status == projections.Deleted || !live || !sees(caller, &t) {
		return missing("traceset", id)
	}
	return nil
}

// sees reports whether the caller sees a traceset by its scope (completions.md
// section 6.1).
func sees(caller auth.Caller, t *projections.Traceset) bool {
	switch t.Scope {
	case commands.ScopePublic:
		return true
	case commands.ScopeTenant:
		return caller.Platformwide() || t.AccountID == caller.AccountID
	}
	return admit(caller, "traceset", t.ID, t.AccountID, t.WorkspaceID) == nil
}

// Traceset returns what validation needs of a traceset. One that never was is
// as good as deleted.
func (a *API) Traceset(ctx context.Context, id string) (validation.Traceset, error) {
	t, err := projections.FindTraceset(ctx, a.DB, id)
	if fault.Is(err, fault.NotFound) {
		return validation.Traceset{Status: projections.Deleted}, nil
	}
	return validation.Traceset{Status: t.Status, Ranks: t.RankCount}, err
}
