package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"netsim/fault"
	"netsim/projections"
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

// resultFileObject is what a file is that a manifest lists.
const resultFileObject = "result file"

// reference reads resources with their objects.
type reference func(context.Context, projections.Reader, projections.ReferrerQuery) ([]projections.Referrer, error)

// MissingObjects compares the objects that the log refers to, by its live read model, with
// the object store, and calls found for each one that is missing. It reads only. A resource
// that is deleted meanwhile is not reported. The heads of log checkpoints are compared by
// Auditor.Heads.
func (t *Tools) MissingObjects(ctx context.Context, found func(MissingObject) error) (r ObjectsReport, err error) {
	for _, refers := range []reference{projections.TracesetObjects, projections.MappingFileObjects, projections.SimulationObjects} {
		for after := ""; ; {
			page, err := refers(ctx, t.conn.Pool, projections.ReferrerQuery{After: after})
			if err != nil || len(page) == 0 {
				if err != nil {
					return r, err
				}
				break
			}
			if err := t.compareObjects(ctx, page, refers, &r, found); err != nil {
				return r, err
			}
			after = page[len(page)-1].ID
		}
	}
	return r, nil
}

// compareObjects looks for the objects of a page.
func (t *Tools) compareObjects(ctx context.Context, page []projections.Referrer, refers reference, r *ObjectsReport, found func(MissingObject) error) error {
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
func (t *Tools) missingOf(ctx context.Context, o projections.Referrer) (missing []MissingObject, r ObjectsReport, err error) {
	all := o.Objects
	if o.Results != "" {
		files, err := t.resultFiles(ctx, o)
		if err != nil {
			return nil, r, err
		}
		all = append(slices.Clone(all), files...)
	}
	for _, needed := range all {
		object := MissingObject{Key: needed.Key, Owner: o.ID, What: needed.What, Size: needed.Size}
		r.Referenced, r.Bytes = r.Referenced+1, r.Bytes+object.Size
		info, err := t.conn.Objects.Head(ctx, object.Key)
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
func (t *Tools) still(ctx context.Context, o projections.Referrer, missing []MissingObject, refers reference) ([]MissingObject, error) {
	page, err := refers(ctx, t.conn.Pool, projections.ReferrerQuery{ID: o.ID})
	if err != nil || len(page) == 0 || page[0].Results != o.Results {
		return nil, err
	}
	return slices.DeleteFunc(missing, func(m MissingObject) bool {
		return m.What != resultFileObject && !slices.ContainsFunc(page[0].Objects, func(now projections.Reference) bool { return now.Key == m.Key })
	}), nil
}

// maxManifest bounds the manifest of a simulation's results, in bytes.
const maxManifest = 64 << 20

// resultFiles returns the files that the manifest of a simulation lists. A manifest that
// is missing lists none.
func (t *Tools) resultFiles(ctx context.Context, o projections.Referrer) (all []projections.Reference, err error) {
	body, _, err := t.conn.Objects.Get(ctx, o.Objects[0].Key)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	var manifest runs.Manifest
	if err := json.NewDecoder(io.LimitReader(body, maxManifest)).Decode(&manifest); err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", o.ID, err)
	}
	for _, f := range manifest.Files {
		all = append(all, projections.Reference{Key: o.Results + f.Name, What: resultFileObject, Size: f.Size})
	}
	return all, nil
}
