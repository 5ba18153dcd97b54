package webhooks

import (
	"context"
	"errors"
)

// Deliverer delivers events to webhooks. Only one process delivers at a time.
type Deliverer struct{ Config }

// New returns a Deliverer.
func New(c Config) *Deliverer { return &Deliverer{c} }

// Run delivers events while this process has the lease, until ctx ends.
func (d *Deliverer) Run(ctx context.Context) error { return errors.ErrUnsupported }

// Test sends a test event to a webhook at once, active or not, and records the attempt.
func (d *Deliverer) Test(ctx context.Context, s Subscription) (Attempt, error) {
	return Attempt{}, errors.ErrUnsupported
}

// Create creates the tables unless they exist. Run does it too.
func (d *Deliverer) Create(ctx context.Context) error { return errors.ErrUnsupported }

// Report has the counters of a Deliverer.
type Report struct {
	Holding  bool // whether this process delivers
	Webhooks int  // that are active
	Full     int  // that wait to be read, because they have Limits.Messages messages
	Messages int  // that wait for delivery
	Sending  int  // attempts at this moment

	Attempts map[Outcome]int64
	Disabled int64 // webhooks, by this process
	Failures int64 // of the delivering itself, as when the database is unavailable
	Error    error // the last of them, nil when it is over
}

// Report returns the counters.
func (d *Deliverer) Report() Report { return Report{} }
