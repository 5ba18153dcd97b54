package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Owned is a kind of thing that a workspace owns and that is deleted with it.
type Owned string

// What follows a workspace. Simulations do when they have ended.
const (
	OwnedConfigurations Owned = "configurations"
	OwnedTracesets      Owned = "tracesets"
	OwnedMappingFiles   Owned = "mapping_files"
	OwnedUploads        Owned = "uploads"
	OwnedSimulations    Owned = "simulations"
)

func (o Owned) deletable() string {
	switch o {
	case OwnedConfigurations, OwnedMappingFiles:
		return "NOT deleted"
	case OwnedTracesets: // what was promoted stays
		return "status <> 'deleted' AND scope = 'workspace'"
	case OwnedUploads:
		return "status = 'open'"
	case OwnedSimulations:
		return "deleted = '' AND status IN ('completed', 'failed', 'terminated', 'invalid')"
	}
	return "false"
}

// ListDeletable returns the ids of at most limit things of a workspace that
// are to follow it.
func ListDeletable(ctx context.Context, db Reader, what Owned, workspace string, limit int) ([]string, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT id FROM %s WHERE workspace_id = $1 AND %s ORDER BY id LIMIT $2`,
		what, what.deletable()), workspace, limit)
	ids, err := collect(rows, err, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the %s of workspace %s: %w", what, workspace, err)
	}
	return ids, nil
}

// CountCommanded counts the things of a workspace on which the command was
// carried out.
func CountCommanded(ctx context.Context, db Reader, what Owned, workspace, commandID string) (int64, error) {
	var n int64
	err := db.QueryRow(ctx, fmt.Sprintf(`
		SELECT count(*) FROM %s t JOIN command_ids c ON c.stream = t.id AND c.command_id = $2
		WHERE t.workspace_id = $1`, what), workspace, commandID).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the %s of workspace %s: %w", what, workspace, err)
	}
	return n, nil
}
