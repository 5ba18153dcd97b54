package replicas

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/fault"
	"netsim/infra/gather"
	"netsim/infra/projector"
	"netsim/infra/wait"
)

// Config is what Reads needs.
type Config struct {
	Own     *pgxpool.Pool      // the process's own database
	Watcher *projector.Watcher // of that database
	Form    string             // fingerprint that the read model of a standby must have
	Log     LogID

	Standbys []string // URLs
	Sessions int32    // for each standby
	Options  []func(*pgxpool.Config)
	MaxLag   time.Duration // how old the rows of a standby may be
	Linger   time.Duration // how long a read waits for a standby before the own database answers
	Timeout  time.Duration // how long a read waits for the own database

	// Attach returns what belongs to the pool of a standby, for Attached; nil for nothing.
	Attach  func(*pgxpool.Pool) any
	Observe Observer
	Logger  *slog.Logger
	Now     func() time.Time
}

// Observer counts; a nil function counts nothing.
type Observer struct {
	Read  func(source string) // a read with a token: standby, primary or refused
	Retry func(reason string) // a read that a standby failed: conflict or failed
}

// Reads sends the queries of each request to the database that was chosen for it. It is
// a projections.Reader.
type Reads struct {
	Config
	standbys []*standby
	next     atomic.Uint32 // for taking turns
	position positions     // of the own database
	live     positions     // of its live read model, which may be another one
}

// NewReads returns the reads of a process. Run keeps track of the standbys.
func NewReads(c Config) *Reads {
	if c.Attach == nil {
		c.Attach = func(*pgxpool.Pool) any { return nil }
	}
	if c.Observe.Read == nil {
		c.Observe.Read = func(string) {}
	}
	if c.Observe.Retry == nil {
		c.Observe.Retry = func(string) {}
	}
	r := &Reads{Config: c}
	r.position.of(c.Own, projector.ReadPosition)
	r.live.of(c.Own, projector.ReadLive)
	all := &shared{
		form: c.Form, log: c.Log, sessions: c.Sessions, options: c.Options, attach: c.Attach, maxLag: c.MaxLag,
		history: &history{spacing: c.MaxLag / (maxSamples - 2)}, logger: c.Logger, now: c.Now,
	}
	for i, url := range c.Standbys {
		r.standbys = append(r.standbys, &standby{
			name: strconv.Itoa(i), url: url, shared: all, poke: make(chan struct{}, 1), changed: make(chan struct{}),
		})
	}
	return r
}

// Run polls the standbys until ctx ends.
func (r *Reads) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, s := range r.standbys {
		all.Go(func() { s.follow(ctx) })
	}
	for len(r.standbys) > 0 {
		r.standbys[0].history.add(r.Now(), r.Watcher.Position())
		if wait.For(ctx, pollEvery) != nil {
			break
		}
	}
	all.Wait()
	<-ctx.Done()
	return nil
}

type sourceKey struct{}

// source returns the standby that was chosen for the request, nil for none.
func source(ctx context.Context) *run {
	r, _ := ctx.Value(sourceKey{}).(*run)
	return r
}

// Attached returns what Config.Attach returned for the standby that answers the request;
// nil when the own database answers it.
func Attached(ctx context.Context) any {
	if r := source(ctx); r != nil {
		return r.attached
	}
	return nil
}

func (r *Reads) pool(ctx context.Context) *pgxpool.Pool {
	if chosen := source(ctx); chosen != nil {
		return chosen.pool
	}
	return r.Own
}

// Query implements projections.Reader.
func (r *Reads) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return r.pool(ctx).Query(ctx, sql, args...)
}

// QueryRow implements projections.Reader.
func (r *Reads) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return r.pool(ctx).QueryRow(ctx, sql, args...)
}

// chooseStandby returns the standby that answers a read which wants the position, nil for
// the own database.
func (r *Reads) chooseStandby(ctx context.Context, want projector.Position) *run {
	n := len(r.standbys)
	if n == 0 {
		return nil
	}
	first := int(r.next.Add(1) % uint32(n))
	var late *standby
	for i := range n {
		s := r.standbys[(first+i)%n]
		chosen, fresh, _ := s.usable(want)
		if chosen != nil {
			return chosen
		}
		if fresh && late == nil {
			late = s
		}
	}
	if late == nil || r.Linger <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.Linger)
	defer cancel()
	return late.await(ctx, want)
}

// errNotReached is the cause when the own database has not reached a token in time.
var errNotReached = errors.New("the read model has not reached the token")

// awaitOwn waits until the own database has reached the position.
func (r *Reads) awaitOwn(ctx context.Context, want projector.Position) error {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	if err := r.Watcher.Await(ctx, want); err != nil {
		return notYet("this deployment has not applied yet what "+Header+" names; repeat the request", fmt.Errorf("%w: %w", errNotReached, err))
	}
	return nil
}

func notYet(message string, cause error) error {
	return &fault.Fault{Code: fault.Unavailable, Message: message, RetryAfter: time.Second, Cause: cause}
}

// errOtherModel is the cause when a superseded read model and the live one do not reach each
// other in time.
var errOtherModel = errors.New("the read models of two releases are at different positions")

// begin is called before a request that the own database answers. While the process serves a
// superseded read model, begin waits until that has all that the live one has now. It
// reports whether settle has something to wait for.
func (r *Reads) begin(ctx context.Context) (follows bool, err error) {
	if follows, known := r.Watcher.Following(); known && !follows {
		return false, nil // as nearly always: no timer is needed
	}
	within, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	if follows, err = r.follows(within); err != nil || !follows {
		return follows, err
	}
	at, _, err := r.live.Get(within, struct{}{})
	if err == nil {
		err = r.Watcher.Await(within, at)
	}
	if err != nil {
		return follows, notYet("the read model of this release is behind that of another one; repeat the request", fmt.Errorf("%w: %w", errOtherModel, err))
	}
	return follows, nil
}

func (r *Reads) follows(ctx context.Context) (bool, error) {
	follows, err := r.Watcher.Follows(ctx)
	if err != nil {
		return false, notYet("the read store does not say which read model is live; repeat the request", fmt.Errorf("%w: %w", errOtherModel, err))
	}
	return follows, nil
}

// confirm is called before a reply is sent to a request that began while it was not known
// which read model is live. It fails unless the one of this process is live now, because then
// it was live when the request began.
func (r *Reads) confirm(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	follows, err := r.follows(within)
	if err == nil && follows {
		err = notYet("another read model has just become live; repeat the request", errOtherModel)
	}
	return err
}

// settle is called before a reply is sent. While the process serves a superseded read model,
// settle waits until the live one has the position too, so that no client misses there what
// the reply says.
func (r *Reads) settle(ctx context.Context, at projector.Position) error {
	within, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	if err := r.Watcher.Await(within, at); err != nil {
		return notYet("the live read model has not applied yet what the reply shows; repeat the request", fmt.Errorf("%w: %w", errOtherModel, err))
	}
	return nil
}

// shown returns the position of the database that answers the request, which is at or
// after all that the request has read.
func (r *Reads) shown(ctx context.Context) (projector.Position, error) {
	from := &r.position
	if chosen := source(ctx); chosen != nil {
		from = &chosen.shown
	}
	at, _, err := from.Get(ctx, struct{}{})
	return at, err
}

// positions reads the position of a database. Concurrent requests share a query, which
// begins after each of them has asked.
type positions struct {
	gather.Gather[struct{}, projector.Position]
}

func (p *positions) of(pool *pgxpool.Pool, read func(context.Context, projector.Querier) (projector.Position, error)) {
	p.Query = func(ctx context.Context, _ []struct{}) (map[struct{}]projector.Position, error) {
		at, err := read(ctx, pool)
		return map[struct{}]projector.Position{{}: at}, err
	}
}

// Report is the state of a standby.
type Report struct {
	Standby string        // its number in the settings, from 0
	Used    bool          // it may answer reads that want no position
	Age     time.Duration // how old its rows are at most; 0 while it is left out
}

// Report returns the state of each standby.
func (r *Reads) Report() (all []Report) {
	for _, s := range r.standbys {
		chosen, _, _ := s.usable(nil)
		_, _, age, _ := s.state(nil)
		if age == never {
			age = 0
		}
		all = append(all, Report{Standby: s.name, Used: chosen != nil, Age: age})
	}
	return all
}
