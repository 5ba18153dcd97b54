package webhooks

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"netsim/infra/facts"
	"netsim/infra/wait"
)

// Deliverer delivers events to webhooks. Only one process delivers at a time.
type Deliverer struct {
	Config
	sender *sender
	hook   func(step string) error // for tests: what happens at a step of the protocol

	mu      sync.Mutex
	report  Report
	current *session // nil while this process does not deliver
}

// New returns a Deliverer.
func New(c Config) *Deliverer {
	l := &c.Limits
	l.Timeout, l.FirstPause = cmp.Or(l.Timeout, 15*time.Second), cmp.Or(l.FirstPause, 10*time.Second)
	l.Messages, l.PerWebhook, l.PerProcess = cmp.Or(l.Messages, 10_000), cmp.Or(l.PerWebhook, 32), cmp.Or(l.PerProcess, 256)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.Resolve == nil {
		c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	return &Deliverer{
		Config: c, sender: newSender(&c), hook: func(string) error { return nil },
		report: Report{Attempts: map[Outcome]int64{Delivered: 0, Failed: 0, Dropped: 0}},
	}
}

// Run delivers events while this process has the lease, until ctx ends. After a failure,
// such as that of the database, the work begins again from what is committed.
func (d *Deliverer) Run(ctx context.Context) error {
	return d.Leases.Run(ctx, func(ctx context.Context, held []facts.Lease) error {
		defer d.hold(nil)
		pauses, failing := wait.Doubling(retryFirst, retryMost), false
		for ctx.Err() == nil {
			began := d.Now()
			err := d.deliver(ctx, held[0].Epoch)
			if ctx.Err() != nil {
				return nil
			}
			if d.Now().Sub(began) > retryMost {
				pauses.Reset()
				failing = false
			}
			d.count(func(r *Report) { r.Failures++; r.Error = err })
			if !failing {
				d.Log.WarnContext(ctx, "webhooks could not be delivered; it is tried again", "error", err)
				failing = true
			}
			wait.For(ctx, pauses.NextBackOff()) //nolint:errcheck // the loop checks the context
		}
		return nil
	})
}

// Report has the counters of a Deliverer.
type Report struct {
	Holding  bool // whether this process delivers
	Webhooks int  // that are delivered to
	Unsigned int  // that wait, because the master key of a secret is not configured
	Full     int  // that wait to be read, because they have Limits.Messages messages
	Messages int  // that wait for delivery
	Sending  int  // attempts at this moment

	Attempts map[Outcome]int64
	Disabled int64         // webhooks, by this process
	Lag      time.Duration // from the recording of an event to its delivery by the first attempt, of the last one
	Failures int64         // of the delivering itself, as when the database is unavailable
	Error    error         // the last of them, nil when it is over
}

// Report returns the counters.
func (d *Deliverer) Report() Report {
	d.mu.Lock()
	r, s := d.report, d.current
	r.Attempts = maps.Clone(r.Attempts)
	d.mu.Unlock()
	if s == nil {
		return r
	}
	r.Holding = true
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Sending = len(s.numbers)
	for _, w := range s.webhooks {
		r.Messages += w.messages
		if w.sub.Active && w.unsigned != nil {
			r.Unsigned++
		}
		if w.sends() {
			r.Webhooks++
			if w.messages >= s.Limits.Messages {
				r.Full++
			}
		}
	}
	return r
}

func (d *Deliverer) count(change func(r *Report)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.report)
}

// hold takes over a session, or nil at its end.
func (d *Deliverer) hold(s *session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.current = s
}
