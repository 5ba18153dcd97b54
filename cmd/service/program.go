package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/api/contract"
	"netsim/cmd/settings"
	"netsim/infra/health"
	"netsim/infra/web"
	"netsim/readapi"
)

// Started has the addresses of a running service. HTTP is "" in a process without the role
// api.
type Started struct{ HTTP, Ops string }

// Run serves until ctx ends and returns nil after an orderly end. It calls started,
// unless it is nil, when the service answers requests.
//
// The process ends in this order. First readiness fails, and reactions and jobs stop,
// while the API still serves for NETSIM_DRAIN and closes connections. Then
// requests in progress finish. The projector and the event log, which these requests
// need, end last, together with the operations listener.
func Run(ctx context.Context, c settings.Config, log *slog.Logger, started func(Started)) error {
	if err := c.Check(); err != nil {
		return err
	}
	c.Announce(ctx, log)
	ops, err := net.Listen("tcp", c.Ops)
	if err != nil {
		return fmt.Errorf("listen for operations: %w", err)
	}
	defer ops.Close()       //nolint:errcheck // the server closes it first
	var listen net.Listener // listener of the API; nil without the role api
	if c.Has(settings.RoleAPI) {
		if listen, err = net.Listen("tcp", c.HTTP); err != nil {
			return fmt.Errorf("listen for requests: %w", err)
		}
		defer listen.Close() //nolint:errcheck // the server closes it first
	}
	l, err := newLaunch(ctx, c, log)
	if err != nil {
		return err
	}
	defer l.closeTraces()

	last, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	foundation, last := errgroup.WithContext(last)
	first, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	context.AfterFunc(ctx, func() { cancel(errAsked) })
	context.AfterFunc(last, func() { cancel(errBroken) })
	l.health.Add(checks(&l.config, l.needsFirst())...)
	operations := web.NewServer(web.Operations(last, l.metrics.Handler(), &l.health, l.config.Profiles), time.Minute, log)
	foundation.Go(l.part(last, "the operations listener", func(ctx context.Context) error {
		return web.Serve(ctx, operations, ops, 2*health.Timeout)
	}))
	s, err := l.connect(first)
	if err == nil {
		s.health.Add(checks(&s.config, s.needs())...)
		s.observeHealth()
		err = s.attempt(first, s.openReadModel)
	}
	if err == nil {
		s.runFoundation(last, foundation)
		err = s.serve(first, listen, func(at Started) {
			at.Ops = ops.Addr().String()
			s.log.InfoContext(ctx, "serving", "http", at.HTTP, "ops", at.Ops, "roles", c.Roles)
			if started != nil {
				started(at)
			}
		})
	}
	stop()
	broken := foundation.Wait()
	if s != nil {
		s.close() // not deferred: after a panic it would wait forever for sessions in use
	}
	if broken != nil {
		return broken
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // the process was stopped while it started
	}
	return err
}

// The reasons why the roles end when none of them failed.
var (
	errAsked  = errors.New("the process was asked to end")
	errBroken = errors.New("a part that every role needs has ended")
)

// part returns a function that runs a part of the process until ctx ends. If the part
// ends earlier, the error is logged and the process ends with the exit status 1.
func (l *launch) part(ctx context.Context, name string, run func(context.Context) error) func() error {
	return func() error {
		err := run(ctx)
		if ctx.Err() != nil {
			return err
		}
		err = fmt.Errorf("%s ended unexpectedly: %w", name, cmp.Or(err, errors.New("it gave no reason")))
		l.log.ErrorContext(ctx, "a part of the process ended unexpectedly; the process ends", "part", name, "error", err)
		return err
	}
}

// runFoundation runs what every role needs.
func (s *process) runFoundation(ctx context.Context, foundation *errgroup.Group) {
	project := s.projector.Watch
	if s.config.Has(settings.RoleProjector) {
		project = s.projector.Run
	}
	foundation.Go(s.part(ctx, "the projector", project))
	foundation.Go(s.part(ctx, "the watcher of verdicts", s.watcher.Run))
	foundation.Go(s.part(ctx, "the check of the log", s.watchLog))
	foundation.Go(s.part(ctx, "the check of the deployment's level", s.watchLevel))
	if s.config.Has(settings.RoleAPI) {
		foundation.Go(s.part(ctx, "the refresh of the issuer's keys", s.verifier.Run))
	}
}

// serve runs the roles on the foundation.
func (s *process) serve(ctx context.Context, listen net.Listener, started func(Started)) error {
	roles, ctx := errgroup.WithContext(ctx)
	verify := s.verified.Ping // opens the first verified session
	writer, err := open(ctx, s.launch, s.openWriter)
	if err != nil {
		return err
	}
	if err := s.attempt(ctx, s.watcher.AwaitTurnover, s.catchUp, verify); err != nil {
		return err
	}
	list, err := PriceList(&s.config)
	if err != nil {
		return err
	}
	if s.config.Writes() {
		seals := func(ctx context.Context) error { return s.beginSeals(ctx, writer) }
		seed := func(ctx context.Context) error { return s.seed(ctx, writer, list) }
		if err := s.attempt(ctx, seals, seed); err != nil {
			return err
		}
	}
	work, err := s.openDomain(ctx, writer, list)
	if err != nil {
		return err
	}
	err = s.runRoles(ctx, work, listen, roles, started)
	work.close() // not deferred, as in Run
	return err
}

// runRoles runs the roles until ctx ends or one fails.
func (s *process) runRoles(ctx context.Context, work *domain, listen net.Listener, roles *errgroup.Group, started func(Started)) (err error) {
	if work.registry, err = s.schemaRegistry(); err != nil {
		return err
	}
	if work.publisher, err = s.publisher(work.registry); err != nil {
		return err
	}
	if work.archiver, err = s.archiver(); err != nil {
		return err
	}
	if work.reactor, err = s.reactor(work); err != nil {
		return err
	}
	if !s.config.ReadOnly {
		s.health.Add(checks(&s.config, work.needs(s))...)
	}
	if err := s.runBackground(ctx, work, roles); err != nil {
		return err
	}
	var at Started
	if listen != nil {
		at.HTTP = listen.Addr().String()
		if err := s.runAPI(ctx, work, listen, roles); err != nil {
			return err
		}
	}
	s.phase.Store(serving)
	defer context.AfterFunc(ctx, func() { s.phase.Store(ending) })()
	started(at)
	roles.Go(func() error { <-ctx.Done(); return nil }) // waits for the end even without any other role
	return roles.Wait()
}

// frontEnd returns the front end of the API with its dependencies.
func (s *process) frontEnd(quotas *readapi.Quotas) (frontEnd, error) {
	terms, err := contract.Load()
	if err != nil {
		return frontEnd{}, err
	}
	return frontEnd{
		config: s.config, contract: terms, verifier: s.verifier, admission: s.admission(quotas),
		metrics: observeRequests(s.metrics), tracer: s.traces.Tracer(),
		admit: s.admit, recovered: s.awaitRecovery, behind: s.isBehind, log: s.log,
	}, nil
}
