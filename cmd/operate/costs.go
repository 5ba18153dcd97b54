package operate

import (
	"context"

	"netsim/billing/focus"
	"netsim/infra/telemetry"
	"netsim/projections"
)

// ExportCosts writes daily costs as a FOCUS dataset to a directory, from one snapshot of the
// live read model.
func (t *Tools) ExportCosts(ctx context.Context, r focus.Request, directory string) (done focus.Report, err error) {
	r.Provider = t.conn.Config.Platform
	err = projections.CostSnapshot(ctx, t.conn.Pool, func(db projections.Reader) error {
		done, err = focus.Export(ctx, db, r, focus.Files{Directory: directory, Generator: telemetry.ReadBuild().Version})
		return err
	})
	return done, err
}
