package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

const (
	peerTopic      = "bench.watermill"
	forwardedTopic = "bench.forwarded"
	outboxTopic    = "outbox" // the name of a table
	peerPath       = "/api/v1/workspaces"
	// pollAfter is the shortest interval between polls.
	pollAfter = 2 * time.Millisecond
)

// peer is another implementation of a create, as a server of its own.
type peer struct {
	name   string
	server string // argument of the child
	client func(n int, c *conn) client
}

// allPeers lists the peers. They run on the same kind of broker and database as the
// service, with the same clients. Each guarantees less: it detects no concurrent change,
// and a message that is delivered twice has one effect only because it inserts one row.
func allPeers() []peer {
	return []peer{
		{"Watermill alone", "watermill", publishAndPoll},
		{"outbox with Watermill's forwarder", "outbox", publishAndPoll},
		{"chi and pgx without events, durable commit", "durable", insert},
		{"chi and pgx without events, asynchronous commit", "asynchronous", insert},
	}
}

// measured is the name of a peer's figure.
func (p peer) measured(clients int) string {
	return fmt.Sprintf("%s, %s", p.name, plural(clients, "client"))
}

// peers measures the peers on a broker with fsync.
func (b *bench) peers(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{sync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, topic := range []string{peerTopic, forwardedTopic} {
		if err := s.createTopic(ctx, topic); err != nil {
			return err
		}
	}
	for _, p := range allPeers() {
		if err := b.peer(ctx, s, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func (b *bench) peer(ctx context.Context, s *stack, p peer) (err error) {
	serving, err := s.startChild(ctx, p.server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	for _, clients := range b.clients {
		conns, hangUp, err := serving.dial(clients)
		if err != nil {
			return err
		}
		name := p.measured(clients)
		got, costs, err := b.under(ctx, s, services{serving}, name, plan{warm: b.warm, run: b.run}, each(conns, p.client))
		hangUp()
		if err != nil {
			return err
		}
		f := of(name, got, "")
		f.CPU = costs
		b.report.add(f)
	}
	return nil
}

// insert returns a client that creates one row after another.
func insert(n int, c *conn) client {
	count := 0
	return client{do: func() error {
		count++
		_, err := c.want(http.StatusCreated, "POST", peerPath, workspaceBody(n, count))
		return err
	}}
}

// publishAndPoll returns a client that creates one row after another. A create ends when
// its row is visible. The pause between polls is a quarter of the time waited so far, and
// at least pollAfter, so that the polls of many clients do not overload the server.
func publishAndPoll(n int, c *conn) client {
	count := 0
	return client{do: func() error {
		count++
		reply, err := c.want(http.StatusAccepted, "POST", peerPath, workspaceBody(n, count))
		if err != nil {
			return err
		}
		path := peerPath + "/" + string(reply)
		for began := time.Now(); time.Since(began) < answerWithin; time.Sleep(max(pollAfter, time.Since(began)/4)) {
			status, _, err := c.do("GET", path, nil)
			if err != nil || status == http.StatusOK {
				return err
			}
		}
		return fmt.Errorf("%s is not visible after %s", path, answerWithin)
	}}
}
