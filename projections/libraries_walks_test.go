package projections_test

import (
	"testing"

	"netsim/projections"
)

// TestABilledLibraryIsLookedUp: what billing reads of a library does not grow with the
// tracesets of its account, with both kinds of plans, and before and after the tables are
// analyzed. A third of the tracesets is deleted.
func TestABilledLibraryIsLookedUp(t *testing.T) {
	t.Parallel()
	m, err := newReadModel(t.Context(), connect(t), "rm", projections.NewTracesets(), projections.NewUsage())
	if err != nil {
		t.Fatal(err)
	}
	do := func(statement string) {
		t.Helper()
		if _, err := m.db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	do(`INSERT INTO tracesets (id, account_id, workspace_id, partition_key, name, description, format, files, library_hash, library_id, total_size, ttl_days,
			rank_count, status, scope, tags, workload, layout, ranges, file_count, summary, warnings, failure, created_at, modified_at)
		SELECT 'traceset_' || i, 'acct_a', 'w', 'w', 'n', '', 'simple', '[]', 'hash_' || i, 'lib_' || i, 1, 7, 8,
			CASE i % 3 WHEN 0 THEN 'deleted' ELSE 'ready' END, 'workspace', '[]', '{}', 'cas', '[]', 1, '{}', '[]', '', now() + i * interval '1 second', now()
		FROM generate_series(1, 20000) i`)
	do(`INSERT INTO billing_items SELECT i, 'acct_a', 'storage', 'start', 'r', 'n', 1, 'w', '', '', 'traceset', 'traceset_' || i, 0, 1, '',
			now(), now(), CASE i % 3 WHEN 0 THEN now() END, i, i, 0 FROM generate_series(1, 20000) i`)
	look := func(plans string) {
		t.Helper()
		do("SET plan_cache_mode = " + plans)
		for hash, traceset := range map[string]string{"hash_17000": "traceset_17000", "hash_17001": ""} { // the second is deleted
			db := &explained{Conn: m.db, t: t, tables: []string{"tracesets", "billing_items"}}
			item, err := projections.LatestLibraryItem(t.Context(), db, "acct_a", hash)
			if err != nil || item == nil || item.ResourceID != "traceset_"+hash[len("hash_"):] {
				t.Errorf("%s: the item of %s is %+v: %v", plans, hash, item, err)
			}
			first, err := projections.FirstTraceset(t.Context(), db, "acct_a", hash)
			if err != nil || (first == nil) != (traceset == "") || first != nil && first.ID != traceset {
				t.Errorf("%s: the traceset of %s is %+v: %v, want %q", plans, hash, first, err, traceset)
			}
			if db.read > 6 {
				t.Errorf("%s: %.0f rows read for %s, want at most 6", plans, db.read, hash)
			}
		}
	}
	for _, plans := range []string{"force_custom_plan", "force_generic_plan"} {
		look(plans)
	}
	do("ANALYZE tracesets, billing_items")
	for _, plans := range []string{"force_custom_plan", "force_generic_plan"} {
		look(plans)
	}
}
