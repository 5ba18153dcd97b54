package publisher

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/facts"
	"netsim/infra/wait"
)

// Publisher publishes the facts of the shards that this process holds.
type Publisher struct {
	config Config
	names  headerNames

	mu           sync.Mutex
	transactions bool
	failure      error     // why nothing can be published; nil when something can
	failing      time.Time // since when
	shards       map[int32]*shardState
	failures     int64
	unknown      map[string]bool // types whose facts were published as they are stored
}

// shardState is how far a shard is.
type shardState struct {
	next    map[events.Family]int64 // what is published; nil before it is known
	pending time.Time               // when the log recorded the oldest fact that was read and is not published; zero for none
	begun   time.Time               // when the transaction under way began; zero for none
	failure error                   // of the last try; nil when it worked
	failing time.Time               // since when
}

// New returns a publisher. It connects to nothing.
func New(c Config) (*Publisher, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Publisher{config: c, names: newHeaderNames(), shards: map[int32]*shardState{}, unknown: map[string]bool{}}, nil
}

// The pause after a failure, which doubles.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 15 * time.Second
)

// Run publishes until ctx ends. After an error it tries again.
func (p *Publisher) Run(ctx context.Context) error {
	p.again(ctx, p.setFailure, "public topics cannot be written; they are tried again", func() error {
		transactions, err := p.config.transactions()
		if err != nil {
			return err
		}
		if err := p.config.ensure(); err != nil {
			return err
		}
		p.setFailure(nil)
		p.mu.Lock()
		p.transactions = transactions
		p.mu.Unlock()
		p.config.Log.InfoContext(ctx, "public topics are written", "transactions", transactions)
		return p.config.Leases.Run(ctx, func(ctx context.Context, held []facts.Lease) error {
			return p.work(ctx, held, transactions)
		})
	})
	return nil
}

// again calls f until ctx ends, with pauses after failures. It reports each failure, and
// logs the first of several.
func (p *Publisher) again(ctx context.Context, report func(error), message string, f func() error) {
	for pauses, failed := wait.Doubling(firstPause, longestPause), false; ctx.Err() == nil; {
		began := p.config.Now()
		err := f()
		if ctx.Err() != nil {
			return
		}
		if p.config.Now().Sub(began) > 2*longestPause {
			pauses.Reset()
			failed = false
		}
		report(err)
		level := slog.LevelWarn
		if failed {
			level = slog.LevelDebug
		}
		p.config.Log.Log(ctx, level, message, "error", err)
		failed = true
		wait.For(ctx, pauses.NextBackOff()) //nolint:errcheck // the loop checks the context
	}
}

// work publishes the held shards until ctx ends.
func (p *Publisher) work(ctx context.Context, held []facts.Lease, transactions bool) error {
	p.mu.Lock()
	clear(p.shards)
	for _, l := range held {
		p.shards[l.Shard] = &shardState{}
	}
	p.mu.Unlock()
	var running errgroup.Group
	for _, l := range held {
		running.Go(func() error {
			report := func(err error) { p.fail(l.Shard, err) }
			failed := false
			p.again(ctx, report, "a shard cannot be published; it is tried again", func() error {
				if failed { // a topic may have been deleted
					if err := p.config.ensure(); err != nil {
						return err
					}
				}
				failed = true
				s, err := p.open(ctx, l.Shard, transactions)
				if err != nil {
					return err
				}
				defer s.close()
				p.commit(l.Shard, s.at)
				return s.run(ctx)
			})
			return nil
		})
	}
	err := running.Wait()
	p.mu.Lock()
	clear(p.shards)
	p.mu.Unlock()
	return err
}

func (p *Publisher) setFailure(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure == nil {
		p.failing = p.config.Now()
	}
	if err != nil {
		p.failures++
	}
	p.failure = err
}

// fail notes that a try to publish a shard failed.
func (p *Publisher) fail(shard int32, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures++
	if s := p.shards[shard]; s != nil {
		if s.failure == nil {
			s.failing = p.config.Now()
		}
		s.failure, s.begun = err, time.Time{}
	}
}

// take notes what the transaction under way has.
func (p *Publisher) take(shard int32, taken []chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shards[shard]
	if s == nil {
		return
	}
	s.begun = p.config.Now()
	for i := range taken {
		if list := taken[i].Facts; len(list) > 0 && (s.pending.IsZero() || list[0].RecordedAt.Before(s.pending)) {
			s.pending = list[0].RecordedAt
		}
	}
}

// commit notes what is published.
func (p *Publisher) commit(shard int32, at map[events.Family]*progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.shards[shard]; s != nil {
		*s = shardState{next: positions(at)}
	}
}

// noteUnknown logs once for each type that its facts are published as they are stored.
func (p *Publisher) noteUnknown(f *facts.Fact) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unknown[f.Type] || len(p.unknown) >= maxUnknown {
		return
	}
	p.unknown[f.Type] = true
	p.config.Log.Warn("facts that this release cannot decode are published as they are stored",
		"type", f.Type, "stream", f.Stream, "error", f.Err)
}

// maxUnknown bounds the types that are logged.
const maxUnknown = 100

// Report is how far the publisher of this process is.
type Report struct {
	Transactions bool
	Shards       int           // that this process holds
	LagRecords   int64         // judged and not published, in these shards
	LagAge       time.Duration // of the oldest of them
	Failures     int64         // attempts that ended with an error
	Failing      time.Duration // since when nothing, or nothing of a shard, could be published
	Failure      error         // why
}

// Report returns how far this process is with its shards.
func (p *Publisher) Report() Report {
	now := p.config.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Report{Transactions: p.transactions, Shards: len(p.shards), Failures: p.failures}
	failing := func(err error, since time.Time) {
		if age := now.Sub(since); err != nil && (r.Failure == nil || age > r.Failing) {
			r.Failing, r.Failure = age, err
		}
	}
	failing(p.failure, p.failing)
	for number, s := range p.shards {
		lag := int64(0)
		for family, next := range s.next {
			lag += max(0, p.config.Judged(family, number)-next)
		}
		r.LagRecords += lag
		if !s.pending.IsZero() {
			r.LagAge = max(r.LagAge, now.Sub(s.pending))
		}
		failing(s.failure, s.failing)
		if age := now.Sub(s.begun); !s.begun.IsZero() && age > stuckAfter {
			failing(errNothing, s.begun)
		}
	}
	return r
}

// stuckAfter is longer than a transaction takes.
const stuckAfter = 15 * time.Second

var errNothing = errors.New("a transaction does not end")
