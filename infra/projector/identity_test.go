package projector_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"netsim/events"
	"netsim/infra/projector"
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
	c := s.config(projector.Live)
	c.Log, c.Logger = other.journal, slog.New(slog.DiscardHandler)
	if err := projector.New(c).RunWithoutLock(t.Context()); !errors.Is(err, projector.ErrOtherLog) {
		t.Errorf("a log with other topics: %v, want ErrOtherLog", err)
	}
}

func TestATopicMadeAnewStopsTheProjector(t *testing.T) {
	t.Parallel()
	s := newStackWithoutProjector(t)
	ended := make(chan error, 1)
	go func() { ended <- s.projector(projector.Live).Run(t.Context()) }()
	s.listen(t)
	if _, err := s.createWorkspace(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	recreate(t, s, events.Workspaces)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, projector.ErrOtherLog) {
			t.Errorf("the projector ended with %v, want ErrOtherLog", err)
		}
	case <-ctx.Done():
		t.Error("the projector goes on, on a topic that was made anew")
	}
	if err := s.projector(projector.Live).Run(t.Context()); !errors.Is(err, projector.ErrOtherLog) {
		t.Errorf("started again: %v, want ErrOtherLog", err)
	}
}

// recreate deletes a topic and lets the journal make it again.
func recreate(t *testing.T, s *stack, family events.Family) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(s.journal.Brokers...)}
	_, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{s.journal.Topic(family)}})
	if err != nil {
		t.Fatal(err)
	}
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		log, err := s.journal.Describe(t.Context())
		if err == nil && log.TopicName(family) == "" {
			break
		}
		<-every.C
	}
	if err := s.journal.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
}
