package projections

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// Referrer is a resource with the objects of the object store that it needs.
type Referrer struct {
	ID      string
	Objects []Reference
	// Results is the prefix of the files that the first object, a manifest, lists; "" if it
	// lists none.
	Results string
}

// Reference is an object that a resource needs.
type Reference struct {
	Key  string
	What string
	Size int64 // bytes; 0 if the log does not say
}

// What objects are.
const (
	TracesetFileObject   = "traceset file"
	MappingFileObject    = "mapping file"
	ManifestObject       = "manifest"
	EngineSnapshotObject = "engine snapshot"
)

// ReferrerQuery selects the resource with the id ID, or without one a page of those that
// follow the id After.
type ReferrerQuery struct{ After, ID string }

// referrersPage is the number of resources in a page.
const referrersPage = 500

// where returns the condition with its one argument.
func (q ReferrerQuery) where() (string, string) {
	if q.ID != "" {
		return `id = $1`, q.ID
	}
	return fmt.Sprintf(`id > $1 ORDER BY id LIMIT %d`, referrersPage), q.After
}

// TracesetObjects returns tracesets with their files.
func TracesetObjects(ctx context.Context, db Reader, q ReferrerQuery) (page []Referrer, err error) {
	where, id := q.where()
	rows, err := db.Query(ctx, `SELECT id, files FROM tracesets WHERE status <> 'deleted' AND `+where, id)
	if err != nil {
		return nil, fmt.Errorf("read the tracesets: %w", err)
	}
	var text string
	_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
		var files []events.TracesetFile
		if text != "" {
			if err := json.Unmarshal([]byte(text), &files); err != nil {
				return fmt.Errorf("the files of %s: %w", id, err)
			}
		}
		r := Referrer{ID: id}
		for _, f := range files {
			r.Objects = append(r.Objects, Reference{Key: f.ObjectKey, What: TracesetFileObject, Size: f.Size})
		}
		page = append(page, r)
		return nil
	})
	return page, err
}

// MappingFileObjects returns mapping files with their contents.
func MappingFileObjects(ctx context.Context, db Reader, q ReferrerQuery) (page []Referrer, err error) {
	where, id := q.where()
	rows, err := db.Query(ctx, `SELECT id, object_key, size_bytes FROM mapping_files WHERE NOT deleted AND `+where, id)
	if err != nil {
		return nil, fmt.Errorf("read the mapping files: %w", err)
	}
	object := Reference{What: MappingFileObject}
	_, err = pgx.ForEachRow(rows, []any{&id, &object.Key, &object.Size}, func() error {
		page = append(page, Referrer{ID: id, Objects: []Reference{object}})
		return nil
	})
	return page, err
}

// SimulationObjects returns simulations with the manifest of their published results, and
// those without with the snapshot from which they would go on.
func SimulationObjects(ctx context.Context, db Reader, q ReferrerQuery) (page []Referrer, err error) {
	where, id := q.where()
	rows, err := db.Query(ctx, `SELECT id, results_manifest, results_prefix, checkpoint_key FROM simulations
		WHERE deleted = '' AND (results_manifest <> '' OR checkpoint_key <> '' AND status IN ('validating', 'provisioning', 'running')) AND `+where, id)
	if err != nil {
		return nil, fmt.Errorf("read the simulations: %w", err)
	}
	var manifest, prefix, snapshot string
	_, err = pgx.ForEachRow(rows, []any{&id, &manifest, &prefix, &snapshot}, func() error {
		r := Referrer{ID: id, Objects: []Reference{{Key: manifest, What: ManifestObject}}, Results: prefix}
		if manifest == "" {
			r = Referrer{ID: id, Objects: []Reference{{Key: snapshot, What: EngineSnapshotObject}}}
		}
		page = append(page, r)
		return nil
	})
	return page, err
}
