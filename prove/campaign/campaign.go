package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"netsim/prove/cluster"
	"netsim/prove/history"
)

// campaign is one run: a cluster, a load on it, faults, and the checks at the end.
type campaign struct {
	options options
	dir     string // of all data
	out     string // of the report
	cluster *cluster.Cluster
	disks   *cluster.Disks // nil without the right to mount
	apis    []string       // base URLs
	began   time.Time
	names   atomic.Int64
	tally   tally
	records recorder
	report  report
	made    made
	facts   facts // at the end

	followers     []*follower
	stopFollowing func()

	mu         sync.Mutex
	checking   string // the check that runs; "load" before the first
	violations []violation
}

// violation is something that a check found.
type violation struct {
	Check string        `json:"check"`
	At    time.Duration `json:"at"` // since the start of the load
	Text  string        `json:"text"`
}

// The processes of the service. No two have the same work to themselves.
var roles = []string{"api,projector", "api,projector", "reactor,worker,publisher,lake", "reactor,worker,publisher,lake"}

func run(ctx context.Context, o options) (err error) {
	if o.mutants {
		return runMutants(ctx, o)
	}
	_, err = prove(ctx, o)
	return err
}

// prove runs a campaign, and returns its report. The error is errViolated when it found
// violations.
func prove(ctx context.Context, o options) (r report, err error) {
	c := &campaign{options: o, checking: "load", records: recorder{streams: map[string]bool{}}}
	c.tally.counts = map[string]map[string]int{}
	if c.dir, err = os.MkdirTemp("", "netsim-prove-"); err != nil {
		return r, err
	}
	if err := os.Chmod(c.dir, 0o755); err != nil { // PostgreSQL may run as another user
		return r, err
	}
	if c.out = o.out; c.out == "" {
		c.out = c.dir + "-report"
	}
	if c.out, err = filepath.Abs(c.out); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.remove()) }()
	if err := c.start(ctx); errors.Is(err, cluster.ErrNotReady) {
		c.began = time.Now()
		c.begin("start")
		c.violate("%v", err)
		c.report.Seed, c.report.Violations = o.seed, c.violations
		return c.report, errors.Join(errViolated, c.save())
	} else if err != nil {
		return r, err
	}
	defer c.cluster.Close()
	if err := c.work(ctx); err != nil {
		return r, c.failed(err)
	}
	if !c.found() {
		c.say("checking")
		c.check(ctx)
	}
	if ctx.Err() != nil { // then the checks have judged nothing
		return r, c.failed(ctx.Err())
	}
	c.finish()
	if !o.quiet {
		if err := c.report.print(os.Stdout); err != nil {
			return r, err
		}
	}
	if len(c.violations) == 0 {
		if o.keep || o.out != "" {
			return c.report, c.save()
		}
		return c.report, nil
	}
	if o.quiet {
		return c.report, errors.Join(errViolated, c.save())
	}
	fmt.Printf("\nThe seed is %d. The history, the report and the logs are in %s\n", o.seed, c.out)
	return c.report, errors.Join(errViolated, c.save())
}

// failed saves what is known of a campaign that could not be run to its end.
func (c *campaign) failed(err error) error {
	if err = errors.Join(err, c.save()); c.options.quiet {
		return err
	}
	return fmt.Errorf("%w (the seed is %d, and the logs are in %s)", err, c.options.seed, c.out)
}

// remove deletes the data.
func (c *campaign) remove() error {
	if c.disks != nil {
		if err := c.disks.Unmount(); err != nil {
			return err
		}
	}
	return os.RemoveAll(c.dir)
}

func (c *campaign) start(ctx context.Context) (err error) {
	c.say("seed %d: building the service", c.options.seed)
	p, err := prepare(ctx, c.dir, c.options)
	if err != nil {
		return err
	}
	if os.Getenv(namespaced) != "" {
		switch err := cluster.PrivateShm(); {
		case err == nil:
			c.disks = &cluster.Disks{Dir: c.dir, Size: diskSize(c.options.size())}
		case !errors.Is(err, fs.ErrPermission): // else a security module forbids it
			return fmt.Errorf("mount /dev/shm: %w", err)
		}
	}
	c.say("starting three brokers, PostgreSQL with a standby, an object store and %d processes of the service", len(roles))
	began := time.Now()
	c.cluster, err = cluster.Start(ctx, cluster.Options{
		Dir: c.dir, Binary: p.service, Dev: p.dev, Jars: p.jars, Heap: c.options.heap, Seed: c.options.seed, Roles: roles, Disks: c.disks,
	})
	if err != nil {
		return err
	}
	c.say("ready after %v", time.Since(began).Round(time.Second))
	for _, n := range c.cluster.Netsims {
		if n.URL() != "" {
			c.apis = append(c.apis, n.URL())
		}
	}
	c.began = time.Now()
	return nil
}

// diskSize is the size of a part's disk in memory. A campaign writes a few megabytes a
// minute.
func diskSize(d time.Duration) int64 { return 512<<20 + int64(d.Minutes())*(32<<20) }

// work loads the cluster while faults happen, heals it, and waits until it is quiet.
func (c *campaign) work(ctx context.Context) error {
	loaded, end := context.WithCancel(ctx)
	defer end()
	c.stopFollowing = func() {}
	defer func() { c.stopFollowing() }()
	load, err := c.startLoad(loaded)
	if err != nil {
		return err
	}
	err = c.breakThings(ctx)
	if !c.found() {
		c.say("healing")
		err = errors.Join(err, c.heal(ctx))
	}
	if err == nil && !c.found() {
		err = c.awaitWrites(ctx, c.options.writes, 3*time.Second) // also some load without faults
	}
	end()
	load.Wait()
	if err != nil || c.found() {
		return err
	}
	if err := c.settle(ctx); err != nil {
		return err
	}
	return c.catchUp(ctx)
}

// say prints what the campaign does.
func (c *campaign) say(format string, args ...any) {
	at := ""
	if !c.began.IsZero() {
		at = fmt.Sprintf("%6.1fs ", time.Since(c.began).Seconds())
	}
	fmt.Fprintln(os.Stderr, "prove: "+at+fmt.Sprintf(format, args...))
}

// violate records a violation that the present check has found.
func (c *campaign) violate(format string, args ...any) {
	c.mu.Lock()
	check := c.checking
	c.mu.Unlock()
	c.violateAs(check, format, args...)
}

// violateAs records a violation that a check has found.
func (c *campaign) violateAs(check, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.mu.Lock()
	c.violations = append(c.violations, violation{check, time.Since(c.began), text})
	n := len(c.violations)
	c.mu.Unlock()
	if n <= 20 {
		c.say("VIOLATION (%s): %s", check, text)
	}
}

// recorder keeps the history of the clients.
type recorder struct {
	mu      sync.Mutex
	all     []history.Operation
	streams map[string]bool // that are registers
}

func (r *recorder) add(op history.Operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, op)
	if op.Kind == history.Create && op.Stream != "" {
		r.streams[op.Stream] = true
	}
}

func (r *recorder) operations() []history.Operation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]history.Operation(nil), r.all...)
}

// found reports whether a campaign that ends at the first violation has one.
func (c *campaign) found() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.options.hunt && len(c.violations) > 0
}
