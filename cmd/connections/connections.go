// Package connections connects to the servers of a deployment: what the running service
// and the tools of operators both need. It opens everything or returns an error, so
// nothing in a Connections is missing.
package connections

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/infra/telemetry"
)

// Connections are the connections of a process to the servers of its deployment.
type Connections struct {
	Config   settings.Config
	Process  string // names this process; no other has the name
	Build    telemetry.Build
	Log      *slog.Logger
	Keys     *events.WriterKeys // that seal records; nil, which only development allows, seals none
	Broker   *broker.Connector
	EventLog *eventlog.Kafka
	Letters  *reactor.DeadLetters
	// Pool has sessions that may not show what was committed shortly before PostgreSQL
	// crashed, until the projector has applied it again.
	Pool    *pgxpool.Pool
	Locks   postgres.Locks // on database sessions of their own
	Objects *objects.Store
	Level   *Level // of the deployment

	option func(*pgxpool.Config)
	turns  chan struct{} // holds a value for each turn of this process
}

// Options say how the connections are opened. Only the numbers of sessions are required.
type Options struct {
	Sessions int32                 // of Pool
	Locks    int32                 // how many can be held at a time
	Pool     func(*pgxpool.Config) // changes every pool; nil for nothing
	// Tables is called before the first table is read; nil when the tables exist.
	Tables func(context.Context, *pgxpool.Pool) error
	// Attempt runs a step, and may repeat it while a server does not answer; nil runs it once.
	Attempt   func(ctx context.Context, step func(context.Context) error) error
	Appended  func(topic string, took time.Duration, err error) // sees the appends to the log; nil for nothing
	Requested func(api string)                                  // sees the requests to the brokers of the log; nil for nothing
	Store     Observer                                          // of the object store
}

// Open connects to the database and to the event log, through the connector of the
// settings. It refuses a deployment at a level that this release does not know.
func Open(ctx context.Context, c settings.Config, to *broker.Connector, log *slog.Logger, o Options) (_ *Connections, err error) {
	s := &Connections{
		Config: c, Process: processName(), Build: telemetry.ReadBuild(), Log: log, Broker: to, Objects: Objects(&c, o.Store),
		turns: make(chan struct{}, TurnSessions),
	}
	if s.Keys, err = c.ReadWriterKeys(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	attempt := o.Attempt
	if attempt == nil {
		attempt = func(ctx context.Context, step func(context.Context) error) error { return step(ctx) }
	}
	named, own := s.Named(), OwnModel()
	s.option = func(pool *pgxpool.Config) {
		named(pool)
		own(pool)
		if o.Pool != nil {
			o.Pool(pool)
		}
	}
	err = attempt(ctx, func(ctx context.Context) (err error) {
		s.Pool, err = postgres.Open(ctx, c.Postgres, projector.Live, o.Sessions, s.option)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Level = &Level{pool: s.Pool, log: log}
	if s.Locks, err = postgres.OpenLocks(ctx, c.Postgres, o.Locks, s.option); err != nil {
		return nil, err
	}
	if o.Tables != nil {
		if err = attempt(ctx, func(ctx context.Context) error { return o.Tables(ctx, s.Pool) }); err != nil {
			return nil, err
		}
	}
	if err = attempt(ctx, s.Level.Read); err != nil {
		return nil, err
	}
	topics := EventLogConfig(&c, to)
	topics.Appended, topics.Requested = o.Appended, o.Requested
	err = attempt(ctx, func(ctx context.Context) (err error) {
		s.EventLog, err = eventlog.Open(ctx, topics)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.Letters = reactor.NewDeadLetters(s.EventLog, c.TopicPrefix)
	return s, nil
}

// Close disconnects. It may be called while the connections are being opened.
func (s *Connections) Close() {
	if s.EventLog != nil {
		s.EventLog.Close()
	}
	if s.Pool != nil {
		s.Pool.Close()
	}
	s.Locks.Close()
}

// Option is the option of every pool of this process: it names the sessions, and finds the
// read model of this release.
func (s *Connections) Option(pool *pgxpool.Config) { s.option(pool) }

// Named returns the pool option that names the sessions of this process.
func (s *Connections) Named() func(*pgxpool.Config) {
	return postgres.Named(Member(s.Process, s.Build))
}

// Session returns the pool option that names the sessions of a process that opens no
// Connections, and finds the read model of this release.
func Session() func(*pgxpool.Config) {
	named, own := postgres.Named(Member(processName(), telemetry.ReadBuild())), OwnModel()
	return func(pool *pgxpool.Config) {
		named(pool)
		own(pool)
	}
}

// Leases returns the leases of a subscriber's shards.
func (s *Connections) Leases(subscriber string, shards int32) *facts.Leases {
	return &facts.Leases{Pool: s.Pool, Subscriber: subscriber, Process: s.Process, Shards: shards, Log: s.Log}
}

// Shards returns the largest number of partitions of a topic.
func Shards(log eventlog.Description) (shards int32) {
	for _, topic := range log.Topics {
		shards = max(shards, int32(len(topic.Partitions)))
	}
	return shards
}

// EventLogConfig returns the settings of the event log.
func EventLogConfig(c *settings.Config, to *broker.Connector) eventlog.Config {
	return eventlog.Config{
		Brokers: c.Kafka, Connect: to, Prefix: c.TopicPrefix, Partitions: c.Partitions,
		Replication: c.Replicas(), Relaxed: c.Development, Beside: []string{reactor.DeadLetterTopic(c.TopicPrefix)},
	}
}

// Member returns how a process of this release names its database sessions.
func Member(process string, build telemetry.Build) postgres.Member {
	release := build.Version
	if build.Commit != "unknown" {
		release += "+" + build.Commit[:min(len(build.Commit), 8)]
	}
	return postgres.Member{Process: process, Release: release, Level: events.Level}
}

// processName returns a name that no other process has.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:8]))
}
