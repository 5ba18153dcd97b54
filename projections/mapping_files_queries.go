package projections

import (
	"context"
	"fmt"
)

// FindMappingFile reads a mapping file, also one that is deleted. It returns
// NotFound for one that never was.
func FindMappingFile(ctx context.Context, db Reader, id string) (MappingFile, error) {
	return find(ctx, db, &NewMappingFiles().table, "mapping file", id)
}

// MappingFileQuery asks for the mapping files of a workspace that are not
// deleted, newest first.
type MappingFileQuery struct {
	AccountID string // "" for every account
	Workspace string
	Page      Page
}

// ListMappingFiles returns one page and the position of the next one; nothing
// of a workspace that is not live.
func ListMappingFiles(ctx context.Context, db Reader, q MappingFileQuery) ([]MappingFile, []string, error) {
	t := &NewMappingFiles().table
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("NOT deleted")
	c.add("workspace_id = ?", q.Workspace)
	c.add("EXISTS (SELECT FROM workspaces WHERE id = ? AND state = 'live')", q.Workspace)
	if q.AccountID != "" {
		c.add("account_id = ?", q.AccountID)
	}
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM mapping_files WHERE %s ORDER BY %s LIMIT %d`,
		t.columns.List(""), c.where(), orderBy(keys), q.Page.Limit+1), c.args...)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, nil, fmt.Errorf("list the mapping files of workspace %s: %w", q.Workspace, err)
	}
	found, next := cut(found, q.Page.Limit, func(m *MappingFile) []any { return []any{m.CreatedAt, m.ID} })
	return found, next, nil
}
