package reactor_test

import (
	"context"
	"sync"

	"netsim/infra/eventlog"
	"netsim/infra/facts"
)

// offsets is a commit of one partition.
func offsets(partition int32, next int64) map[int32]eventlog.GroupOffset {
	return map[int32]eventlog.GroupOffset{partition: {Next: next}}
}

// mover leases shards to two processes, and exchanges them at each move. A shard
// gets its next holder when the one before has returned it.
type mover struct {
	shards int32
	held   []int // how often each process has held shards

	mu      sync.Mutex
	epoch   int64
	changed chan struct{} // closed at the next move
	busy    map[int32]chan struct{}
}

func newMover(shards int32) *mover {
	return &mover{shards: shards, held: make([]int, 2), changed: make(chan struct{}), busy: map[int32]chan struct{}{}}
}

func (m *mover) move() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.epoch++
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *mover) process(number int) leases { return leases{m, number} }

type leases struct {
	*mover
	number int
}

// Run implements reactor.Leases.
func (l leases) Run(ctx context.Context, work func(context.Context, []facts.Lease) error) error {
	for ctx.Err() == nil {
		l.mu.Lock()
		epoch, changed := l.epoch, l.changed
		var held []facts.Lease
		for shard := range l.shards {
			if (int64(shard)+epoch)%2 == int64(l.number) {
				held = append(held, facts.Lease{Shard: shard, Epoch: epoch})
			}
		}
		l.held[l.number]++
		l.mu.Unlock()
		if err := l.hold(ctx, changed, held, work); err != nil {
			return err
		}
	}
	return nil
}

// hold takes the shards once no other process has them, and works with them until the
// next move.
func (l leases) hold(ctx context.Context, changed <-chan struct{}, held []facts.Lease, work func(context.Context, []facts.Lease) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	}()
	for _, lease := range held {
		if !l.take(ctx, lease.Shard) {
			return nil
		}
		defer l.giveBack(lease.Shard)
	}
	return work(ctx, held)
}

func (m *mover) take(ctx context.Context, shard int32) bool {
	for {
		m.mu.Lock()
		other, busy := m.busy[shard]
		if !busy {
			m.busy[shard] = make(chan struct{})
			m.mu.Unlock()
			return true
		}
		m.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return false
		}
	}
}

func (m *mover) giveBack(shard int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.busy[shard])
	delete(m.busy, shard)
}
