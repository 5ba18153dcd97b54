package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"netsim/events"
	"netsim/infra/objects"
)

// checkObjects requires that every object that the read model refers to is stored, and
// that nothing is left of deleted simulations. It downloads the mapping files and
// compares them with what was uploaded.
func (c *campaign) checkObjects(ctx context.Context) error {
	store := c.cluster.Objects()
	stored := map[string]int64{}
	for info, err := range store.List(ctx, "") {
		if err != nil {
			return err
		}
		stored[info.Key] = info.Size
	}
	referenced, err := c.references(ctx)
	if err != nil {
		return err
	}
	for key, why := range referenced {
		if _, found := stored[key]; !found {
			c.violate("the object %s of %s is not stored", key, why)
			continue
		}
		delete(stored, key)
		c.report.Objects++
	}
	var gone []string
	if err := c.cluster.Query(ctx, `SELECT coalesce(array_agg(id), '{}') FROM readmodel.simulations WHERE deleted <> ''`, &gone); err != nil {
		return err
	}
	deleted := map[string]bool{}
	for _, id := range gone {
		deleted[id] = true
	}
	for key := range stored {
		parts := strings.Split(key, "/")
		if len(parts) > 1 && parts[0] == "results" && deleted[parts[1]] {
			c.violate("the simulation %s is deleted, but %s is still stored", parts[1], key)
		}
		c.report.Orphans++
	}
	return c.compareUploads(ctx, store)
}

// references returns why each object is needed, by its key.
func (c *campaign) references(ctx context.Context) (map[string]string, error) {
	var text string
	err := c.cluster.Query(ctx, `SELECT coalesce(json_object_agg(key, id), '{}')::text FROM (
		SELECT object_key AS key, id FROM readmodel.mapping_files WHERE NOT deleted
		UNION SELECT results_manifest, id FROM readmodel.simulations WHERE results_manifest <> '' AND deleted = ''
	) r`, &text)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, err
	}
	var tracesets []string
	if err := c.cluster.Query(ctx, `SELECT coalesce(array_agg(id || ' ' || files), '{}') FROM readmodel.tracesets WHERE status <> 'deleted'`, &tracesets); err != nil {
		return nil, err
	}
	for _, row := range tracesets {
		id, list, _ := strings.Cut(row, " ")
		var files []events.TracesetFile
		if err := json.Unmarshal([]byte(list), &files); err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.ObjectKey != "" {
				all[f.ObjectKey] = id
			}
		}
	}
	return all, nil
}

// compareUploads compares the mapping files that clients uploaded with what is stored.
func (c *campaign) compareUploads(ctx context.Context, store *objects.Store) error {
	for id, r := range c.made.all {
		if r.kind != "mapping file" || r.deleted || r.unsure {
			continue
		}
		var key string
		if err := c.cluster.Query(ctx, `SELECT coalesce(max(object_key), '') FROM readmodel.mapping_files WHERE id = '`+id+`' AND NOT deleted`, &key); err != nil {
			return err
		}
		if key == "" {
			continue // checkResources reports it
		}
		body, _, err := store.Get(ctx, key)
		if err != nil {
			c.violate("the mapping file %s cannot be downloaded: %v", id, err)
			continue
		}
		content, err := io.ReadAll(body)
		if err := firstError(err, body.Close); err != nil || !bytes.Equal(content, r.content) {
			c.violate("the mapping file %s has %d bytes that are not those that were uploaded (%v)", id, len(content), err)
		}
	}
	return nil
}
