//go:build faketime

package dst

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/infra/writelog"
)

// process is a process of the service without its APIs: it handles commands, projects,
// and reacts, put together as cmd/service does it.
type process struct {
	w           *world
	number      int
	incarnation int
	host        string
	cancel      context.CancelFunc
	alive       bool

	// Set once it is ready.
	ready   bool
	reads   *pgxpool.Pool // of verified sessions
	log     *writelog.Log
	handler *handle.Handler
	watcher *projector.Watcher
}

func (p *process) name() string { return fmt.Sprintf("process-%d.%d", p.number, p.incarnation) }

// start starts the process again, as a new incarnation.
func (w *world) start(number int) {
	before := w.processes[number]
	p := &process{w: w, number: number, incarnation: before.incarnation + 1, alive: true}
	p.host = hostOf(number, p.incarnation)
	w.processes[number] = p
	w.net.up[p.host] = true
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	w.event("%s starts", p.name())
	w.jobs++
	go func() {
		defer func() { w.jobs-- }()
		for ctx.Err() == nil {
			err := p.run(ctx)
			p.ready = false
			if ctx.Err() != nil {
				return
			}
			w.event("%s ends and starts again: %v", p.name(), err)
			time.Sleep(time.Second)
		}
	}()
}

// stop ends the process in an orderly way.
func (p *process) stop() {
	p.w.event("%s stops", p.name())
	p.ready, p.alive = false, false
	p.cancel()
}

// kill ends the process at this instant: nothing that it does has an effect any more,
// except what it has sent.
func (p *process) kill() {
	p.w.event("%s is killed", p.name())
	p.ready, p.alive = false, false
	delete(p.w.net.up, p.host)
	p.w.net.each(func(c *conn) bool { return c.host == p.host }, func(c *conn) {
		c.end(errReset)
		server := c.peer
		delete(p.w.net.conns, c)
		time.AfterFunc(c.arrival().Sub(p.w.now()), func() { server.end(errReset) })
	})
	p.cancel()
}

// partitions is how many each topic has: more than processes, so that a process holds
// several leases and gets them one by one.
const partitions = 4

func (p *process) eventLog() eventlog.Config {
	return eventlog.Config{Brokers: []string{p.host + ":" + brokerPort}, Partitions: partitions, Relaxed: true}
}

func (p *process) database() string {
	return fmt.Sprintf("postgres://netsim@%s:%s/netsim?sslmode=disable", p.host, databasePort)
}

func (p *process) projector(c projector.Config) *projector.Projector {
	c.Logger, c.CopyFrom = p.w.logger(p.name()), 1<<30
	c.ReadState = func(stream string, stored []byte) (projector.State, error) { return commands.ReadState(stream, stored) }
	c.Projections = []projector.Projection{views{}}
	return projector.New(c)
}

// install makes the topics and the tables, and adopts the log.
func (p *process) install(ctx context.Context) error {
	pool, err := postgres.Open(ctx, p.database(), projector.Live, 4)
	if err != nil {
		return err
	}
	defer pool.Close()
	log, err := eventlog.Open(ctx, p.eventLog())
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Ensure(ctx); err != nil {
		return err
	}
	live := p.projector(projector.Config{Pool: pool, Log: log, Leases: p.leases(pool, projector.Live)})
	if err := live.Create(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return live.Run(ctx) })
	if _, err := writelog.LoadPartitions(ctx, pool); err != nil {
		return err
	}
	cancel()
	return group.Wait()
}

func (p *process) leases(pool *pgxpool.Pool, subscriber string) *facts.Leases {
	ttl := facts.DefaultTTL
	if p.w.Sparse {
		ttl = 90 * time.Second
	}
	return &facts.Leases{TTL: ttl, Pool: pool, Subscriber: subscriber, Process: p.name(), Shards: partitions, Log: p.w.logger(p.name())}
}

// run runs the process until ctx ends or a part fails for good.
func (p *process) run(ctx context.Context) error {
	logger := p.w.logger(p.name())
	unverified, err := postgres.Open(ctx, p.database(), projector.Live, 16)
	if err != nil {
		return err
	}
	defer unverified.Close()
	log, err := eventlog.Open(ctx, p.eventLog())
	if err != nil {
		return err
	}
	defer log.Close()
	recovery := projector.NewRecovery(log, func(context.Context, *pgx.Conn) error { return nil })
	p.reads, err = postgres.New(ctx, p.database(), projector.Live, 16, func(c *pgxpool.Config) { c.AfterConnect = recovery.Verify })
	if err != nil {
		return err
	}
	defer p.reads.Close()
	p.watcher = projector.NewWatcher(unverified, logger)
	live := p.projector(projector.Config{Pool: unverified, Log: log, Watcher: p.watcher, Leases: p.leases(unverified, projector.Live)})
	react, err := reactor.New(reactor.Config{
		Brokers: []string{p.host + ":" + brokerPort}, EventLog: log, Facts: facts.NewReader(log, p.watcher),
		Leases: p.leases(unverified, "reactions"), Judge: p.watcher, Log: logger, Retries: 1 << 20,
	})
	if err != nil {
		return err
	}
	react.Handle("mirror", p.mirror, events.Workspaces)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.watcher.Run(ctx) })
	group.Go(func() error { return live.Run(ctx) })
	group.Go(func() error {
		counts, err := writelog.LoadPartitions(ctx, p.reads)
		if err != nil {
			return err
		}
		p.log = writelog.New(writelog.Config{Pool: p.reads, EventLog: log, Watcher: p.watcher, Partitions: counts})
		p.handler = &handle.Handler{Log: p.log, Now: time.Now}
		p.ready = ctx.Err() == nil
		p.w.event("%s is ready", p.name())
		return react.Run(ctx)
	})
	return group.Wait()
}
