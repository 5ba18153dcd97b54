package facts_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/facts"
	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// registry records which member works on which shard.
type registry struct {
	t          *testing.T
	mayOverlap bool // members, as long as the later one has the larger epoch

	mu     sync.Mutex
	on     map[int32]string         // the member at work on a shard
	last   map[int32]string         // the last member at work on a shard
	epochs map[int32]int64          // its epoch
	at     map[string][]facts.Lease // what a member works on
}

func newRegistry(t *testing.T) *registry {
	return &registry{t: t, on: map[int32]string{}, last: map[int32]string{}, at: map[string][]facts.Lease{}, epochs: map[int32]int64{}}
}

// work returns the work of a member. It fails the test when another member works on a
// shard, unless mayOverlap, and when a shard's epoch shrinks or does not grow with a
// change of members.
func (r *registry) work(name string) func(context.Context, []facts.Lease) error {
	return func(ctx context.Context, held []facts.Lease) error {
		r.change(func() {
			for _, lease := range held {
				if other, taken := r.on[lease.Shard]; taken && !r.mayOverlap {
					r.t.Errorf("%s and %s work on shard %d at once", name, other, lease.Shard)
				}
				if last := r.epochs[lease.Shard]; lease.Epoch < last || lease.Epoch == last && r.last[lease.Shard] != name {
					r.t.Errorf("shard %d has epoch %d after %d", lease.Shard, lease.Epoch, last)
				}
				r.on[lease.Shard], r.last[lease.Shard], r.epochs[lease.Shard] = name, name, lease.Epoch
			}
			r.at[name] = held
		})
		<-ctx.Done()
		r.change(func() {
			for _, lease := range held {
				if r.on[lease.Shard] == name {
					delete(r.on, lease.Shard)
				}
			}
			delete(r.at, name)
		})
		return nil
	}
}

func (r *registry) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// parts returns how many shards each member works on.
func (r *registry) parts() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	parts := map[string]int{}
	for name, held := range r.at {
		parts[name] = len(held)
	}
	return parts
}

// await waits until the members work on so many shards, in ascending order.
func (r *registry) await(want ...int) {
	r.t.Helper()
	testworld.Await(r.t, func() bool {
		var got []int
		for _, n := range r.parts() {
			got = append(got, n)
		}
		slices.Sort(got)
		return slices.Equal(got, want)
	})
}

// pool returns connections to a database with the service's tables.
func pool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	db, err := postgres.Open(t.Context(), teststack.Postgres(t), "readmodel", 16)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := postgres.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

const shards = 7

// join makes a process a member until stop is called.
func join(t *testing.T, db *pgxpool.Pool, name string, ttl time.Duration, work func(context.Context, []facts.Lease) error) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	l := &facts.Leases{
		Pool: db, Subscriber: "test", Process: name, Shards: shards, TTL: ttl, Log: testworld.Silent(),
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx, work) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := testwait.Receive(t, ended, name); err != nil {
				t.Errorf("%s ended with %v", name, err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// Members share the shards evenly, and never work on one shard at once.
func TestShardsAreSharedEvenly(t *testing.T) {
	t.Parallel()
	db, r := pool(t), newRegistry(t)
	var stops []func()
	for i, want := range [][]int{{7}, {3, 4}, {2, 2, 3}} {
		name := fmt.Sprint("member ", i)
		stops = append(stops, join(t, db, name, 3*time.Second, r.work(name)))
		r.await(want...)
	}
	stops[0]()
	r.await(3, 4)
	stops[2]()
	r.await(7)
}

// A member that cannot renew its leases loses them. When it is back it gets its
// part again, with larger epochs.
func TestASuspendedMemberLosesItsShards(t *testing.T) {
	t.Parallel()
	db, r := pool(t), newRegistry(t)
	r.mayOverlap = true // when this machine is busy
	join(t, db, "a", time.Second, r.work("a"))
	r.await(7)
	var wire wire
	join(t, wire.pool(t, db), "b", time.Second, r.work("b"))
	r.await(3, 4)
	wire.suspended.Store(true)
	r.await(7)
	if parts := r.parts(); parts["a"] != 7 {
		t.Errorf("the members work on %v shards, want 7 of a", parts)
	}
	wire.suspended.Store(false)
	r.await(3, 4)
}

// The shards of a member that is gone are taken before its leases expire. On a busy machine
// that can take longer than leases of nine seconds last; then longer ones are tried.
func TestTheShardsOfADeadMemberAreFree(t *testing.T) {
	t.Parallel()
	for ttl := 9 * time.Second; ; ttl *= 4 {
		taken, expires := takeFromTheDead(t, ttl)
		if taken.Before(expires) {
			return
		}
		if ttl > time.Minute {
			t.Fatalf("the shards were taken at %s; the leases of the dead member expired at %s", taken, expires)
		}
	}
}

// takeFromTheDead returns when the shards of a member that is gone were taken, and when its
// leases expired.
func takeFromTheDead(t *testing.T, ttl time.Duration) (taken, expires time.Time) {
	t.Helper()
	db, r := pool(t), newRegistry(t)
	r.mayOverlap = true
	defer join(t, db, "a", ttl, r.work("a"))()
	r.await(7)
	var wire wire
	defer join(t, wire.pool(t, db), "b", ttl, r.work("b"))()
	r.await(3, 4)
	wire.cut.Store(true)
	err := db.QueryRow(t.Context(), `SELECT max(expires_at) FROM facts.leases WHERE holder = 'b'`).Scan(&expires)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `SELECT pg_terminate_backend(backend) FROM facts.members WHERE process = 'b'`); err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, func() bool { return r.parts()["a"] == 7 })
	if err := db.QueryRow(t.Context(), `SELECT to_timestamp(max(epoch) / 1e6) FROM facts.leases`).Scan(&taken); err != nil {
		t.Fatal(err)
	}
	return taken, expires
}

// wire is the network between a process and PostgreSQL.
type wire struct {
	suspended atomic.Bool // nothing is sent or closed
	cut       atomic.Bool // nothing connects
}

// pool returns a pool of connections over the wire.
func (w *wire) pool(t *testing.T, like *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	c := like.Config().Copy()
	dial := c.ConnConfig.DialFunc
	c.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if w.cut.Load() {
			return nil, errors.New("the wire is cut")
		}
		conn, err := dial(ctx, network, address)
		return wired{conn, w}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

type wired struct {
	net.Conn
	wire *wire
}

func (c wired) Write(b []byte) (int, error) {
	if c.wire.suspended.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c wired) Close() error {
	if c.wire.suspended.Load() {
		return nil
	}
	return c.Conn.Close()
}

// An error of the work ends Run, which releases the leases.
func TestAnErrorOfTheWorkIsReturned(t *testing.T) {
	t.Parallel()
	db, r := pool(t), newRegistry(t)
	broken := errors.New("broken")
	l := &facts.Leases{Pool: db, Subscriber: "test", Process: "broken", Shards: shards, TTL: time.Hour, Log: testworld.Silent()}
	err := l.Run(t.Context(), func(context.Context, []facts.Lease) error { return broken })
	if !errors.Is(err, broken) {
		t.Fatalf("Run returned %v, want %v", err, broken)
	}
	join(t, db, "next", time.Second, r.work("next"))
	r.await(7)
}
