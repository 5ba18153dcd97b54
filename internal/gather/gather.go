// Package gather turns many look-ups of single keys into few queries.
package gather

import (
	"context"
	"sync"
	"time"
)

// Gather answers look-ups of keys. A look-up that finds nobody else asking is
// a query of its own at once; the keys that are asked for while Flights
// queries are under way go together in the next one. So it costs a lone caller
// nothing, and the more callers there are the fewer queries each of them is.
//
// A value is never older than the call that asked for it: a key joins only a
// query that has not begun.
type Gather[K comparable, V any] struct {
	// Query returns the values of those keys that have one. It may be called
	// from several goroutines.
	Query func(ctx context.Context, keys []K) (map[K]V, error)
	// Flights is how many queries may be under way, 0 for 2.
	Flights int
	// Most is how many keys go in one query, 0 for 512.
	Most int

	mu      sync.Mutex
	flying  int
	waiting []*flight[K, V] // the last one takes keys until it is full
}

// flight is one query and those who wait for it.
type flight[K comparable, V any] struct {
	keys   []K
	asked  map[K]struct{}
	landed chan struct{}
	values map[K]V
	err    error
}

// patience bounds one query: it belongs to nobody's request.
const patience = 10 * time.Second

// Get returns the key's value, and false when it has none.
func (g *Gather[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	f := g.join(ctx, key)
	select {
	case <-f.landed:
		value, found = f.values[key]
		return value, found, f.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// join puts the key into the next flight, which leaves at once when one may.
func (g *Gather[K, V]) join(ctx context.Context, key K) *flight[K, V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	var f *flight[K, V]
	if n := len(g.waiting); n > 0 && len(g.waiting[n-1].keys) < orDefault(g.Most, 512) {
		f = g.waiting[n-1]
	} else {
		f = &flight[K, V]{asked: map[K]struct{}{}, landed: make(chan struct{})}
		g.waiting = append(g.waiting, f)
	}
	if _, twice := f.asked[key]; !twice {
		f.asked[key] = struct{}{}
		f.keys = append(f.keys, key)
	}
	if g.flying < orDefault(g.Flights, 2) {
		g.flying++
		go g.fly(context.WithoutCancel(ctx))
	}
	return f
}

// fly queries until nobody waits.
func (g *Gather[K, V]) fly(ctx context.Context) {
	for {
		g.mu.Lock()
		if len(g.waiting) == 0 {
			g.flying--
			g.mu.Unlock()
			return
		}
		f := g.waiting[0]
		g.waiting = g.waiting[1:]
		g.mu.Unlock()
		g.ask(ctx, f)
	}
}

func (g *Gather[K, V]) ask(ctx context.Context, f *flight[K, V]) {
	defer close(f.landed)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f.values, f.err = g.Query(ctx, f.keys)
}

func orDefault(n, standard int) int {
	if n > 0 {
		return n
	}
	return standard
}
