package projector_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// pausing decodes events, and pauses at the first workspace of each name.
type pausing struct {
	t       *testing.T
	mu      sync.Mutex
	seen    map[string]bool
	reached chan string
	resume  chan struct{}
}

func (p *pausing) decode(eventType string, value []byte) (events.Data, error) {
	data, err := events.Decode(eventType, value)
	if created, ok := data.(events.WorkspaceCreated); ok {
		p.mu.Lock()
		pauses := !p.seen[created.Name]
		p.seen[created.Name] = true
		p.mu.Unlock()
		if pauses {
			p.reached <- created.Name
			testwait.Gate(p.t, p.resume)
		}
	}
	return data, err
}

// TestABurstBeyondTheTail: while a projector decodes what it has read from this
// process's memory, the process appends more than that memory holds. Nothing changes
// under the projector, and it finds in the log what memory has no longer.
func TestABurstBeyondTheTail(t *testing.T) {
	t.Parallel()
	const rounds, each, description = 8, 200, 4 << 10 // a process keeps 1 MiB of a partition
	at := testworld.NewServers(t)
	at.Log.Partitions = 1
	w := at.Connect(t)
	w.Watcher = projector.NewWatcher(w.DB, w.Logger)
	slow := &pausing{t: t, seen: map[string]bool{}, reached: make(chan string, 1), resume: make(chan struct{})}
	live := w.Projector(w.DB, projector.Live, func(c *projector.Config) { c.Watcher, c.Decode = w.Watcher, slow.decode })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- live.Run(ctx)
		cancel() // the commands have no verdict to wait for
	}()
	s := stack{w}
	s.Listen(t)

	var writers sync.WaitGroup
	appended := int64(0)
	create := func(name string, count int) { // returns once the log has them
		for range count {
			writers.Go(func() {
				id := events.NewID(events.WorkspacePrefix)
				_, err := handle.Command(ctx, s.Commands, handle.Target{Stream: id, PartitionKey: id, Fresh: true}, handle.Origin{Actor: "tester"},
					commands.CreateWorkspace{AccountID: testworld.Account, Owner: "tester", Name: name, Description: strings.Repeat("d", description)})
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		appended += int64(count)
		testworld.Await(t, func() bool {
			_, end, err := w.EventLog.Read(t.Context(), w.EventLog.Topic(events.Workspaces), 0, appended-1, 1, 0)
			return err == nil && end == appended || ctx.Err() != nil
		})
	}
	create("round 0", 1)
	for i := 1; i <= rounds; i++ {
		if got := testwait.Receive(t, slow.reached, "a round at the projector"); got != fmt.Sprint("round ", i-1) {
			t.Fatalf("the projector is at %s, want round %d", got, i-1)
		}
		create(fmt.Sprint("round ", i), each)
		slow.resume <- struct{}{}
	}
	testwait.Receive(t, slow.reached, "the last round at the projector")
	close(slow.resume)
	testwait.Group(t, &writers, "the writers")

	var workspaces, rejected int
	err := s.DB.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM workspaces), (SELECT count(*) FROM rejected)`).Scan(&workspaces, &rejected)
	if err != nil || workspaces != 1+rounds*each || rejected != 0 {
		t.Errorf("%d workspaces and %d rejected records, %v, want %d and none", workspaces, rejected, err, 1+rounds*each)
	}
	if d := s.rebuilt(t, "next"); len(d) > 0 {
		t.Errorf("the rebuilt read model differs: %+v", d)
	}
	cancel()
	if err := testwait.Receive(t, ended, "the projector"); err != nil {
		t.Errorf("the projector ended with %v", err)
	}
}
