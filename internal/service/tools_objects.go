package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/fault"
	"netsim/runs"
)

// MissingObject is an object that the log refers to and that the object store does not
// have, or has with another size.
type MissingObject struct {
	Key   string `json:"key"`
	Owner string `json:"owner"` // id of the traceset, mapping file or simulation
	What  string `json:"what"`  // traceset file, mapping file, manifest, result file or engine snapshot
	Size  int64  `json:"size"`  // bytes; 0 if the log does not say
	Found int64  `json:"found"` // bytes of the stored object; -1 if there is none
}

// ObjectsReport says what was compared.
type ObjectsReport struct {
	Referenced int64 `json:"referenced"` // objects
	Bytes      int64 `json:"bytes"`      // that these have
	Missing    int64 `json:"missing"`    // objects, those with another size too
}

// objectCalls is how many calls to the object store are made at the same time.
const objectCalls = 16

// reference reads resources with their objects: those with an id, or a page of those after
// an id.
type reference func(ctx context.Context, which, id string) ([]owned, error)

const (
	following = `id > $1 ORDER BY id LIMIT 500`
	exactly   = `id = $1`
)

// MissingObjects compares the objects that the log refers to, by its live read model, with
// the object store, and calls found for each one that is missing. It reads only. A resource
// that is deleted meanwhile is not reported. The heads of log checkpoints are compared by
// Auditor.Heads.
func (t *Tools) MissingObjects(ctx context.Context, found func(MissingObject) error) (r ObjectsReport, err error) {
	for _, refers := range []reference{t.tracesetObjects, t.mappingFileObjects, t.simulationObjects} {
		for after := ""; ; {
			page, err := refers(ctx, following, after)
			if err != nil || len(page) == 0 {
				if err != nil {
					return r, err
				}
				break
			}
			if err := t.compareObjects(ctx, page, refers, &r, found); err != nil {
				return r, err
			}
			after = page[len(page)-1].id
		}
	}
	return r, nil
}

// owned is a resource with the objects that it needs.
type owned struct {
	id      string
	objects []MissingObject // with Found not set
	// manifest is the prefix of the files that the first object lists; "" if it lists none
	manifest string
}

// compareObjects looks for the objects of a page.
func (t *Tools) compareObjects(ctx context.Context, page []owned, refers reference, r *ObjectsReport, found func(MissingObject) error) error {
	var mu sync.Mutex
	group, calls := errgroup.WithContext(ctx)
	group.SetLimit(objectCalls)
	for _, o := range page {
		group.Go(func() error {
			missing, compared, err := t.missingOf(calls, o)
			if err == nil && len(missing) > 0 {
				missing, err = t.still(calls, o, missing, refers)
			}
			mu.Lock()
			defer mu.Unlock()
			r.Referenced, r.Bytes, r.Missing = r.Referenced+compared.Referenced, r.Bytes+compared.Bytes, r.Missing+int64(len(missing))
			for i := 0; i < len(missing) && err == nil; i++ {
				err = found(missing[i])
			}
			return err
		})
	}
	return group.Wait()
}

// missingOf returns the missing objects of a resource.
func (t *Tools) missingOf(ctx context.Context, o owned) (missing []MissingObject, r ObjectsReport, err error) {
	all := o.objects
	if o.manifest != "" {
		files, err := t.resultFiles(ctx, o)
		if err != nil {
			return nil, r, err
		}
		all = append(slices.Clone(all), files...)
	}
	for _, object := range all {
		r.Referenced, r.Bytes = r.Referenced+1, r.Bytes+object.Size
		info, err := t.core.objects.Head(ctx, object.Key)
		switch {
		case fault.Is(err, fault.NotFound):
			object.Found = -1
		case err != nil:
			return nil, r, err
		case object.Size == 0 || info.Size == object.Size:
			continue
		default:
			object.Found = info.Size
		}
		missing = append(missing, object)
	}
	return missing, r, nil
}

// still returns those of the missing objects that the resource still needs.
func (t *Tools) still(ctx context.Context, o owned, missing []MissingObject, refers reference) ([]MissingObject, error) {
	page, err := refers(ctx, exactly, o.id)
	if err != nil || len(page) == 0 || page[0].manifest != o.manifest {
		return nil, err
	}
	return slices.DeleteFunc(missing, func(m MissingObject) bool {
		return m.What != resultFileObject && !slices.ContainsFunc(page[0].objects, func(now MissingObject) bool { return now.Key == m.Key })
	}), nil
}

const (
	tracesetObject   = "traceset file"
	mappingObject    = "mapping file"
	manifestObject   = "manifest"
	resultFileObject = "result file"
	snapshotObject   = "engine snapshot"
)

func (t *Tools) tracesetObjects(ctx context.Context, which, id string) (page []owned, err error) {
	rows, err := t.pool.Query(ctx, `SELECT id, files FROM tracesets WHERE status <> 'deleted' AND `+which, id)
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
		o := owned{id: id}
		for _, f := range files {
			o.objects = append(o.objects, MissingObject{Key: f.ObjectKey, Owner: id, What: tracesetObject, Size: f.Size})
		}
		page = append(page, o)
		return nil
	})
	return page, err
}

func (t *Tools) mappingFileObjects(ctx context.Context, which, id string) (page []owned, err error) {
	rows, err := t.pool.Query(ctx, `SELECT id, object_key, size_bytes FROM mapping_files WHERE NOT deleted AND `+which, id)
	if err != nil {
		return nil, fmt.Errorf("read the mapping files: %w", err)
	}
	m := MissingObject{What: mappingObject}
	_, err = pgx.ForEachRow(rows, []any{&m.Owner, &m.Key, &m.Size}, func() error {
		page = append(page, owned{id: m.Owner, objects: []MissingObject{m}})
		return nil
	})
	return page, err
}

// simulationObjects returns the published results of simulations, and of those without
// the snapshot from which they would go on.
func (t *Tools) simulationObjects(ctx context.Context, which, id string) (page []owned, err error) {
	rows, err := t.pool.Query(ctx, `SELECT id, results_manifest, results_prefix, checkpoint_key FROM simulations
		WHERE deleted = '' AND (results_manifest <> '' OR checkpoint_key <> '' AND status IN ('validating', 'provisioning', 'running')) AND `+which, id)
	if err != nil {
		return nil, fmt.Errorf("read the simulations: %w", err)
	}
	var manifest, prefix, snapshot string
	_, err = pgx.ForEachRow(rows, []any{&id, &manifest, &prefix, &snapshot}, func() error {
		o := owned{id: id, objects: []MissingObject{{Key: manifest, Owner: id, What: manifestObject}}, manifest: prefix}
		if manifest == "" {
			o = owned{id: id, objects: []MissingObject{{Key: snapshot, Owner: id, What: snapshotObject}}}
		}
		page = append(page, o)
		return nil
	})
	return page, err
}

// maxManifest bounds the manifest of a simulation's results, in bytes.
const maxManifest = 64 << 20

// resultFiles returns the files that the manifest of a simulation lists. A manifest that
// is missing lists none.
func (t *Tools) resultFiles(ctx context.Context, o owned) (all []MissingObject, err error) {
	body, _, err := t.core.objects.Get(ctx, o.objects[0].Key)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	var manifest runs.Manifest
	if err := json.NewDecoder(io.LimitReader(body, maxManifest)).Decode(&manifest); err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", o.id, err)
	}
	for _, f := range manifest.Files {
		all = append(all, MissingObject{Key: o.manifest + f.Name, Owner: o.id, What: resultFileObject, Size: f.Size})
	}
	return all, nil
}
