package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// MappingFilesOfChecksum returns an account's mapping files in a workspace that
// have the checksum and are not deleted. Files with different contents may have
// the same checksum.
func MappingFilesOfChecksum(ctx context.Context, db Reader, account, workspace, hash string) ([]MappingFile, error) {
	t := &NewMappingFiles().table
	rows, err := db.Query(ctx, fmt.Sprintf(
		`SELECT %s FROM %s WHERE NOT deleted AND workspace_id = $1 AND hash = $2 AND account_id = $3 ORDER BY id`,
		t.columns.List(""), t.name), workspace, hash, account)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, fmt.Errorf("look for mapping files of %s: %w", hash, err)
	}
	return found, nil
}

// TracesetOfContent returns the id of an account's oldest traceset in a workspace
// that has the library and the name and is not deleted; "" if there is none.
func TracesetOfContent(ctx context.Context, db Reader, account, workspace, libraryHash, name string) (string, error) {
	var id string
	err := db.QueryRow(ctx, `
		SELECT id FROM tracesets
		WHERE library_hash = $1 AND account_id = $2 AND workspace_id = $3 AND name = $4 AND status <> 'deleted'
		ORDER BY created_at, id LIMIT 1`, libraryHash, account, workspace, name).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("look for tracesets of library %s: %w", libraryHash, err)
	}
	return id, nil
}
