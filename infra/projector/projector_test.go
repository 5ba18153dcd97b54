package projector_test

import (
	"fmt"
	"sync"
	"testing"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/internal/testwait"
)

func TestAWriteIsVisibleWhenItIsAnswered(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for i := range 20 {
		id, err := s.createWorkspace(t.Context(), fmt.Sprint("workspace ", i))
		if err != nil {
			t.Fatal(err)
		}
		var name string
		if err := s.DB.QueryRow(t.Context(), `SELECT name FROM workspaces WHERE id = $1`, id).Scan(&name); err != nil {
			t.Fatalf("workspace %s after its answer: %v", id, err)
		}
	}
}

func TestOneStreamTakesManyWriters(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id, err := s.createWorkspace(t.Context(), "hot")
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 16, 25
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				_, err := handle.Command(t.Context(), s.Commands,
					handle.Target{Stream: id, PartitionKey: id}, handle.Origin{Actor: "tester"},
					commands.UpdateWorkspace{ID: id, Name: fmt.Sprintf("by %d, %d", w, i)})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	testwait.Group(t, &all, "everyone")
	snapshot, err := s.WriteLog.Load(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(1 + writers*each); snapshot.Head.Sequence != want {
		t.Errorf("the stream has %d events, want %d", snapshot.Head.Sequence, want)
	}
	var version int64
	if err := s.DB.QueryRow(t.Context(), `SELECT version FROM workspaces WHERE id = $1`, id).Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version != snapshot.Head.Sequence {
		t.Errorf("the row is at version %d, the stream at %d", version, snapshot.Head.Sequence)
	}
}

func TestARepeatedCommandIsTheSameFact(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := events.DerivedID(events.WorkspacePrefix, "key")
	create := func(digest string) (handle.Result, error) {
		return handle.Command(t.Context(), s.Commands,
			handle.Target{Stream: id, PartitionKey: id},
			handle.Origin{Actor: "tester", CommandID: "key", CommandDigest: digest},
			commands.CreateWorkspace{AccountID: "acct", Name: "once"})
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := create("body"); err != nil {
				t.Error(err)
			}
		})
	}
	testwait.Group(t, &all, "everyone")
	again, err := create("body")
	if err != nil || !again.Repeated {
		t.Errorf("again: %+v, %v, want it repeated", again, err)
	}
	if _, err := create("other body"); err == nil {
		t.Error("the key is accepted with another body")
	}
	snapshot, err := s.WriteLog.Load(t.Context(), id, "key")
	if err != nil || snapshot.Head.Sequence != 1 || snapshot.Prior == nil {
		t.Errorf("the stream is %+v, %v, want one event that remembers its command", snapshot, err)
	}
}
