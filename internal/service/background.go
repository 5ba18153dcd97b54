package service

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"netsim/billing"
	"netsim/billing/prices"
	"netsim/content/simple/unfold"
	"netsim/content/traces"
	"netsim/content/uploads"
	"netsim/events"
	"netsim/infra/engines"
	"netsim/infra/jobs"
	"netsim/infra/reactor"
	"netsim/reactions"
	"netsim/runs"
	"netsim/runs/studies"
	"netsim/stream/contracts"
	"netsim/stream/lake"
	"netsim/stream/publisher"
)

// domain has the parts that the reactor, the workers and the API need besides the core.
type domain struct {
	metering    *billing.Metering
	books       *billing.Books
	holds       *billing.Holds
	simple      *unfold.Submissions
	simulation  *reactions.Simulation
	workspace   *reactions.Workspace
	traceset    *reactions.Traceset
	tracesetTTL *reactions.TracesetLife
	runner      *runs.Runner
	studies     *studies.Worker
	extractor   *traces.Extractor
	uploads     *uploads.Uploads
	engines     *engines.Client // remote engines
	jobs        *jobs.Jobs
	lake        *lake.Lake
	publisher   *publisher.Publisher // nil in the tools, and without the role publisher
	registry    *contracts.Registry  // of schemas; nil if there is none
	archiver    *archiving           // nil without the role archiver
}

// close stops the uploads in progress and disconnects from the job queue.
func (d *domain) close() {
	d.uploads.Close()
	d.jobs.Close()
}

// openDomain connects reactions, jobs and runs.
func (s *core) openDomain(ctx context.Context, list prices.List) (_ *domain, err error) {
	d := &domain{
		books: &billing.Books{Commands: s.handler, DB: s.pool, Now: time.Now},
		holds: &billing.Holds{Commands: s.handler, DB: s.pool, Now: time.Now, Postpaid: list.Postpaid},
		runner: &runs.Runner{
			Commands: s.handler, DB: s.pool, Objects: s.objects, Now: time.Now, Log: s.log,
			Stall: s.config.RunStall, StoreTimeout: s.config.StoreTimeout, SnapshotEvery: s.config.RunCheckpoint,
			Limits: runs.Limits{
				Flows: s.config.RunFlows, TraceBytes: s.config.RunTraces, ResultBytes: s.config.RunResults, Time: s.config.RunTime,
			},
			Room: runs.NewRoom(s.config.RunFlows, s.config.Workers),
		},
		workspace: &reactions.Workspace{Commands: s.handler, DB: s.pool},
		tracesetTTL: &reactions.TracesetLife{
			Commands: s.handler, DB: s.pool, Objects: s.objects, Locks: s.locks, Now: time.Now, CatchUp: s.catchUp,
		},
	}
	d.studies = &studies.Worker{
		Commands: s.handler, DB: s.pool, Room: s.room, Hold: d.holds.Hold,
		Changes: func() (<-chan struct{}, func()) { return s.watcher.Changes(events.Simulations, events.Billing) },
	}
	d.lake = s.lake()
	d.metering = billing.New(billing.Config{Commands: s.handler, DB: s.pool, Books: d.books, Holds: d.holds})
	d.engines, err = engines.New(engines.Config{URLs: s.config.EngineURLs, Token: s.config.EngineToken, Timeout: s.config.EngineTimeout, Wrap: s.wrap("engine")})
	if err != nil {
		return nil, err
	}
	d.runner.Remote = runs.Remote{Engines: d.engines, Poll: s.config.EnginePoll, Timeout: s.config.EngineOutageTimeout}
	d.extractor = &traces.Extractor{Commands: s.handler, DB: s.pool, Objects: s.objects}
	d.uploads = uploads.New(uploads.Config{
		Commands: s.handler, DB: s.pool, Objects: s.objects, Locks: s.locks, Log: s.log, Now: time.Now,
		Lifetime: s.config.UploadLife, LockTimeout: s.config.UploadLockTimeout,
		EnqueueClear: func(ctx context.Context, upload string) error {
			return d.jobs.Enqueue(ctx, uploads.ClearUpload{UploadID: upload})
		},
	})
	if d.jobs, err = open(ctx, s, s.openJobs); err != nil {
		return nil, err
	}
	s.registerJobs(d)
	observePools(s.metrics, map[string]func() *pgxpool.Stat{"main": s.pool.Stat, "projector": s.unverified.Stat, "locks": s.locks.Pool.Stat, "jobs": d.jobs.Stat})
	s.observeWork(d.jobs)
	queue := runs.Queue{Runner: d.runner, Enqueue: d.jobs.Enqueue, Cancel: d.jobs.Cancel}
	d.traceset = &reactions.Traceset{EnqueueExtraction: func(ctx context.Context, traceset string) error {
		return d.jobs.Enqueue(ctx, traces.ExtractTraceset{TracesetID: traceset})
	}}
	d.simple = &unfold.Submissions{Commands: s.handler, Workloads: s.workloads, EnqueueRun: queue.EnqueueRun}
	d.simulation = &reactions.Simulation{
		Commands: s.handler, DB: s.pool, Check: d.runner.Check,
		EnqueueRun: queue.EnqueueRun, EnqueuePurge: queue.EnqueuePurge,
	}
	return d, nil
}

// accrue records the costs of a day, YYYY-MM-DD. It first waits until the read model
// has caught up with the log, so the costs include every billing event written before
// the call.
func (s *core) accrue(ctx context.Context, books *billing.Books, day string) error {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return fmt.Errorf("accrue %q: %w", day, err)
	}
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	return books.AccrueDay(ctx, date)
}

// runBackground starts the reactor, the workers and the publisher if the process has these roles.
func (s *core) runBackground(ctx context.Context, d *domain, roles *errgroup.Group) error {
	if s.config.has(RoleReactor) {
		r, err := s.reactor(d)
		if err != nil {
			return err
		}
		raise := func(ctx context.Context) error { return billing.RaiseCounters(ctx, s.pool) }
		if err := s.attempt(ctx, raise); err != nil {
			return err
		}
		s.observeReactor(r)
		roles.Go(s.part(ctx, "the reactor", r.Run))
	}
	if s.config.has(RoleWorker) {
		roles.Go(s.part(ctx, "the workers", d.jobs.Work))
	}
	if s.config.has(RoleLake) {
		s.observeLake(d.lake)
		roles.Go(s.part(ctx, "the lake", d.lake.Run))
	}
	if d.archiver != nil {
		s.observeArchiver(d.archiver)
		roles.Go(s.part(ctx, "the archiver", d.archiver.run))
	}
	if s.config.has(RolePublisher) {
		s.observePublisher(d.publisher)
		observeRegistry(s.metrics, d.registry)
		roles.Go(s.part(ctx, "the publisher", d.publisher.Run))
		if d.registry != nil {
			roles.Go(s.part(ctx, "the registration of schemas", d.registry.Run))
		}
	}
	return nil
}

// reactorConfig returns the settings of the reactor.
func (s *core) reactorConfig() reactor.Config {
	return reactor.Config{
		Brokers: s.config.Kafka, Connect: s.broker, Prefix: s.config.TopicPrefix, Replication: s.config.replication(), Migrated: !s.config.Migrate,
		EventLog: s.eventLog, Facts: s.facts, Leases: s.leases("reactions"),
		Judge: s.watcher, Log: s.log, Tracer: s.traces.Tracer(), Retries: s.config.Retries,
		Observe: observeReactions(s.metrics),
	}
}

// reactor returns a reactor with every handler.
func (s *core) reactor(d *domain) (*reactor.Reactor, error) {
	r, err := reactor.New(s.reactorConfig())
	if err != nil {
		return nil, err
	}
	for _, h := range reactions.Table(reactions.Parts{
		Metering: d.metering, Submissions: d.simple, Simulation: d.simulation, Traceset: d.traceset, Life: d.tracesetTTL,
		Uploads: d.uploads, Workspace: d.workspace, Enqueue: d.jobs.Enqueue,
	}) {
		r.HandleMany(h.Name, h.AtOnce, h.React, h.Families...)
	}
	return r, nil
}

// reactionLag measures the lag of a handler, which may run in another process.
func (s *core) reactionLag(handler string, handled []events.Family) *reactor.Lag {
	families := map[events.Family]int32{}
	for _, family := range handled {
		families[family] = s.partitions[family]
	}
	return &reactor.Lag{
		Log: s.eventLog, Prefix: s.config.TopicPrefix, Handler: handler, Families: families,
		Next: s.watcher.Next, Now: time.Now,
	}
}

// priceList reads the price list in the settings, or the embedded one.
func (c *Config) priceList() (prices.List, error) {
	if c.Prices == "" {
		return prices.Default()
	}
	text, err := os.ReadFile(c.Prices)
	if err != nil {
		return prices.List{}, fmt.Errorf("NETSIM_PRICES: %w", err)
	}
	list, err := prices.Read(text)
	if err != nil {
		return list, fmt.Errorf("NETSIM_PRICES is %q: %w", c.Prices, err)
	}
	return list, nil
}
