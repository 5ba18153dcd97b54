package projector_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/infra/facts"
	"netsim/infra/projector"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// startLeased starts a process that projects the shards leased to it, until stop is
// called.
func startLeased(t *testing.T, at testworld.Servers, name string, shards int32, ttl time.Duration) (w *testworld.World, stop func()) {
	w = at.Connect(t)
	w.Watcher = projector.NewWatcher(w.DB, w.Logger)
	ctx, cancel := context.WithCancel(t.Context())
	p := w.Projector(w.DB, projector.Live, func(c *projector.Config) {
		c.Watcher = w.Watcher
		c.Leases = &facts.Leases{
			Pool: w.DB, Subscriber: projector.Live, Process: name, Shards: shards, TTL: ttl, Log: w.Logger,
		}
	})
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := testwait.Receive(t, ended, "the projector"); err != nil {
				t.Errorf("the projector %s ended with %v", name, err)
			}
		})
	}
	t.Cleanup(stop)
	return w, stop
}

// shortTTL is long enough for a busy machine to renew a lease in a third of it.
const shortTTL = 1500 * time.Millisecond

// Processes share the shards, come and go under load, and apply every fact once.
func TestShardsMoveUnderLoad(t *testing.T) {
	t.Parallel()
	at := testworld.NewServers(t)
	at.Log.Partitions = 5
	first, _ := startLeased(t, at, "first", 5, shortTTL)
	s := stack{first}
	s.Listen(t)
	writing, stopWriting := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	var mu sync.Mutex
	written := 0
	for w := range 6 {
		writers.Go(func() {
			for i := 0; writing.Err() == nil; i++ {
				id, err := s.createWorkspace(t.Context(), fmt.Sprint(w, i))
				if err == nil {
					_, err = handle.Command(t.Context(), s.Commands, handle.Target{Stream: id, PartitionKey: id},
						handle.Origin{Actor: "tester"}, commands.UpdateWorkspace{ID: id, Name: "renamed"})
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				written++
				mu.Unlock()
			}
		})
	}
	random := rand.New(rand.NewPCG(13, 1))
	stops := map[string]func(){}
	for range 8 {
		name := fmt.Sprint("process ", random.IntN(3))
		if stop, running := stops[name]; running {
			stop()
			delete(stops, name)
		} else {
			_, stops[name] = startLeased(t, at, name, 5, shortTTL)
		}
		want := len(stops) + 1
		testworld.Await(t, func() (shared bool) {
			err := first.DB.QueryRow(t.Context(), `
				SELECT count(DISTINCT holder) = $1 AND count(*) = 5 FROM facts.leases WHERE expires_at > now()`, want).Scan(&shared)
			return err == nil && shared
		})
		mu.Lock()
		so := written
		mu.Unlock()
		testworld.Await(t, func() bool { // every shard is projected
			mu.Lock()
			defer mu.Unlock()
			return written >= so+10 || t.Failed()
		})
	}
	stopWriting()
	testwait.Group(t, &writers, "the writers")
	var renamed int
	if err := s.DB.QueryRow(t.Context(), `SELECT count(*) FROM workspaces WHERE name = 'renamed'`).Scan(&renamed); err != nil || renamed != written {
		t.Errorf("%d workspaces, %v, want %d", renamed, err, written)
	}
	if d := s.rebuilt(t, "next"); len(d) > 0 {
		t.Errorf("the rebuilt read model differs: %+v", d)
	}
}

// A process that lost the lease of a shard cannot write there, even if the next
// one has written nothing yet.
func TestAFormerHolderCannotWrite(t *testing.T) {
	t.Parallel()
	at := testworld.NewServers(t)
	at.Log.Partitions = 1
	w, stop := startLeased(t, at, "former", 1, 12*time.Second) // long, so that it notices the loss only after the batch
	s := stack{w}
	s.Listen(t)
	if _, err := s.createWorkspace(t.Context(), "before"); err != nil {
		t.Fatal(err)
	}
	tx, err := s.DB.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it is committed
	// The next batch waits for the fence while the lease changes hands.
	if _, err := tx.Exec(t.Context(), `LOCK TABLE readmodel.offsets IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	created := make(chan error, 1)
	go func() {
		_, err := s.createWorkspace(t.Context(), "after")
		created <- err
	}()
	testworld.Await(t, func() (blocked bool) {
		err := s.DB.QueryRow(t.Context(), `
			SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'readmodel.offsets'::regclass AND NOT granted)`).Scan(&blocked)
		return err == nil && blocked
	})
	_, err = s.DB.Exec(t.Context(), `UPDATE facts.leases SET holder = 'other', epoch = epoch + 1, expires_at = now() + interval '1 hour'`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DB.Exec(t.Context(), `INSERT INTO facts.members SELECT subscriber, 'other', backend, now() + interval '1 hour' FROM facts.members`); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, func() (waits bool) { // its lock was granted, and its transaction has ended
		err := s.DB.QueryRow(t.Context(), `
			SELECT NOT EXISTS (SELECT FROM pg_locks WHERE relation = 'readmodel.offsets'::regclass)`).Scan(&waits)
		return err == nil && waits
	})
	var count int
	if err := s.DB.QueryRow(t.Context(), `SELECT count(*) FROM workspaces`).Scan(&count); err != nil || count != 1 {
		t.Errorf("%d workspaces, %v, want the one from before the lease changed hands", count, err)
	}
	if _, err := s.DB.Exec(t.Context(), `DELETE FROM facts.members WHERE process = 'other'`); err != nil {
		t.Fatal(err)
	}
	if err := testwait.Receive(t, created, "the write"); err != nil {
		t.Errorf("the write ended with %v once the shard had a projector again", err)
	}
	stop()
}
