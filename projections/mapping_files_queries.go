package projections

import (
	"context"
	"fmt"
)

// FindMappingFile reads a mapping file, deleted or not. It returns NotFound for
// a missing one.
func FindMappingFile(ctx context.Context, db Reader, id string) (MappingFile, error) {
	return find(ctx, db, &NewMappingFiles().table, "mapping file", id)
}

// MappingFileQuery asks for mapping files that are not deleted, newest first.
type MappingFileQuery struct {
	Scope Scope
	Page  Page
}

// ListMappingFiles returns one page and the position of the next one.
func ListMappingFiles(ctx context.Context, db Reader, q MappingFileQuery) ([]MappingFile, []string, error) {
	t := &NewMappingFiles().table
	keys := []sortKey{{"created_at", "timestamptz", true}, {"id", "text", true}}
	if err := q.Page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("NOT deleted")
	c.add(q.Scope.on(&c, ownersOf("mapping_files", "")))
	c.after(keys, q.Page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT %s FROM mapping_files WHERE %s ORDER BY %s LIMIT %d`,
		t.columns.List(""), c.where(), orderBy(keys), q.Page.Limit+1), c.args...)
	found, err := collect(rows, err, t.columns.Scan)
	if err != nil {
		return nil, nil, fmt.Errorf("list mapping files: %w", err)
	}
	found, next := cut(found, q.Page.Limit, func(m *MappingFile) []any { return []any{m.CreatedAt, m.ID} })
	return found, next, nil
}
