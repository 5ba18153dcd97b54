package reactor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"go.opentelemetry.io/otel/trace"

	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/wait"
)

// Judge returns verdicts, as projector.Watcher does.
type Judge interface {
	// Verdict waits until the record at the position has been judged.
	Verdict(ctx context.Context, at events.Position) (events.Verdict, error)
}

// EventLog is what a reactor needs of the event log. eventlog.Kafka implements it.
type EventLog interface {
	LagLog
	Describe(ctx context.Context) (eventlog.Description, error)
	Topic(family events.Family) string
	CommitGroup(ctx context.Context, group, topic string, offsets map[int32]eventlog.GroupOffset) error
}

// Config says which log to react to and how.
type Config struct {
	Brokers     []string          // host:port of some brokers
	Connect     *broker.Connector // how to connect to them; nil: in plain TCP
	Prefix      string            // of topic names, and of group names when it is not the default; "" is "netsim."
	Replication int               // of the dead-letter topic, 0 for the broker's own
	EventLog    EventLog
	Facts       *facts.Reader
	Leases      Leases
	Judge       Judge // of dead letters that are retried; its errors show an outage of the read model
	Log         *slog.Logger
	Observe     func(Observation) // when set, called for every attempt at a record
	Tracer      trace.Tracer      // nil traces nothing

	// Migrated says that the dead-letter topic exists; Run does not create it.
	Migrated bool

	// Retries is how often a failed reaction is retried before its fact becomes
	// a dead letter. Pauses double from FirstPause, 0 for 100 ms, to at most
	// 30 s, with jitter: 10 retries take about 80 s.
	Retries    int
	FirstPause time.Duration
}

// Observation is the outcome of a record at a handler.
type Observation struct {
	Handler string
	Outcome string        // done, not_a_fact, failed (and tried again) or dead_letter
	Took    time.Duration // by the handler, for the outcomes done and failed
}

// Reaction reacts to a fact. It may be called again with the same fact.
type Reaction func(ctx context.Context, f events.Fact) error

// Reactor runs reactions. Handle is called before Run.
type Reactor struct {
	config   Config
	handlers []handler
}

type handler struct {
	name     string
	family   events.Family
	react    Reaction
	inFlight int
}

// New returns a reactor without handlers.
func New(c Config) (*Reactor, error) {
	if len(c.Brokers) == 0 {
		return nil, errors.New("no address of a Kafka broker is configured")
	}
	c.Prefix = prefixOf(c.Prefix)
	if c.Replication == 0 {
		c.Replication = -1
	}
	if c.FirstPause == 0 {
		c.FirstPause = 100 * time.Millisecond
	}
	if c.Observe == nil {
		c.Observe = func(Observation) {}
	}
	return &Reactor{config: c}, nil
}

// defaultInFlight is few enough for the connections to PostgreSQL and the object
// store that a reaction takes.
const defaultInFlight = 32

// Handle adds a handler for the facts of the families. Its name must never
// change, because it is the key of its offsets.
func (r *Reactor) Handle(name string, react Reaction, families ...events.Family) {
	r.HandleMany(name, defaultInFlight, react, families...)
}

// HandleMany adds a handler that gets up to inFlight facts of each family at once, 0 for
// the default.
func (r *Reactor) HandleMany(name string, inFlight int, react Reaction, families ...events.Family) {
	for _, family := range families {
		r.handlers = append(r.handlers, handler{name: name, family: family, react: react, inFlight: cmp.Or(inFlight, defaultInFlight)})
	}
}

// Families returns the families that each handler reacts to.
func (r *Reactor) Families() map[string][]events.Family {
	all := map[string][]events.Family{}
	for _, h := range r.handlers {
		all[h.name] = append(all[h.name], h.family)
	}
	return all
}

// Run reacts until ctx ends. After an error it starts again.
func (r *Reactor) Run(ctx context.Context) error {
	for {
		err := r.run(ctx)
		if ctx.Err() != nil {
			return nil
		}
		r.config.Log.WarnContext(ctx, "the reactor failed and starts again", "error", err)
		if wait.For(ctx, time.Second) != nil {
			return nil
		}
	}
}

// closeTimeout bounds how long running reactions may take to end. The facts of those
// that take longer are delivered again.
const closeTimeout = 5 * time.Second

func (r *Reactor) run(ctx context.Context) error {
	if !r.config.Migrated {
		if err := r.EnsureDeadLetters(); err != nil {
			return err
		}
	}
	logger := watermill.NewSlogLoggerWithLevelMapping(r.config.Log, map[slog.Level]slog.Level{
		slog.LevelInfo: slog.LevelDebug, slog.LevelError: slog.LevelWarn, // each error is retried
	})
	publisher, err := openPublisher(r.config.Brokers, r.sarama())
	if err != nil {
		return fmt.Errorf("open the dead-letter topic: %w", err)
	}
	defer publisher.Close()                                                                   //nolint:errcheck // what was sent is acknowledged
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: time.Second}, logger) // sessions have waited before
	if err != nil {
		return fmt.Errorf("make the router: %w", err)
	}
	deadLetters, err := middleware.PoisonQueueWithFilter(reporting{publisher, r}, DeadLetterTopic(r.config.Prefix), blameable)
	if err != nil {
		return fmt.Errorf("make the dead-letter queue: %w", err)
	}
	router.AddMiddleware(middleware.CorrelationID)
	feeds := make([]*feed, len(r.handlers))
	for i, h := range r.handlers {
		feeds[i] = newFeed(h, r.config.Facts)
		r.add(router, feeds[i], deadLetters, logger)
	}
	// The router outlives ctx, so that what is under way can end.
	routed := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		routed <- router.Run(context.WithoutCancel(ctx))
		cancel()
	}()
	err = r.config.Leases.Run(ctx, func(ctx context.Context, held []facts.Lease) error { return r.work(ctx, feeds, held) })
	if e := router.Close(); e != nil {
		r.config.Log.WarnContext(ctx, "reactions that did not end are left", "error", e)
	}
	return errors.Join(err, <-routed)
}

// add subscribes a handler. Its middlewares, from the outside in, send failed facts to
// the dead letters, recognize an outage of the read model, retry, and turn panics into
// errors.
func (r *Reactor) add(router *message.Router, f *feed, deadLetters message.HandlerMiddleware, logger watermill.LoggerAdapter) {
	h := f.handler
	added := router.AddConsumerHandler(r.Group(h.name, h.family), r.config.Prefix+string(h.family), f, func(m *message.Message) error {
		return r.traced(m, h)
	})
	retry := middleware.Retry{
		MaxRetries: r.config.Retries, InitialInterval: r.config.FirstPause, MaxInterval: 30 * time.Second,
		Multiplier: 2, RandomizationFactor: 0.5, ResetContextOnRetry: true, Logger: logger,
		ShouldRetry: func(p middleware.RetryParams) bool { return !errors.Is(p.Err, errUnreadable) },
	}
	added.AddMiddleware(deadLetters, r.blame(h), retry.Middleware, middleware.Recoverer)
}

// Group is the name of the consumer group of a handler and a family.
func (r *Reactor) Group(name string, family events.Family) string {
	return GroupOf(r.config.Prefix, name, family)
}

// GroupOf is the name of the consumer group of a handler and a family, for a prefix of
// topics.
func GroupOf(prefix, name string, family events.Family) string {
	return GroupPrefix(prefix) + name + "." + string(family)
}

// GroupPrefix is what the names of all groups begin with, for a prefix of topics.
func GroupPrefix(prefix string) string {
	const groups = "netsim-reactor."
	if prefixOf(prefix) == eventlog.DefaultPrefix {
		return groups
	}
	return prefix + groups
}

func prefixOf(prefix string) string { return cmp.Or(prefix, eventlog.DefaultPrefix) }

// sarama returns the settings of the clients of dead letters: a record is
// acknowledged when all replicas have it, and a retry writes it once.
func (r *Reactor) sarama() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	c.ClientID = "netsim-reactor"
	c.Producer.Idempotent = true
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Return.Successes = true
	c.Net.MaxOpenRequests = 1
	r.config.Connect.Configure(c)
	return c
}
