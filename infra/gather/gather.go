// Package gather combines concurrent calls with single keys into few queries.
package gather

import (
	"context"
	"sync"
	"time"
)

// Gather looks up keys. A single key is sent at once, unless Linger is set. While
// MaxQueries queries run, further keys are collected and sent together in the next query.
// So a single caller never waits for others, and under load many callers share a query.
//
// A value is never older than the call of Get, because a key joins only a query that has
// not been sent.
type Gather[K comparable, V any] struct {
	// Query returns the values of the keys that have one. Several goroutines may call
	// it at once.
	Query func(ctx context.Context, keys []K) (map[K]V, error)
	// MaxQueries is how many queries run at once; 0 means 2.
	MaxQueries int
	// MaxKeys is the most keys of a query; 0 means 512.
	MaxKeys int
	// Linger is how long a query that is not full waits for further keys. It is for
	// calls that may take longer.
	Linger time.Duration

	mu      sync.Mutex
	running int
	waiting []*batch[K, V] // the last one takes keys until it is full
}

// batch is one query and its result.
type batch[K comparable, V any] struct {
	keys   []K
	full   chan struct{} // closed when it has MaxKeys keys
	asked  map[K]struct{}
	done   chan struct{}
	values map[K]V
	err    error
}

// queryTimeout bounds a query. A query ignores the deadlines of its callers, because
// several callers share it.
const queryTimeout = 10 * time.Second

// Get returns the key's value, and false when it has none.
func (g *Gather[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	f := g.join(ctx, key)
	select {
	case <-f.done:
		value, found = f.values[key]
		return value, found, f.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// join adds the key to the next batch, and starts a query if one may run.
func (g *Gather[K, V]) join(ctx context.Context, key K) *batch[K, V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	var f *batch[K, V]
	if n := len(g.waiting); n > 0 && len(g.waiting[n-1].keys) < orDefault(g.MaxKeys, 512) {
		f = g.waiting[n-1]
	} else {
		f = &batch[K, V]{asked: map[K]struct{}{}, full: make(chan struct{}), done: make(chan struct{})}
		g.waiting = append(g.waiting, f)
	}
	if _, twice := f.asked[key]; !twice {
		f.asked[key] = struct{}{}
		f.keys = append(f.keys, key)
		if len(f.keys) == orDefault(g.MaxKeys, 512) {
			close(f.full)
		}
	}
	if g.running < orDefault(g.MaxQueries, 2) {
		g.running++
		go g.run(context.WithoutCancel(ctx))
	}
	return f
}

// run sends queries until no batch waits.
func (g *Gather[K, V]) run(ctx context.Context) {
	for {
		g.mu.Lock()
		if len(g.waiting) == 0 {
			g.running--
			g.mu.Unlock()
			return
		}
		f := g.waiting[0]
		if g.Linger > 0 {
			g.mu.Unlock()
			linger(f.full, g.Linger)
			g.mu.Lock()
			if len(g.waiting) == 0 || g.waiting[0] != f { // another goroutine took the batch
				g.mu.Unlock()
				continue
			}
		}
		g.waiting = g.waiting[1:]
		g.mu.Unlock()
		g.query(ctx, f)
	}
}

func linger(full <-chan struct{}, limit time.Duration) {
	enough := time.NewTimer(limit)
	defer enough.Stop()
	select {
	case <-full:
	case <-enough.C:
	}
}

func (g *Gather[K, V]) query(ctx context.Context, f *batch[K, V]) {
	defer close(f.done)
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	f.values, f.err = g.Query(ctx, f.keys)
}

func orDefault(n, standard int) int {
	if n > 0 {
		return n
	}
	return standard
}
