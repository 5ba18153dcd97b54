package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/singleflight"

	"netsim/audit"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/content/simple/unfold"
	"netsim/content/uploads"
	"netsim/events"
	"netsim/infra/auth"
	"netsim/infra/broker"
	"netsim/infra/certs"
	"netsim/infra/directory"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/health"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/infra/replicas"
	"netsim/infra/telemetry"
	"netsim/infra/writelog"
	"netsim/projections"
)

// core has the parts that every role needs: the log, the read model, the object store,
// and the command handler.
type core struct {
	config         Config
	process        string // names this process
	log            *slog.Logger
	pool           *pgxpool.Pool  // of verified sessions
	unverified     *pgxpool.Pool  // for the projector, the watcher and the leases
	locks          postgres.Locks // on database sessions of their own
	broker         *broker.Connector
	eventLog       *eventlog.Kafka
	letters        *reactor.DeadLetters
	projector      *projector.Projector
	recovery       *projector.Recovery
	watcher        *projector.Watcher
	reads          *replicas.Reads         // of the API; nil before it is opened
	facts          *facts.Reader           // of all subscribers that keep up
	partitions     map[events.Family]int32 // number of partitions of each family's topic
	shards         int32                   // the largest of these numbers
	writeLog       *writelog.Log
	handler        *handle.Handler
	workloads      *unfold.Workloads
	objects        *objects.Store
	observeObjects observed // the calls to the object store
	verifier       *auth.Verifier
	auditKey       *audit.Key            // nil: checkpoints are not signed
	keys           *events.WriterKeys    // nil: records are not sealed
	metrics        *telemetry.Metrics    // nil in the tools
	certificates   *certs.Expiries       // of the peers; nil in the tools
	observed       func(*pgxpool.Config) // pool option that observes database calls
	traces         *telemetry.Traces     // nil: nothing is traced
	countCommand   func(handle.Observation)
	build          telemetry.Build
	startedAt      time.Time
	health         health.Checks
	end            atomic.Pointer[eventlog.Description] // the last description of the log
	describing     singleflight.Group                   // concurrent descriptions of the log
	progress       progress
	phase          atomic.Int32          // initially starting
	outage         atomic.Pointer[error] // why the start waits; nil while it does not
	level          atomic.Int64          // of the deployment, as last read; 0 before
}

// newCore returns the core of a process. It connects to nothing but the collector of traces.
func newCore(ctx context.Context, c Config, log *slog.Logger) (_ *core, err error) {
	s := &core{config: c, log: log, process: processName(), build: telemetry.ReadBuild(), startedAt: time.Now().UTC()}
	if s.auditKey, err = c.auditKey(); err != nil {
		return nil, err
	}
	if s.keys, err = c.writerKeys(); err != nil {
		return nil, err
	}
	if s.broker, err = c.connector(log); err != nil {
		return nil, err
	}
	s.metrics = telemetry.NewMetrics(s.build, c.Roles, time.Now)
	s.certificates = &certs.Expiries{}
	observe := observeDatabase(s.metrics)
	named, own := s.named(), ownModel()
	s.observed = func(pool *pgxpool.Config) {
		named(pool)
		own(pool)
		observe(pool)
		observeCertificates(s.certificates, pool)
	}
	s.observeProcess()
	s.traces, err = s.openTraces(ctx)
	return s, err
}

// connect opens all connections, and waits for the servers. It starts nothing.
func (s *core) connect(ctx context.Context) (err error) {
	c := s.config
	s.unverified, err = open(ctx, s, func(ctx context.Context) (*pgxpool.Pool, error) {
		return postgres.Open(ctx, c.Postgres, projector.Live, unverifiedSessions, s.observed)
	})
	if err != nil {
		return err
	}
	if s.locks, err = postgres.OpenLocks(ctx, c.Postgres, uploads.LockSessions+spareLocks, s.observed); err != nil {
		return err
	}
	if err = s.attempt(ctx, s.ensureTables, s.readLevel); err != nil {
		return err
	}
	topics := c.eventLogConfig(s.broker)
	topics.Appended = observeAppends(s.metrics, c.TopicPrefix)
	s.eventLog, err = open(ctx, s, func(ctx context.Context) (*eventlog.Kafka, error) { return eventlog.Open(ctx, topics) })
	if err != nil {
		return err
	}
	s.recovery = projector.NewRecovery(s.eventLog, repairCounters)
	if s.pool, err = postgres.New(ctx, c.Postgres, projector.Live, c.PostgresPoolSize, s.observed, s.verified); err != nil {
		return err
	}
	s.letters = reactor.NewDeadLetters(s.eventLog, c.TopicPrefix)
	if err = s.attempt(ctx, s.trustLog); err != nil {
		return err
	}
	if !c.ReadOnly {
		if err = s.attempt(ctx, s.trustKey); err != nil {
			return err
		}
	}
	s.watcher = projector.NewWatcher(s.unverified, s.log)
	s.facts = facts.NewReader(s.eventLog, s.watcher)
	live := s.projectorConfig(s.unverified, "")
	live.Renew, live.Observe, live.Watcher = c.Development, observeBatches(s.metrics), s.watcher
	live.Leases = s.leases(projector.NameOf(fingerprint()))
	s.projector = projector.New(live)
	s.observeObjects = observeCalls(s.metrics, "netsim_object_store_operation_duration_seconds")
	s.objects = c.objects(s.observeObjects, s.wrap("objects"))
	if err = s.attempt(ctx, s.ensureBucket); err != nil {
		return err
	}
	names := directory.Directory{Pool: s.pool, Now: time.Now}
	remember := func(ctx context.Context, c auth.Caller) {
		if err := names.Remember(ctx, c); err != nil {
			s.log.WarnContext(ctx, "the names in a token were not stored", "error", err)
		}
	}
	s.verifier, err = auth.New(auth.Config{
		Issuer: c.Issuer, JWKSURL: c.JWKS, Audience: c.Audience, Algorithms: c.Algorithms,
		ServiceClaim: c.ServiceClaim, ServiceValue: c.ServiceValue, KeysMaxAge: c.KeysMaxAge, Directory: remember, Log: s.log,
		Client: &http.Client{Transport: s.wrap("issuer")(http.DefaultTransport.(*http.Transport))},
	})
	if err == nil {
		s.observeCore()
	}
	return err
}

func (c *Config) eventLogConfig(to *broker.Connector) eventlog.Config {
	return eventlog.Config{
		Brokers: c.Kafka, Connect: to, Prefix: c.TopicPrefix, Partitions: c.Partitions,
		Replication: c.replication(), Relaxed: c.Development, Beside: []string{reactor.DeadLetterTopic(c.TopicPrefix)},
	}
}

// observed is called after each call to the object store, and wrapped is given its
// connections.
type (
	observed func(operation string, took time.Duration, err error)
	wrapped  func(*http.Transport) http.RoundTripper
)

func (c *Config) objects(observe observed, wrap wrapped) *objects.Store {
	return objects.New(objects.Config{
		Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket,
		AccessKey: c.S3AccessKey, SecretKey: c.S3SecretKey, Observe: observe, Wrap: wrap,
	})
}

func allProjections() (all []projector.Projection) {
	for _, p := range projections.All() {
		all = append(all, p)
	}
	return all
}

// fingerprint returns that of this release's read model.
func fingerprint() string {
	return projector.New(projector.Config{Projections: allProjections()}).Fingerprint()
}

// ownModel returns the pool option that finds the read model of this release.
func ownModel() func(*pgxpool.Config) { return projector.Serving(fingerprint()) }

func (s *core) projectorConfig(pool *pgxpool.Pool, schema string) projector.Config {
	return projector.Config{
		Pool: pool, Log: s.eventLog, Schema: schema, Keys: s.keys, Projections: allProjections(), Logger: s.log, Witness: witness{s}, Level: s.currentLevel, Raise: s.raise,
		ReadState: func(stream string, stored []byte) (projector.State, error) {
			return commands.ReadState(stream, stored)
		},
	}
}

// trustLog creates missing topics, unless the deployment only reads, and refuses topic
// settings that could lose facts.
func (s *core) trustLog(ctx context.Context) error {
	err := s.ensureTopics(ctx)
	if errors.Is(err, eventlog.ErrFewBrokers) {
		return fmt.Errorf("NETSIM_REPLICATION is %d: %w; add brokers, or set NETSIM_DATA_DEV=true for development", s.config.replication(), err)
	}
	if err != nil {
		return err
	}
	log, err := s.eventLog.Describe(ctx)
	if err != nil {
		return err
	}
	s.shards = shardsOf(log)
	return s.eventLog.Check(log)
}

// shardsOf returns the largest number of partitions of a topic.
func shardsOf(log eventlog.Description) (shards int32) {
	for _, topic := range log.Topics {
		shards = max(shards, int32(len(topic.Partitions)))
	}
	return shards
}

// leases returns the leases of a subscriber's shards.
func (s *core) leases(subscriber string) *facts.Leases {
	return &facts.Leases{Pool: s.unverified, Subscriber: subscriber, Process: s.process, Shards: s.shards, Log: s.log}
}

// processName returns a name that no other process has.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:8]))
}

// watchLog checks the settings of the topics every hour, and returns an error when they
// could lose facts.
func (s *core) watchLog(ctx context.Context) error {
	hourly := time.NewTicker(time.Hour)
	defer hourly.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hourly.C:
		}
		log, err := s.eventLog.Describe(ctx)
		if err != nil {
			s.log.WarnContext(ctx, "the log's settings could not be checked", "error", err)
			continue
		}
		if err := s.eventLog.Check(log); err != nil {
			return fmt.Errorf("the event log's settings changed: %w", err)
		}
	}
}

// openWriteLog waits until a projector of this or another process has recorded the
// partitions of the log. Then it creates the command handler.
func (s *core) openWriteLog(ctx context.Context) error {
	if err := s.readLevel(ctx); err != nil { // the projector may have raised it since the start
		return err
	}
	partitions, err := writelog.LoadPartitions(ctx, s.unverified)
	if err != nil {
		return err
	}
	s.partitions = partitions
	s.writeLog = writelog.New(writelog.Config{Pool: s.pool, EventLog: s.eventLog, Watcher: s.watcher, Partitions: partitions, Refuse: s.config.refusal()})
	s.countCommand = observeCommands(s.metrics)
	s.handler = &handle.Handler{
		Log: s.writeLog, Now: time.Now, Timeout: s.config.VerdictTimeout, Keys: s.keys,
		Begin: s.commandBegins, Observe: s.commandEnds, Held: s.held,
	}
	s.workloads = &unfold.Workloads{Commands: s.handler, DB: s.pool, Objects: s.objects, Locks: s.locks}
	return nil
}

// catchUp waits until the projector, in this or another process, has judged every record
// that the log has now.
func (s *core) catchUp(ctx context.Context) error {
	log, err := s.eventLog.Describe(ctx)
	if err != nil {
		return err
	}
	for _, topic := range log.Topics {
		for i, part := range topic.Partitions {
			if part.End == 0 {
				continue
			}
			last := events.Position{Family: topic.Family, Partition: int32(i), Offset: part.End - 1}
			if _, err := s.watcher.Verdict(ctx, last); err != nil {
				return fmt.Errorf("catch up with the log: %w", err)
			}
		}
	}
	return nil
}

func (s *core) close() {
	if s.eventLog != nil {
		s.eventLog.Close()
	}
	for _, pool := range []*pgxpool.Pool{s.pool, s.unverified} {
		if pool != nil {
			pool.Close()
		}
	}
	s.locks.Close()
	s.closeTraces()
}

// spareLocks is the number of sessions for locks that reactions and jobs take.
const spareLocks = 4

// errLagging is the cause when a write is refused because the projector lags.
var errLagging = errors.New("the projections are too far behind")
