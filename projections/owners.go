package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// StreamOwner has the account and the workspace of a stream, also of a deleted one.
type StreamOwner struct{ Stream, AccountID, WorkspaceID string }

// Owners reads the owners of streams that workspaces own, of workspaces and of webhooks,
// which belong to an account only. It leaves out streams that do not exist and streams of other kinds.
func Owners(ctx context.Context, db Reader, streams []string) ([]StreamOwner, error) {
	rows, err := db.Query(ctx, `
		SELECT id, account_id, id AS workspace_id FROM workspaces WHERE id = ANY($1)
		UNION ALL SELECT id, account_id, '' FROM webhooks WHERE id = ANY($1)
		UNION ALL SELECT id, account_id, workspace_id FROM configurations WHERE id = ANY($1)
		UNION ALL SELECT id, account_id, workspace_id FROM simulations WHERE id = ANY($1)
		UNION ALL SELECT id, account_id, workspace_id FROM studies WHERE id = ANY($1)
		UNION ALL SELECT id, account_id, workspace_id FROM tracesets WHERE id = ANY($1)
		UNION ALL SELECT id, account_id, workspace_id FROM mapping_files WHERE id = ANY($1)
		UNION ALL SELECT id, account_id, workspace_id FROM uploads WHERE id = ANY($1)`, streams)
	found, err := collect(rows, err, pgx.RowToStructByPos[StreamOwner])
	if err != nil {
		return nil, fmt.Errorf("read the owners of %d streams: %w", len(streams), err)
	}
	return found, nil
}
