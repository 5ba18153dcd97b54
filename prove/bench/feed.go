package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/devissuer"
)

const (
	feedClients  = 500
	feedAccounts = 64 // one for each writer; each feed follows one of them
	feedWriters  = 64
	feedPaced    = 2000 // commands per second
)

// feeds measures what feeds cost the commands beside them, and how late their events
// come: 64 writers, each of its account, and 500 clients that follow these accounts. It
// measures without and with the feeds in turn, so that other load on the machine
// meets both.
func (b *bench) feeds(ctx context.Context) (err error) {
	s, err := b.startStack(ctx, servers{sync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	serving, err := s.serve(ctx, allRoles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.stop()) }()
	writers, hangUp, err := s.dialAccounts(serving, feedWriters)
	if err != nil {
		return err
	}
	defer hangUp()
	var alone, beside []feedRound
	for range 2 {
		one, err := b.feedRound(ctx, s, serving, writers, 0)
		if err != nil {
			return err
		}
		alone = append(alone, one)
		if one, err = b.feedRound(ctx, s, serving, writers, feedClients); err != nil {
			return err
		}
		beside = append(beside, one)
	}
	b.reportFeeds(better(alone), better(beside))
	return nil
}

// feedRound is the commands without or with feeds: as fast as possible, and paced.
type feedRound struct {
	fast, paced       sample
	fastCPU, pacedCPU map[string]float64 // µs a command
	lags              []time.Duration    // of the events, in the paced part
	took              time.Duration      // of the paced part
}

// better returns the round with the most commands, which other load disturbed least.
func better(rounds []feedRound) feedRound {
	return slices.MaxFunc(rounds, func(a, b feedRound) int { return int(a.fast.PerSecond - b.fast.PerSecond) })
}

func (b *bench) feedRound(ctx context.Context, s *stack, serving *service, writers []*conn, clients int) (r feedRound, err error) {
	following, err := s.follow(ctx, serving, clients)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, following.stop()) }()
	name := fmt.Sprintf("create beside %s", plural(clients, "feed"))
	if r.fast, r.fastCPU, err = b.under(ctx, s, services{serving}, name, plan{warm: b.warm, run: b.run}, each(writers, createWorkspaces)); err != nil {
		return r, err
	}
	following.take()
	began := time.Now()
	paced := plan{warm: b.warm, run: b.run, perSecond: feedPaced}
	if r.paced, r.pacedCPU, err = b.under(ctx, s, services{serving}, name+", paced", paced, each(writers, createWorkspaces)); err != nil {
		return r, err
	}
	r.lags, r.took = following.take(), time.Since(began)-r.paced.Drained
	if clients > 0 && len(r.lags) == 0 {
		return r, errors.New("the feeds delivered nothing")
	}
	return r, nil
}

func (b *bench) reportFeeds(alone, beside feedRound) {
	none, all := plural(feedWriters, "client")+", no feeds", fmt.Sprintf("%s, %s", plural(feedWriters, "client"), plural(feedClients, "feed"))
	before := of("create to visible, fsync, "+none, alone.fast, "")
	before.CPU = alone.fastCPU
	b.report.add(before)
	after := of("create to visible, fsync, "+all, beside.fast, "no more than 10 % slower than without")
	after.CPU, after.beside = beside.fastCPU, []string{before.Name}
	b.report.add(after)
	paced := of(fmt.Sprintf("create to visible, %s/s, %s", number(feedPaced), none), alone.paced, "")
	paced.CPU = alone.pacedCPU
	b.report.add(paced)
	with := of(fmt.Sprintf("create to visible, %s/s, %s", number(feedPaced), all), beside.paced, "")
	with.CPU, with.beside = beside.pacedCPU, []string{paced.Name}
	b.report.add(with)
	slices.Sort(beside.lags)
	n := len(beside.lags)
	b.report.add(figure{
		Name: fmt.Sprintf("event to %s, %s commands/s", plural(feedClients, "feed"), number(feedPaced)), Unit: " events/s",
		Value: float64(n) / beside.took.Seconds(),
		P50:   milliseconds(beside.lags[n/2]), P99: milliseconds(beside.lags[n*99/100]),
	})
}

// dialAccounts opens a connection for each of some accounts.
func (s *stack) dialAccounts(serving *service, count int) (all []*conn, hangUp func(), err error) {
	hangUp = func() {
		for _, c := range all {
			c.Close() //nolint:errcheck // nothing is left to read
		}
	}
	for n := range count {
		token, err := devissuer.Mint(s.dir, devissuer.Options{Service: true, Account: feedAccount(n)}, time.Now())
		if err == nil {
			var one []*conn
			one, _, err = target{serving.address, token}.dial(1)
			all = append(all, one...)
		}
		if err != nil {
			hangUp()
			return nil, nil, err
		}
	}
	return all, hangUp, nil
}

func feedAccount(n int) string { return fmt.Sprintf("acct_%026d", n%feedAccounts+1) }

// followers are clients of the feed.
type followers struct {
	conns []*conn
	group errgroup.Group

	mu   sync.Mutex
	lags []time.Duration // since take was called
}

// follow opens feeds and reads them in the background.
func (s *stack) follow(ctx context.Context, serving *service, count int) (*followers, error) {
	f := &followers{}
	for n := range count {
		token, err := devissuer.Mint(s.dir, devissuer.Options{Account: feedAccount(n)}, time.Now())
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
		one, _, err := target{serving.address, token}.dial(1)
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
		f.conns = append(f.conns, one...)
		began := make(chan error, 1)
		f.group.Go(func() error { return f.read(one[0], began) })
		select {
		case err = <-began:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
	}
	return f, nil
}

// stop ends the feeds.
func (f *followers) stop() error {
	for _, c := range f.conns {
		c.Close() //nolint:errcheck // the reader sees its error
	}
	return f.group.Wait()
}

// take returns the lags since it was called last.
func (f *followers) take() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	lags := f.lags
	f.lags = nil
	return lags
}

// read reads a feed until its connection is closed. It parses no more than the time of
// each event.
func (f *followers) read(c *conn, began chan<- error) error {
	request := append(append([]byte("GET /api/v1/events"), c.head...), "\r\n"...)
	if _, err := c.Write(request); err != nil {
		began <- err
		return err
	}
	line, err := c.in.ReadBytes('\n')
	if err == nil && !bytes.Contains(line, []byte(" 200 ")) {
		err = fmt.Errorf("GET /api/v1/events: %s, want %d", bytes.TrimSpace(line), http.StatusOK)
	}
	if began <- err; err != nil {
		return err
	}
	var lags []time.Duration
	data, at := []byte("data: {"), []byte(`"time":"`)
	for {
		if c.in.Buffered() == 0 && len(lags) > 0 {
			f.mu.Lock()
			f.lags = append(f.lags, lags...)
			f.mu.Unlock()
			lags = lags[:0]
		}
		line, err := c.in.ReadSlice('\n')
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the feed: %w", err)
		}
		if bytes.HasPrefix(line, []byte("event: end")) {
			return errors.New("the feed has ended")
		}
		if !bytes.HasPrefix(line, data) {
			continue
		}
		if _, text, found := bytes.Cut(line, at); found && len(text) > len(events.TimeLayout) {
			if happened, err := time.Parse(events.TimeLayout, string(text[:len(events.TimeLayout)])); err == nil {
				lags = append(lags, time.Since(happened))
			}
		}
	}
}
