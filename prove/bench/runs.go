package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"netsim/events"
	"netsim/infra/devissuer"
)

// runs measures single runs: from the submission, each of another size, until the client
// has read that the run is completed.
func (b *bench) runs(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{sync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	serving, err := s.serve(ctx, allRoles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.process.stop()) }()
	account := events.NewID(events.AccountPrefix)
	if err := s.grant(ctx, account); err != nil {
		return err
	}
	if serving.token, err = devissuer.Mint(s.dir, devissuer.Options{User: "bench", Account: account}, time.Now()); err != nil {
		return err
	}
	var size atomic.Int64
	for _, c := range []struct {
		ranks, clients int
		reach          string
	}{
		{8, 1, "p50 40 ms"},
		{64, 16, "80/s, 20 ms of CPU"},
	} {
		conns, hangUp, err := serving.dial(c.clients)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("run of %d ranks until it is completed, %s", c.ranks, plural(c.clients, "client"))
		judged, err := s.judged(ctx)
		if err != nil {
			return err
		}
		got, cpu, err := b.under(ctx, s, services{serving}, name, plan{warm: b.warm, run: b.run}, each(conns, func(_ int, conn *conn) client {
			return client{do: func() error { return runOne(conn, c.ranks, 4096*size.Add(1)) }}
		}))
		hangUp()
		if err != nil {
			return err
		}
		f := of(name, got, c.reach)
		f.CPU = cpu
		left, err := s.factsEach(ctx, judged, got.Total)
		if err != nil {
			return err
		}
		b.report.add(f, left)
	}
	return nil
}

// factsEach returns how many facts each operation has left in the log since as many records
// were judged.
func (s *stack) factsEach(ctx context.Context, judged int64, operations int) (limit, error) {
	now, err := s.judged(ctx)
	return limit{Name: "facts each", Value: float64(now-judged) / float64(max(operations, 1)), Unit: " facts"}, err
}

// runOne submits an all-reduce and polls until it is completed, as the peers' clients poll.
func runOne(c *conn, ranks int, size int64) error {
	began := time.Now()
	answer, err := c.want(202, "POST", "/api/v1/simple/simulations", fmt.Appendf(nil,
		`{"workload":{"ranks":%d,"phases":[{"operationType":"allReduce","dataSize":%d}]}}`, ranks, size))
	if err != nil {
		return err
	}
	var run struct{ SimulationID, Status string }
	if err := json.Unmarshal(answer, &run); err != nil {
		return err
	}
	for path := "/api/v1/simulations/" + run.SimulationID; ; {
		time.Sleep(max(pollAfter, time.Since(began)/4))
		if answer, err = c.want(200, "GET", path, nil); err != nil {
			return err
		}
		if err := json.Unmarshal(answer, &run); err != nil {
			return err
		}
		switch run.Status {
		case "completed":
			return nil
		case "provisioning", "running":
		default:
			return fmt.Errorf("run %s is %s", run.SimulationID, run.Status)
		}
	}
}
