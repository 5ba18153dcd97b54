package projector_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testworld"
)

// TestRejected: a watcher that has heard the notices and one that starts later
// name the same records.
func TestRejected(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id, err := s.createWorkspace(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	created := events.WorkspaceCreated{}.EventType()
	for sequence, want := range map[int64]events.Verdict{1: events.Stale, 5: events.Gap} {
		frame := events.Frame{Type: created, Stream: id, PartitionKey: id, Sequence: sequence}
		if sequence > 1 {
			frame.PreviousHash = events.Hash{1}
		}
		if _, verdict := s.append(t, frame, `{"name":"never"}`); verdict != want {
			t.Fatalf("sequence %d is %s", sequence, verdict)
		}
	}
	part := events.PartitionOf(id, s.Log.Partitions)
	next := s.Watcher.Next(events.Workspaces, part)

	var want map[int64]events.Verdict

	late := projector.NewWatcher(s.DB, s.Logger)
	testworld.Running(t, late.Run)
	testworld.Await(t, func() bool { return late.Next(events.Workspaces, part) == next })
	for name, w := range map[string]*projector.Watcher{"early": s.Watcher, "late": late} {
		got, err := w.Rejected(t.Context(), events.Workspaces, part, 0, next)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if len(got) != 2 {
			t.Errorf("%s watcher: rejected are %v, want two", name, got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s watcher (-want +got):\n%s", name, diff)
		}
		second := slices.Max(slices.Collect(maps.Keys(got)))
		got, err = w.Rejected(t.Context(), events.Workspaces, part, second, next)
		if err != nil || len(got) != 1 || got[second] == "" {
			t.Errorf("%s watcher: from %d on %v are rejected, %v", name, second, got, err)
		}
	}
	if _, err := late.Rejected(context.WithoutCancel(t.Context()), events.Workspaces, part, 0, next+1); err == nil || !strings.Contains(err.Error(), "the read model has") {
		t.Errorf("of a record that is not judged: %v", err)
	}
}
