package engine

import (
	"reflect"
	"testing"
)

// TestShapes: neither how often unused shapes are dropped nor the room that paths have
// changes a run.
func TestShapes(t *testing.T) {
	t.Parallel()
	run := func(in Input, change func(*engine)) (*Result, []Transfer) {
		var seen []Transfer
		var e *engine
		e, err := newEngine(in, Observer{Transfer: func(got *Transfer) error {
			change(e)
			one := *got
			one.Collective = nil
			seen = append(seen, one)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		e.open()
		end, err := e.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.finish(end)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(e.shapes.index); n > 2*(len(e.flows)+len(e.ranks))+e.shapes.many {
			t.Errorf("%d shapes are kept for %d flows and %d ranks", n, len(e.flows), len(e.ranks))
		}
		return r, seen
	}
	for i, in := range smallInputs(t) {
		want, transfers := run(in, func(*engine) {})
		for name, change := range map[string]func(*engine){
			"shapes are dropped often": func(e *engine) {
				e.dropShapes()
				for _, at := range e.shapes.free {
					e.shapes.list[at] = shape{hops: 1 << 20} // nothing may use it
				}
			},
			"paths get more room": func(e *engine) { e.widenPaths(min(e.stride+1, maxPath)) },
		} {
			if got, seen := run(in, change); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(seen, transfers) {
				t.Errorf("input %d, %s: got %d transfers and %+v, want %d and %+v", i, name, len(seen), got, len(transfers), want)
			}
		}
	}
}
