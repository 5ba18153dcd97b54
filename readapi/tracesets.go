package readapi

import (
	"context"

	"netsim/fault"
	"netsim/projections"
	"netsim/simulator/validation"
)

// AdmitTraceset checks that the caller can see the traceset: one of the
// account, in a live workspace that the caller is a member of (completions.md
// section 6.1, scope workspace). Any other does not exist.
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
	if t.Status == projections.Deleted || !live || admit(caller, "traceset", id, t.AccountID, t.WorkspaceID) != nil {
		return missing("traceset", id)
	}
	return nil
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
