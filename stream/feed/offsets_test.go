package feed_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
	"netsim/internal/testworld"
	"netsim/stream/feed"
)

// A position by partition is resumed from by a feed with another query: partitions of both
// go on, and the others begin with their next fact.
func TestOffsetsAreCarriedToAnotherQuery(t *testing.T) {
	t.Parallel()
	w := testworld.NewServers(t).Start(t)
	h := running(t, newHub(t, w))
	create := func() string {
		id := events.NewID(events.WorkspacePrefix)
		testworld.In(t, w, id, id, commands.CreateWorkspace{AccountID: testworld.Account, Name: "w"})
		return id
	}
	create()
	first, err := h.Open(t.Context(), of(testworld.Account), feed.Start{})
	if err != nil {
		t.Fatal(err)
	}
	at := first.Offsets()
	first.Close()
	if len(at) != 1 || len(at[events.Workspaces]) != 2 {
		t.Fatalf("the position is %v", at)
	}
	want := []string{create(), create()}
	second, err := h.Open(t.Context(), everything(), feed.Start{Offsets: at})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	c := &client{t: t, query: everything()}
	c.read(t.Context(), second, len(want))
	got := map[string]bool{}
	for _, fact := range c.all {
		got[fact.Stream] = true
	}
	if d := cmp.Diff(map[string]bool{want[0]: true, want[1]: true}, got); d != "" {
		t.Errorf("want (-), got (+):\n%s", d)
	}
	if next := second.Offsets(); len(next) != len(events.Families()) {
		t.Errorf("the position is %v", next)
	}
	// Not judged yet, as in a process that is behind: to be tried again, not refused.
	ahead := maps.Clone(at)
	ahead[events.Workspaces] = []int64{1 << 40, -1}
	if _, err := h.Open(t.Context(), everything(), feed.Start{Offsets: ahead}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the error is %v", err)
	}
}
