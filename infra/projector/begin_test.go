package projector_test

import (
	"context"
	"testing"
	"time"

	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// A record with sequence 1 gets the same verdict from a projector that has just
// started, and has no stream in memory, as from one that has the stream.
func TestAFirstRecordIsJudgedByWhatIsStored(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	restart := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Projector(s.DB, projector.Live).Run(ctx) }()
		return func() {
			cancel()
			if err := testwait.Receive(t, ended, "the projector"); err != nil {
				t.Error(err)
			}
		}
	}
	stop := restart()
	s.Listen(t)
	id := events.NewID(events.WorkspacePrefix)
	created := events.Frame{ID: "one", Type: "netsim.workspace.created.v1", Stream: id, PartitionKey: id, Sequence: 1, Time: time.Now()}
	const body = `{"accountId":"acct","name":"fact"}`
	hash, verdict := s.append(t, created, body)
	if verdict != events.Accepted {
		t.Fatalf("the first record is %s", verdict)
	}
	stop()
	other, misplaced := created, created
	other.ID, misplaced.PartitionKey = "other", keyOfTheOtherPartition(id)
	sequence := int64(1) // of the stream's last fact
	for _, tc := range []struct {
		name  string
		frame events.Frame
		want  events.Verdict
	}{
		{"the same record", created, events.Duplicate},
		{"another first record", other, events.Stale},
		{"a first record in another partition than its own", misplaced, events.Misplaced},
	} {
		stop = restart()
		if _, verdict := s.appendTo(t, id, tc.frame, body); verdict != tc.want {
			t.Errorf("%s is %s after a restart, want %s", tc.name, verdict, tc.want)
		}
		next := events.Frame{Type: "netsim.workspace.updated.v1", Stream: id, PartitionKey: id, Sequence: sequence + 1, PreviousHash: hash}
		if hash, verdict = s.append(t, next, `{"name":"next"}`); verdict != events.Accepted {
			t.Errorf("after %s, the stream's next record is %s", tc.name, verdict)
		}
		sequence++
		stop()
	}
	stop = restart()
	defer stop()
	if d := s.rebuilt(t, "next"); len(d) > 0 {
		t.Errorf("the rebuilt read model differs: %+v", d)
	}
}

// keyOfTheOtherPartition returns a key of the other of two partitions.
func keyOfTheOtherPartition(key string) string {
	for {
		other := events.NewID(events.WorkspacePrefix)
		if events.PartitionOf(other, 2) != events.PartitionOf(key, 2) {
			return other
		}
	}
}
