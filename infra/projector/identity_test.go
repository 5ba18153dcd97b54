package projector_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

func TestAnotherLogIsRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	if _, err := s.createWorkspace(t.Context(), "here"); err != nil {
		t.Fatal(err)
	}
	other := newStack(t)
	if _, err := other.createWorkspace(t.Context(), "there"); err != nil {
		t.Fatal(err)
	}
	p := s.Projector(s.DB, projector.Live, func(c *projector.Config) { c.Log = other.EventLog })
	if err := p.RunWithoutLock(t.Context()); !errors.Is(err, projector.ErrOtherLog) {
		t.Errorf("a log with other topics: %v, want ErrOtherLog", err)
	}
}

func TestATopicMadeAnewStopsTheProjector(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewServers(t).Connect(t)}
	ended := make(chan error, 1)
	go func() { ended <- s.Projector(s.DB, projector.Live).Run(t.Context()) }()
	s.Listen(t)
	if _, err := s.createWorkspace(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	recreate(t, s, events.Workspaces)
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Limit(t))
	defer cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, projector.ErrOtherLog) {
			t.Errorf("the projector ended with %v, want ErrOtherLog", err)
		}
	case <-ctx.Done():
		t.Error("the projector goes on, on a topic that was created again")
	}
	if err := s.Projector(s.DB, projector.Live).Run(t.Context()); !errors.Is(err, projector.ErrOtherLog) {
		t.Errorf("started again: %v, want ErrOtherLog", err)
	}
}

// recreate deletes a topic and lets the event log make it again.
func recreate(t *testing.T, s stack, family events.Family) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(s.EventLog.Brokers...)}
	_, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{s.EventLog.Topic(family)}})
	if err != nil {
		t.Fatal(err)
	}
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		log, err := s.EventLog.Describe(t.Context())
		if err == nil && log.TopicName(family) == "" {
			break
		}
		<-every.C
	}
	if err := s.EventLog.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestALogThatDoesNotReachTheReadModelIsRefused(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"it lost its tail":             `UPDATE readmodel.offsets SET next = next + 5 WHERE next > 0`,
		"its last record is another":   `UPDATE readmodel.offsets SET last_record = sha256('another') WHERE next > 0`,
		"it has another partition":     `DELETE FROM readmodel.offsets WHERE partition = 1`,
		"it is that of another broker": `UPDATE readmodel.log SET cluster_id = 'another'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stack{testworld.NewServers(t).Connect(t)}
			first, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- s.Projector(s.DB, projector.Live).Run(first) }()
			s.Listen(t)
			if _, err := s.createWorkspace(t.Context(), "before"); err != nil {
				t.Fatal(err)
			}
			end()
			if err := testwait.Receive(t, ended, "it to end"); err != nil {
				t.Fatal(err)
			}
			if _, err := s.DB.Exec(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			if err := s.Projector(s.DB, projector.Live).Run(t.Context()); !errors.Is(err, projector.ErrOtherLog) {
				t.Errorf("the projector ended with %v, want ErrOtherLog", err)
			}
		})
	}
}

func TestAnOlderReadModelIsToldWhatItMissed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	older, err := s.createWorkspace(t.Context(), "in the backup")
	if err != nil {
		t.Fatal(err)
	}
	if d := s.rebuilt(t, "backup"); len(d) > 0 {
		t.Fatalf("the backup differs: %+v", d)
	}
	newer, err := s.createWorkspace(t.Context(), "after the backup")
	if err != nil {
		t.Fatal(err)
	}
	// The backup takes the live one's place under the running projector, as a
	// restore would.
	if _, err := s.DB.Exec(t.Context(), `DROP SCHEMA readmodel CASCADE; ALTER SCHEMA backup RENAME TO readmodel`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.createWorkspace(t.Context(), "after the restore"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{older, newer} {
		testworld.Await(t, func() bool {
			var there bool
			err := s.DB.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM workspaces WHERE id = $1)`, id).Scan(&there)
			return err == nil && there
		})
	}
	if d := s.rebuilt(t, "next"); len(d) > 0 {
		t.Errorf("the read model differs from a replay: %+v", d)
	}
}
