package projector_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"netsim/events"
	"netsim/infra/projector"
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
	p := s.Projector(s.DB, projector.Live, func(c *projector.Config) { c.Log = other.Journal })
	if err := p.RunWithoutLock(t.Context()); !errors.Is(err, projector.ErrOtherLog) {
		t.Errorf("a log with other topics: %v, want ErrOtherLog", err)
	}
}

func TestATopicMadeAnewStopsTheProjector(t *testing.T) {
	t.Parallel()
	s := stack{testworld.NewPlace(t).Connect(t)}
	ended := make(chan error, 1)
	go func() { ended <- s.Projector(s.DB, projector.Live).Run(t.Context()) }()
	s.Listen(t)
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
	if err := s.Projector(s.DB, projector.Live).Run(t.Context()); !errors.Is(err, projector.ErrOtherLog) {
		t.Errorf("started again: %v, want ErrOtherLog", err)
	}
}

// recreate deletes a topic and lets the journal make it again.
func recreate(t *testing.T, s stack, family events.Family) {
	t.Helper()
	client := &kafka.Client{Addr: kafka.TCP(s.Journal.Brokers...)}
	_, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{s.Journal.Topic(family)}})
	if err != nil {
		t.Fatal(err)
	}
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		log, err := s.Journal.Describe(t.Context())
		if err == nil && log.TopicName(family) == "" {
			break
		}
		<-every.C
	}
	if err := s.Journal.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
}
