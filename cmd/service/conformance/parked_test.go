package conformance_test

import (
	"fmt"
	"testing"

	"netsim/internal/servicetest"
)

// park parks the stream of a new workspace, whose fact is also a dead letter, and sets the
// parameters of a path that name the one or the other.
func (w *world) park(t *testing.T, path map[string]string) {
	t.Helper()
	stream := w.newWorkspace(t)
	made := w.program.Park(t, stream)
	parameters := map[string]string{
		"stream": stream, "sequence": fmt.Sprint(made.Event.Sequence),
		"handler_name": "workspace", "family": string(made.At.Family), "partition": fmt.Sprint(made.At.Partition), "offset": fmt.Sprint(made.At.Offset),
	}
	for name := range path {
		if value, known := parameters[name]; known {
			path[name] = value
		}
	}
	if _, letter := path["offset"]; letter {
		w.client(t).Eventually("/api/v1/operations/dead-letters?limit=1000", func(r servicetest.Reply) bool {
			items, _ := r.Object()["items"].([]any)
			for _, item := range items {
				if l, _ := item.(map[string]any); l["handler"] == "workspace" && l["stream"] == stream {
					return true
				}
			}
			return false
		})
	}
}
