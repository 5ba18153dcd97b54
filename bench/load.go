package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// client does one operation after another.
type client struct {
	do    func() error // what is measured
	check func() error // afterwards, outside the clock; may be nil
}

// plan is how clients make requests.
type plan struct {
	warm, run time.Duration
	// perSecond is how many operations are due, evenly, whoever does them; 0 is
	// as many as there can be. The time of one that is due runs from then on,
	// so that a server which is slow for a moment pays for all that waits.
	perSecond int
}

// sample is what was measured.
type sample struct {
	PerSecond float64
	P50, P99  time.Duration
	Total     int           // operations done, those of the warm-up included
	Drained   time.Duration // that the service was at the rest of the work afterwards
}

// load runs the clients at once until the plan is over, or one of them fails.
func load(ctx context.Context, p plan, clients []client) (sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		all   []time.Duration
		total atomic.Int64
		due   atomic.Int64
	)
	begin := time.Now().Add(p.warm)
	end := begin.Add(p.run)
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range clients {
		group.Go(func() error {
			var took []time.Duration
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, took...)
			}()
			for ctx.Err() == nil {
				from := time.Now()
				if p.perSecond > 0 {
					nth := due.Add(1) - 1
					from = begin.Add(-p.warm).Add(time.Duration(nth) * time.Second / time.Duration(p.perSecond))
					time.Sleep(time.Until(from))
				}
				if from.After(end) {
					break
				}
				if err := c.do(); err != nil {
					return err
				}
				now := time.Now()
				total.Add(1)
				if now.After(begin) && now.Before(end) {
					took = append(took, now.Sub(from))
				}
				if c.check == nil {
					continue
				}
				if err := c.check(); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return sample{}, err
	}
	if len(all) == 0 {
		return sample{}, fmt.Errorf("no operation of %d clients ended within %s", len(clients), p.run)
	}
	slices.Sort(all)
	return sample{
		PerSecond: float64(len(all)) / p.run.Seconds(),
		P50:       all[len(all)/2], P99: all[len(all)*99/100],
		Total: int(total.Load()),
	}, nil
}

// each makes a client of every connection.
func each(conns []*conn, as func(n int, c *conn) client) []client {
	clients := make([]client, len(conns))
	for n, c := range conns {
		clients[n] = as(n, c)
	}
	return clients
}

// repeat does something again and again for a while, each time to a number of
// things, and returns how many a second.
func repeat(ctx context.Context, for_ time.Duration, do func() (int, error)) (float64, error) {
	began, count := time.Now(), 0
	for time.Since(began) < for_ {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		n, err := do()
		if err != nil {
			return 0, err
		}
		count += n
	}
	return float64(count) / time.Since(began).Seconds(), nil
}
