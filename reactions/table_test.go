package reactions_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/reactions"
)

// TestHandlersKeepTheirGroups: the consumer groups of a release are those of the one
// before, or a handler would begin at the start of the log.
func TestHandlersKeepTheirGroups(t *testing.T) {
	t.Parallel()
	want := map[string][]events.Family{
		"billing":    {events.Simulations, events.Tracesets, events.MappingFiles, events.Workspaces},
		"simple":     {events.Simulations},
		"simulation": {events.Simulations},
		"studies":    {events.Simulations},
		"traceset":   {events.Tracesets},
		"uses":       {events.Simulations, events.Configurations},
		"uploads":    {events.MappingFiles},
		"workspace":  {events.Workspaces, events.Simulations},
	}
	if diff := cmp.Diff(want, reactions.Families()); diff != "" {
		t.Errorf("handlers (-want +got):\n%s", diff)
	}
	if handlers := reactions.Table(reactions.Parts{}); len(handlers) != len(want) {
		t.Errorf("there are %d handlers, want %d; two have one name", len(handlers), len(want))
	}
}
