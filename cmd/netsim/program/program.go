package program

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/api/contract"
	web "netsim/infra/http"
)

// Started says where a service that has begun to answer listens.
type Started struct{ HTTP, Ops string }

// Run serves until ctx ends and returns nil after an orderly end. started, when
// not nil, is called once requests are answered.
//
// The end has an order: requests and jobs under way finish first, and what
// their answers need, the projector and the log, ends last.
func Run(ctx context.Context, c Config, log *slog.Logger, started func(Started)) error {
	if err := c.check(); err != nil {
		return err
	}
	listen, err := net.Listen("tcp", c.HTTP)
	if err != nil {
		return fmt.Errorf("listen for requests: %w", err)
	}
	defer listen.Close() //nolint:errcheck // the server closes it first
	ops, err := net.Listen("tcp", c.Ops)
	if err != nil {
		return fmt.Errorf("listen for operations: %w", err)
	}
	defer ops.Close() //nolint:errcheck // the server closes it first
	s, err := connect(ctx, c, log)
	if err != nil {
		return err
	}
	defer s.close()

	last, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	foundation, last := errgroup.WithContext(last)
	first, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(last, cancel) // when the foundation breaks, everything ends
	if c.has(RoleProjector) {
		if err := s.projector.Create(ctx); err != nil {
			return err
		}
		foundation.Go(func() error { return s.projector.Run(last) })
	} else {
		foundation.Go(func() error { return s.projector.Watch(last) })
	}
	foundation.Go(func() error { return s.watcher.Run(last) })
	foundation.Go(func() error { return s.keepTrust(last) })

	err = s.serve(first, listen, ops, started)
	stop()
	if broken := foundation.Wait(); broken != nil {
		return broken
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // it was ended while it started
	}
	return err
}

// serve runs the roles that stand on the foundation.
func (s *core) serve(ctx context.Context, listen, ops net.Listener, started func(Started)) error {
	if err := s.openLedger(ctx); err != nil {
		return err
	}
	roles, ctx := errgroup.WithContext(ctx)
	s.health.Add(s.config.checks(s.needs())...)
	operations := web.NewServer(web.Operations(s.registry, &s.health), time.Minute, s.log)
	roles.Go(func() error { return web.Serve(ctx, operations, ops, time.Second) })
	if s.config.has(RoleAPI) {
		roles.Go(func() error { return s.verifier.Run(ctx) })
	}
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	list, err := s.config.priceList()
	if err != nil {
		return err
	}
	if err := s.seed(ctx, list); err != nil {
		return err
	}
	work, err := s.openDomain(ctx, list)
	if err != nil {
		return err
	}
	defer work.close()
	s.health.Add(s.config.checks(work.needs(s))...)
	if err := s.runBackground(ctx, work, roles); err != nil {
		return err
	}
	if s.config.has(RoleAPI) {
		feed := s.feed()
		roles.Go(func() error { return feed.Run(ctx) })
		handler, err := s.api(ctx, work, feed)
		if err != nil {
			return err
		}
		server := web.NewServer(handler, s.config.VerdictTimeout+s.config.ReadTimeout, s.log)
		roles.Go(func() error { return web.Serve(ctx, server, listen, s.config.Grace) })
	}
	s.serving.Store(true)
	if started != nil {
		started(Started{HTTP: listen.Addr().String(), Ops: ops.Addr().String()})
	}
	s.log.InfoContext(ctx, "serving", "http", listen.Addr().String(), "ops", ops.Addr().String(), "roles", s.config.Roles)
	return roles.Wait()
}

// door returns the door with everything that it checks.
func (s *core) door() (door, error) {
	terms, err := contract.Load()
	if err != nil {
		return door{}, err
	}
	metrics, err := web.NewMetrics(s.registry)
	if err != nil {
		return door{}, err
	}
	return door{config: s.config, contract: terms, verifier: s.verifier, metrics: metrics, admit: s.admit, log: s.log}, nil
}
