package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Owned is a table of resources that are deleted with their workspace.
type Owned string

// The tables of resources that a workspace owns. A simulation can be deleted only
// after it has ended.
const (
	OwnedConfigurations Owned = "configurations"
	OwnedTracesets      Owned = "tracesets"
	OwnedMappingFiles   Owned = "mapping_files"
	OwnedUploads        Owned = "uploads"
	OwnedStudies        Owned = "studies"
	OwnedSimulations    Owned = "simulations"
)

func (o Owned) deletable() string {
	switch o {
	case OwnedConfigurations, OwnedMappingFiles:
		return "NOT deleted"
	case OwnedTracesets: // promoted tracesets outlive the workspace
		return "status <> 'deleted' AND scope = 'workspace'"
	case OwnedUploads:
		return "status = 'open'"
	case OwnedStudies:
		return "deleted = ''"
	case OwnedSimulations:
		return "deleted = '' AND status IN ('completed', 'failed', 'terminated', 'invalid')"
	}
	return "false"
}

// ListDeletable returns the ids of at most limit resources of a workspace that
// can be deleted with it now.
func ListDeletable(ctx context.Context, db Reader, what Owned, workspace string, limit int) ([]string, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT id FROM %s WHERE workspace_id = $1 AND %s ORDER BY id LIMIT $2`,
		what, what.deletable()), workspace, limit)
	ids, err := collect(rows, err, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the %s of workspace %s: %w", what, workspace, err)
	}
	return ids, nil
}

// CountCommanded counts the resources of a workspace on which the command was
// executed.
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
