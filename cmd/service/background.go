package service

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"netsim/billing"
	"netsim/billing/prices"
	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/content/simple/unfold"
	"netsim/content/traces"
	"netsim/content/uploads"
	"netsim/events"
	"netsim/infra/engines"
	"netsim/infra/facts"
	"netsim/infra/jobs"
	"netsim/infra/reactor"
	"netsim/reactions"
	"netsim/runs"
	"netsim/runs/studies"
	"netsim/stream/contracts"
	"netsim/stream/lake"
	"netsim/stream/publisher"
)

// domain has the parts that the reactor, the workers and the API need besides the base.
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
	hooks       *hooks               // nil in a deployment without webhooks
	reactor     *reactor.Reactor     // runs in a process with the role reactor, and retries dead letters for operators; nil in the tools
	writer      *connections.Writer
	workloads   *unfold.Workloads
}

// close stops the uploads in progress and disconnects from the job queue.
func (d *domain) close() {
	d.uploads.Close()
	d.jobs.Close()
}

// openDomain connects reactions, jobs and runs with what decides commands.
func (s *base) openDomain(ctx context.Context, w *connections.Writer, list prices.List) (_ *domain, err error) {
	d := &domain{
		writer:    w,
		workloads: s.workloads(w),
		books:     &billing.Books{Commands: w.Handler, DB: s.verified, Now: time.Now},
		holds:     &billing.Holds{Commands: w.Handler, DB: s.verified, Now: time.Now, Postpaid: list.Postpaid},
		runner: &runs.Runner{
			Commands: w.Handler, DB: s.verified, Objects: s.Objects, Now: time.Now, Log: s.log,
			Stall: s.config.RunStall, StoreTimeout: s.config.StoreTimeout, SnapshotEvery: s.config.RunCheckpoint,
			Limits: runs.Limits{
				Flows: s.config.RunFlows, TraceBytes: s.config.RunTraces, ResultBytes: s.config.RunResults, Time: s.config.RunTime,
			},
			Room: runs.NewRoom(s.config.RunFlows, s.config.Workers), Cores: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))), Turn: s.config.RunTurn,
		},
		workspace: &reactions.Workspace{Commands: w.Handler, DB: s.verified},
		tracesetTTL: &reactions.TracesetLife{
			Commands: w.Handler, DB: s.verified, Objects: s.Objects, Locks: s.Locks, Now: time.Now, CatchUp: s.catchUp,
		},
	}
	d.runner.Cover = d.holds.Cover
	d.studies = &studies.Worker{
		Commands: w.Handler, DB: s.verified, Room: s.room, Hold: d.holds.Hold,
		Changes: func() (<-chan struct{}, func()) { return s.watcher.Changes(events.Simulations, events.Billing) },
	}
	d.lake = s.lake(w.Partitions)
	if d.hooks, err = s.hooks(w); err != nil {
		return nil, err
	}
	d.metering = billing.New(billing.Config{Commands: w.Handler, DB: s.verified, Books: d.books, Holds: d.holds})
	d.engines, err = engines.New(engines.Config{URLs: s.config.EngineURLs, Token: s.config.EngineToken, Timeout: s.config.EngineTimeout, Wrap: s.wrap("engine")})
	if err != nil {
		return nil, err
	}
	d.runner.Remote = runs.Remote{Engines: d.engines, Poll: s.config.EnginePoll, Timeout: s.config.EngineOutageTimeout}
	d.extractor = &traces.Extractor{Commands: w.Handler, DB: s.verified, Objects: s.Objects}
	d.uploads = uploads.New(uploads.Config{
		Commands: w.Handler, DB: s.verified, Objects: s.Objects, Locks: s.Locks, Log: s.log, Now: time.Now,
		Lifetime: s.config.UploadLife, LockTimeout: s.config.UploadLockTimeout,
		EnqueueClear: func(ctx context.Context, upload string) error {
			return d.jobs.Enqueue(ctx, uploads.ClearUpload{UploadID: upload})
		},
	})
	if d.jobs, err = open(ctx, s.launch, s.openJobs); err != nil {
		return nil, err
	}
	d.runner.Yield = d.jobs.Yield
	s.registerJobs(d)
	observePools(s.metrics, map[string]func() *pgxpool.Stat{"main": s.verified.Stat, "projector": s.Pool.Stat, "locks": s.Locks.Pool.Stat, "jobs": d.jobs.Stat})
	s.observeWork(d.jobs)
	queue := runs.Queue{Runner: d.runner, Enqueue: d.jobs.Enqueue, Cancel: d.jobs.Cancel}
	d.traceset = &reactions.Traceset{EnqueueExtraction: func(ctx context.Context, traceset string) error {
		return d.jobs.Enqueue(ctx, traces.ExtractTraceset{TracesetID: traceset})
	}}
	d.simple = &unfold.Submissions{Commands: w.Handler, Workloads: d.workloads, EnqueueRun: queue.EnqueueRun}
	d.simulation = &reactions.Simulation{
		Commands: w.Handler, DB: s.verified, Check: d.runner.Check,
		EnqueueRun: queue.EnqueueRun, EnqueuePurge: queue.EnqueuePurge,
	}
	return d, nil
}

// workloads returns what stores the workloads of simple submissions and of templates.
func (s *base) workloads(w *connections.Writer) *unfold.Workloads {
	return &unfold.Workloads{Commands: w.Handler, DB: s.verified, Objects: s.Objects, Locks: s.Locks}
}

// accrue records the costs of a day, YYYY-MM-DD. It first waits until the read model
// has caught up with the log, so the costs include every billing event written before
// the call.
func (s *base) accrue(ctx context.Context, books *billing.Books, day string) error {
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
func (s *process) runBackground(ctx context.Context, d *domain, roles *errgroup.Group) error {
	if s.config.Has(settings.RoleReactor) {
		raise := func(ctx context.Context) error { return billing.RaiseCounters(ctx, s.verified) }
		if err := s.attempt(ctx, raise); err != nil {
			return err
		}
		s.observeReactor(d.reactor, d.writer.Partitions)
		roles.Go(s.part(ctx, "the reactor", d.reactor.Run))
		if d.hooks != nil {
			s.runWebhooks(ctx, d.hooks, roles)
		}
	}
	if s.config.Has(settings.RoleWorker) {
		roles.Go(s.part(ctx, "the workers", d.jobs.Work))
	}
	if s.config.Has(settings.RoleLake) {
		s.observeLake(d.lake)
		roles.Go(s.part(ctx, "the lake", d.lake.Run))
	}
	if d.archiver != nil {
		s.observeArchiver(d.archiver)
		roles.Go(s.part(ctx, "the archiver", d.archiver.run))
	}
	if s.config.Has(settings.RolePublisher) {
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
func (s *base) reactorConfig() reactor.Config {
	return reactor.Config{
		Brokers: s.config.Kafka, Connect: s.broker, Prefix: s.config.TopicPrefix, Replication: s.config.Replicas(), Migrated: !s.config.Migrate,
		EventLog: s.EventLog, Facts: s.facts, Leases: s.leases("reactions"),
		Judge: s.watcher, Log: s.log, Tracer: s.traces.Tracer(), Retries: s.config.Retries,
		Observe: observeReactions(s.metrics),
	}
}

// reactor returns a reactor with every handler.
func (s *base) reactor(d *domain) (*reactor.Reactor, error) {
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

// ReactionGroups returns the consumer groups of the reactions, with their families.
func ReactionGroups(prefix string) map[string]events.Family {
	groups := map[string]events.Family{}
	for handler, families := range reactions.Families() {
		for _, family := range families {
			groups[reactor.GroupOf(prefix, handler, family)] = family
		}
	}
	return groups
}

// Reacting calls use with a reactor that has every handler and does not run, for a tool
// that retries them.
func Reacting(ctx context.Context, c *connections.Connections, w *connections.Writer, list prices.List, use func(*reactor.Reactor) error) error {
	s := &base{
		launch: unobserved(c), Connections: c, verified: c.Pool, watcher: w.Watcher, facts: facts.NewReader(c.EventLog, w.Watcher),
	}
	for _, partitions := range w.Partitions {
		s.shards = max(s.shards, partitions)
	}
	d, err := s.openDomain(ctx, w, list)
	if err != nil {
		return err
	}
	defer d.close()
	r, err := s.reactor(d)
	if err != nil {
		return err
	}
	return use(r)
}

// reactionLag measures the lag of a handler, which may run in another process.
func (s *base) reactionLag(handler string, handled []events.Family, partitions map[events.Family]int32) *reactor.Lag {
	families := map[events.Family]int32{}
	for _, family := range handled {
		families[family] = partitions[family]
	}
	return &reactor.Lag{
		Log: s.EventLog, Prefix: s.config.TopicPrefix, Handler: handler, Families: families,
		Next: s.watcher.Next, Now: time.Now,
	}
}

// PriceList reads the price list in the settings, or the embedded one.
func PriceList(c *settings.Config) (prices.List, error) {
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
