package projector_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

func TestARebuiltReadModelIsTheLiveOne(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 20 {
				id, err := s.createWorkspace(t.Context(), fmt.Sprintf("%d of %d", i, w))
				if err != nil {
					t.Error(err)
					return
				}
				_, err = handle.Command(t.Context(), s.Commands, handle.Target{Stream: id, PartitionKey: id},
					handle.Origin{Actor: "tester", CommandID: "rename"}, commands.UpdateWorkspace{ID: id, Name: "renamed"})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	testwait.Group(t, &all, "everyone")
	if d := s.rebuilt(t, "next"); len(d) > 0 {
		t.Errorf("the rebuilt read model differs: %+v", d)
	}
	promote(t, s.Projector(s.Pool(t, "next"), "next"))
	if _, err := s.createWorkspace(t.Context(), "after the promotion"); err != nil {
		t.Errorf("a write after the promotion: %v", err)
	}
}

func TestTwoProjectorsApplyEverythingOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	// The second one takes no lock, so that only the compare-and-set stands
	// between the two.
	second := s.Projector(s.DB, projector.Live)
	testworld.Running(t, second.RunWithoutLock)
	for i := range 60 {
		if _, err := s.createWorkspace(t.Context(), fmt.Sprint("workspace ", i)); err != nil {
			t.Fatal(err)
		}
	}
	var count int
	if err := s.DB.QueryRow(t.Context(), `SELECT count(*) FROM workspaces`).Scan(&count); err != nil || count != 60 {
		t.Errorf("%d workspaces, %v, want 60", count, err)
	}
	if d := s.rebuilt(t, "next"); len(d) > 0 {
		t.Errorf("the rebuilt read model differs: %+v", d)
	}
}

// append puts a record into the log by hand and waits for its verdict.
func (s stack) append(t *testing.T, f events.Frame, value string) (events.Hash, events.Verdict) {
	t.Helper()
	return s.appendTo(t, f.PartitionKey, f, value)
}

// appendTo is append, to the partition of a key.
func (s stack) appendTo(t *testing.T, key string, f events.Frame, value string) (events.Hash, events.Verdict) {
	t.Helper()
	if f.ID == "" {
		f.ID = events.NewID("event")
	}
	f.DataVersion = 1
	if f.Time.IsZero() {
		f.Time = time.Now()
	}
	family, err := events.FamilyOf(f.Stream)
	if err != nil {
		t.Fatal(err)
	}
	m, hash := f.Message([]byte(value))
	wait, err := s.WriteLog.Append(t.Context(), family, key, m)
	if err != nil {
		t.Fatal(err)
	}
	at, err := wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	verdict, err := s.WriteLog.Verdict(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	return hash, verdict
}

func TestAnEventThatCannotBeReadParksItsStreamOnly(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	broken := events.NewID(events.WorkspacePrefix)
	frame := events.Frame{Type: "netsim.workspace.created.v1", Stream: broken, PartitionKey: broken, Sequence: 1}
	hash, verdict := s.append(t, frame, `{"accountId":"acct","name":"first"}`)
	if verdict != events.Accepted {
		t.Fatalf("the first event is %s", verdict)
	}
	frame.Type, frame.Sequence, frame.PreviousHash = "netsim.workspace.painted.v1", 2, hash
	hash, verdict = s.append(t, frame, `{"colour":"green"}`)
	if verdict != events.Accepted {
		t.Fatalf("an unknown event is %s: it is a fact all the same", verdict)
	}
	frame.Type, frame.Sequence, frame.PreviousHash = "netsim.workspace.updated.v1", 3, hash
	if _, verdict = s.append(t, frame, `{"name":"third"}`); verdict != events.Accepted {
		t.Fatalf("what follows an unknown event is %s", verdict)
	}
	if name := s.name(t, broken); name != "first" {
		t.Errorf("the parked stream's row moved on to %q", name)
	}
	if _, err := s.createWorkspace(t.Context(), "unharmed"); err != nil {
		t.Errorf("another stream is held up: %v", err)
	}
	_, err := handle.Command(t.Context(), s.Commands, handle.Target{Stream: broken, PartitionKey: broken},
		handle.Origin{Actor: "tester"}, commands.UpdateWorkspace{ID: broken, Name: "fourth"})
	if err == nil {
		t.Error("a command to a parked stream is accepted")
	}

	// A release that knows the type applies the parked facts.
	next := s.Projector(s.DB, projector.Live, func(c *projector.Config) {
		c.Decode = func(eventType string, value []byte) (events.Data, error) {
			if eventType == "netsim.workspace.painted.v1" {
				return events.WorkspaceUpdated{Name: "painted"}, nil
			}
			return events.Decode(eventType, value)
		}
	})
	if err := next.RetryParked(t.Context()); err != nil {
		t.Fatal(err)
	}
	if name := s.name(t, broken); name != "third" {
		t.Errorf("the stream's row is %q after the repair, want %q", name, "third")
	}
	snapshot, err := s.WriteLog.Load(t.Context(), broken, "")
	if err != nil || snapshot.Parked {
		t.Errorf("the stream is %+v, %v, want it no longer parked", snapshot, err)
	}
}

func (s stack) name(t *testing.T, workspace string) (name string) {
	t.Helper()
	if err := s.DB.QueryRow(t.Context(), `SELECT name FROM workspaces WHERE id = $1`, workspace).Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRecordsThatAreNotFactsChangeNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	id := events.NewID(events.WorkspacePrefix)
	created := events.Frame{ID: "one", Type: "netsim.workspace.created.v1", Stream: id, PartitionKey: id, Sequence: 1}
	hash, _ := s.append(t, created, `{"accountId":"acct","name":"fact"}`)
	update := events.Frame{Type: "netsim.workspace.updated.v1", Stream: id, PartitionKey: id, Sequence: 2, PreviousHash: hash}
	broken, gap := update, update
	broken.PreviousHash[0] ^= 1
	gap.Sequence = 3
	for _, tc := range []struct {
		name  string
		frame events.Frame
		want  events.Verdict
	}{
		{"another event with a taken sequence", events.Frame{Type: created.Type, Stream: id, PartitionKey: id, Sequence: 1}, events.Stale},
		{"a predecessor that is another event", broken, events.Broken},
		{"a predecessor that is missing", gap, events.Gap},
	} {
		if _, verdict := s.append(t, tc.frame, `{"name":"no fact"}`); verdict != tc.want {
			t.Errorf("%s is %s, want %s", tc.name, verdict, tc.want)
		}
	}
	if name := s.name(t, id); name != "fact" {
		t.Errorf("the row is %q", name)
	}
	if d := s.rebuilt(t, "next"); len(d) > 0 {
		t.Errorf("the rebuilt read model differs: %+v", d)
	}
}
