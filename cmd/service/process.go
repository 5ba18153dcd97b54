// Package service assembles the running service: it connects infra with the domain, and
// runs the configured roles until its context ends. It contains no domain logic.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"netsim/audit"
	"netsim/cmd/checkpoints"
	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/content/uploads"
	"netsim/infra/auth"
	"netsim/infra/broker"
	"netsim/infra/certs"
	"netsim/infra/directory"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/health"
	"netsim/infra/jobs"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/telemetry"
	"netsim/infra/wait"
)

// launch is what a process has before it is connected. It reports its health and its
// metrics while it waits for the servers.
type launch struct {
	config       settings.Config
	log          *slog.Logger
	build        telemetry.Build
	startedAt    time.Time
	broker       *broker.Connector
	auditKey     *audit.Key // nil: checkpoints are not signed
	metrics      *telemetry.Metrics
	certificates *certs.Expiries       // of the peers
	observePool  func(*pgxpool.Config) // pool option that observes database calls and certificates
	store        connections.Observer  // of the object store
	traces       *telemetry.Traces     // nil: nothing is traced
	health       health.Checks
	phase        atomic.Int32          // initially starting
	outage       atomic.Pointer[error] // why the start waits; nil while it does not
}

// base is what reactions, jobs and runs need of their process.
type base struct {
	*launch
	*connections.Connections
	verified *pgxpool.Pool // of sessions that show all that was committed before PostgreSQL last started
	watcher  *projector.Watcher
	facts    *facts.Reader // of all subscribers that keep up
	shards   int32         // the largest number of partitions of a topic
}

// process is a connected process of the service.
type process struct {
	base
	projector  *projector.Projector
	recovery   *projector.Recovery
	verifier   *auth.Verifier
	end        atomic.Pointer[eventlog.Description] // the last description of the log
	describing singleflight.Group                   // concurrent descriptions of the log
	progress   progress
}

// newLaunch connects to nothing but the collector of traces.
func newLaunch(ctx context.Context, c settings.Config, log *slog.Logger) (_ *launch, err error) {
	l := &launch{config: c, log: log, build: telemetry.ReadBuild(), startedAt: time.Now().UTC(), certificates: &certs.Expiries{}}
	if l.auditKey, err = connections.ReadAuditKey(&c); err != nil {
		return nil, err
	}
	if _, err = c.ReadWriterKeys(); err != nil { // before anything is served
		return nil, err
	}
	if l.broker, err = c.Connector(log); err != nil {
		return nil, err
	}
	l.metrics = telemetry.NewMetrics(l.build, c.Roles, time.Now)
	observe := observeDatabase(l.metrics)
	l.observePool = func(pool *pgxpool.Config) {
		observe(pool)
		observeCertificates(l.certificates, pool)
	}
	l.store = connections.Observer{
		Called: observeCalls(l.metrics, "netsim_object_store_operation_duration_seconds"), Wrap: l.wrap("objects"),
	}
	l.observeProcess()
	l.traces, err = l.openTraces(ctx)
	return l, err
}

// unobserved returns the launch of a tool, whose metrics nothing collects, and which signs
// and traces nothing.
func unobserved(c *connections.Connections) *launch {
	return &launch{
		config: c.Config, log: c.Log, build: c.Build, startedAt: time.Now().UTC(), broker: c.Broker,
		metrics: telemetry.NewMetrics(c.Build, nil, time.Now), certificates: &certs.Expiries{},
	}
}

// The database sessions of a process, beside those of NETSIM_POSTGRES_POOL.
const (
	// unverifiedSessions is the number of sessions for the projector, the watcher of verdicts
	// and the checks of the read model.
	unverifiedSessions = 8
	// spareLocks is the number of sessions for locks that reactions and jobs take.
	spareLocks = 4
)

// Sessions returns how many database sessions a process with the settings opens at most.
func Sessions(c *settings.Config) int {
	sessions := int(c.PostgresPoolSize) + unverifiedSessions + uploads.LockSessions + spareLocks + connections.TurnSessions + jobs.Sessions
	if c.Has(settings.RoleWorker) {
		sessions += c.Workers + c.ShortRuns + c.EngineRuns + 3
	}
	return sessions
}

// connect opens all connections, and waits for the servers. It starts nothing.
func (l *launch) connect(ctx context.Context) (_ *process, err error) {
	c := &l.config
	conn, err := connections.Open(ctx, *c, l.broker, l.log, connections.Options{
		Sessions: unverifiedSessions, Locks: uploads.LockSessions + spareLocks + connections.TurnSessions, Pool: l.observePool, Store: l.store,
		Tables: l.ensureTables, Attempt: l.outlast, Appended: observeAppends(l.metrics, c.TopicPrefix), Requested: observeLogRequests(l.metrics),
	})
	if err != nil {
		return nil, err
	}
	s := &process{base: base{launch: l, Connections: conn}, recovery: projector.NewRecovery(conn.EventLog, repairCounters)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.verified, err = postgres.New(ctx, c.Postgres, projector.Live, c.PostgresPoolSize, s.Option, s.verifies); err != nil {
		return nil, err
	}
	if err = s.attempt(ctx, s.trustLog); err != nil {
		return nil, err
	}
	if !c.ReadOnly {
		if err = s.attempt(ctx, s.trustKey); err != nil {
			return nil, err
		}
	}
	s.watcher = projector.NewWatcher(s.Pool, s.log)
	s.facts = facts.NewReader(s.EventLog, s.watcher)
	live := s.ProjectorConfig(s.Pool, "")
	live.Renew, live.Observe, live.Watcher = c.Development, observeBatches(s.metrics), s.watcher
	live.Leases = s.leases(projector.NameOf(connections.Fingerprint()))
	s.projector = projector.New(live)
	if err = s.attempt(ctx, s.ensureBucket); err != nil {
		return nil, err
	}
	names := directory.Directory{Pool: s.verified, Now: time.Now}
	remember := func(ctx context.Context, c auth.Caller) {
		if err := names.Remember(ctx, c); err != nil {
			s.log.WarnContext(ctx, "the names in a token were not stored", "error", err)
		}
	}
	s.verifier, err = auth.New(auth.Config{
		Issuer: c.Issuer, JWKSURL: c.JWKS, Audience: c.Audience, Platform: c.Platform, Algorithms: c.Algorithms,
		ServiceClaim: c.ServiceClaim, ServiceValue: c.ServiceValue, RolesClaim: c.RolesClaim, KeysMaxAge: c.KeysMaxAge, Directory: remember, Log: s.log,
		Client: s.issuerClient(),
	})
	if err != nil {
		return nil, err
	}
	s.observeCore()
	return s, nil
}

// issuerClient returns the client for requests to the issuer of tokens.
func (s *process) issuerClient() *http.Client {
	return &http.Client{Transport: s.wrap("issuer")(http.DefaultTransport.(*http.Transport))}
}

func (s *process) close() {
	s.Connections.Close()
	if s.verified != nil {
		s.verified.Close()
	}
}

// trustLog creates missing topics, unless the deployment only reads, and refuses topic
// settings that could lose facts.
func (s *process) trustLog(ctx context.Context) error {
	err := s.ensureTopics(ctx)
	if errors.Is(err, eventlog.ErrFewBrokers) {
		return fmt.Errorf("NETSIM_REPLICATION is %d: %w; add brokers, or set NETSIM_DATA_DEV=true for development", s.config.Replicas(), err)
	}
	if err != nil {
		return err
	}
	log, err := s.EventLog.Describe(ctx)
	if err != nil {
		return err
	}
	s.shards = connections.Shards(log)
	return s.EventLog.Check(log)
}

// trustKey refuses an audit key that may not sign the next log checkpoint.
func (s *process) trustKey(ctx context.Context) error {
	if s.auditKey == nil {
		return nil
	}
	log, err := s.AuditLog(ctx)
	if err != nil {
		return err
	}
	return checkpoints.Trust(ctx, log, s.auditKey)
}

// leases returns the leases of a subscriber's shards.
func (s *base) leases(subscriber string) *facts.Leases { return s.Leases(subscriber, s.shards) }

// catchUp waits until every record that the log has now is judged.
func (s *base) catchUp(ctx context.Context) error { return s.CatchUp(ctx, s.watcher) }

// openWriter waits until a projector of this or another process has recorded the
// partitions of the log. Then it returns what decides and appends commands.
func (s *base) openWriter(ctx context.Context) (*connections.Writer, error) {
	w, err := s.OpenWriter(ctx, s.verified, s.watcher)
	if err != nil {
		return nil, err
	}
	w.Handler.Begin, w.Handler.Observe = commandBegins, commandEnds(observeCommands(s.metrics))
	return w, nil
}

// watchLog checks the settings of the topics every hour, and returns an error when they
// could lose facts.
func (s *process) watchLog(ctx context.Context) error {
	hourly := time.NewTicker(time.Hour)
	defer hourly.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hourly.C:
		}
		log, err := s.EventLog.Describe(ctx)
		if err != nil {
			s.log.WarnContext(ctx, "the log's settings could not be checked", "error", err)
			continue
		}
		if err := s.EventLog.Check(log); err != nil {
			return fmt.Errorf("the event log's settings changed: %w", err)
		}
	}
}

// levelEvery is how often a process reads the level of the deployment.
const levelEvery = time.Second

// watchLevel reads the level of the deployment until ctx ends. It returns an error when the
// level is one that this release does not know.
func (s *process) watchLevel(ctx context.Context) error {
	for wait.For(ctx, levelEvery) == nil {
		err := s.Level.Read(ctx)
		switch {
		case errors.Is(err, projector.ErrNewerLevel):
			return err
		case err != nil && ctx.Err() == nil:
			s.log.DebugContext(ctx, "the level of the deployment could not be read", "error", err)
		}
	}
	return nil
}

// errLagging is the cause when a write is refused because the projector lags.
var errLagging = errors.New("the projections are too far behind")
