package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// client does one operation after another.
type client struct {
	do    func() error // the measured operation
	check func() error // runs after do and is not measured; may be nil
}

// plan describes how long and how often clients do operations.
type plan struct {
	warm, run time.Duration
	// perSecond is the rate of operations of all clients together; 0 means as many
	// as possible. Operations are due at regular intervals, and the time of each is
	// measured from the moment when it is due. So a server that is slow for a moment
	// makes all waiting operations slower.
	perSecond int
}

// errTimedOut is the error of an operation that timed out in the server. It is
// counted; every other error ends the load.
var errTimedOut = errors.New("the operation timed out in the server")

// sample is the result of a load.
type sample struct {
	PerSecond float64
	P50, P99  time.Duration
	Total     int           // completed operations, including the warm-up
	TimedOut  int           // operations of the Total
	Drained   time.Duration // time that the service needed for the remaining work
}

// load runs the clients concurrently until the plan ends or one of them fails.
func load(ctx context.Context, p plan, clients []client) (sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		mu    sync.Mutex
		all   []time.Duration
		total atomic.Int64
		late  atomic.Int64
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
				err := c.do()
				now := time.Now()
				total.Add(1)
				if errors.Is(err, errTimedOut) {
					late.Add(1)
					continue
				}
				if err != nil {
					return err
				}
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
	got := sample{PerSecond: float64(len(all)) / p.run.Seconds(), Total: int(total.Load()), TimedOut: int(late.Load())}
	if got.Total == 0 {
		return got, fmt.Errorf("no operation of %d clients began within %s", len(clients), p.run)
	}
	if len(all) == 0 { // every operation takes longer than the run
		got.PerSecond = float64(got.Total-got.TimedOut) / (p.warm + time.Since(begin)).Seconds()
		return got, nil
	}
	slices.Sort(all)
	got.P50, got.P99 = all[len(all)/2], all[len(all)*99/100]
	return got, nil
}

// each makes a client for every connection.
func each(conns []*conn, as func(n int, c *conn) client) []client {
	clients := make([]client, len(conns))
	for n, c := range conns {
		clients[n] = as(n, c)
	}
	return clients
}

// repeat calls do for the duration and returns the sum of its results per second.
func repeat(ctx context.Context, duration time.Duration, do func() (int, error)) (float64, error) {
	began, count := time.Now(), 0
	for time.Since(began) < duration {
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
