package lake_test

import (
	"testing"

	"netsim/stream/lake"
)

func TestThin(t *testing.T) {
	w := newWorld(t)
	run(t, lake.New(w.config()))
	for range 10 {
		w.create(t, "one")
	}
	w.await(t)
	duck := w.attach(t)
	t.Log(duck.Query(t, `SELECT count(*), min(source_offset), max(source_offset) FROM lake.workspaces`))
	t.Log(duck.Query(t, `SELECT * FROM lake.workspace_created LIMIT 2`))
}
