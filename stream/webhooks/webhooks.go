package webhooks

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/facts"
	"netsim/stream/feed"
)

// Subscriber is the name of the deliverer's lease.
const Subscriber = "webhooks"

// Subscription is a webhook as the read model has it.
type Subscription struct {
	ID      string
	Version int64 // grows with each change of the webhook
	URL     string
	Active  bool       // whether events are read and sent; else its position is kept
	Query   feed.Query // which events it gets; Check is not used
	Secrets []Secret   // that sign, the newest first
	// Since is when the webhook was created, or the time from which it is replayed: it
	// gets the events recorded from then on.
	Since time.Time
	// Replay counts the replays. When it grows, the webhook's messages that wait are
	// dropped, and it is read from Position, or else from Since.
	Replay   int
	Position []byte // of a feed with the same query; nil for Since
}

// Secret names a derived secret (Keys.Secret).
type Secret struct {
	Key        string // id of the master key
	Generation int
	Until      time.Time // when it no longer signs; zero for never
}

// Source has the webhooks.
type Source interface {
	// Subscriptions returns all webhooks that are not deleted.
	Subscriptions(ctx context.Context) ([]Subscription, error)
	// Changed returns a channel that receives a value after webhooks have changed.
	Changed() <-chan struct{}
}

// Leases gives one process the deliveries. facts.Leases with one shard implements it.
type Leases interface {
	Run(ctx context.Context, work func(ctx context.Context, held []facts.Lease) error) error
}

// Config has the parts of a Deliverer. Run needs all but the last four; Test needs Pool,
// Keys and Networks.
type Config struct {
	Pool *pgxpool.Pool
	// Hub is a hub of the deliverer's own, because the pace of a hub depends on the number
	// of its feeds. The process runs it.
	Hub    *feed.Hub
	Source Source
	Leases Leases
	// Losses names the losses of the log's records that were accepted, "" for none. A
	// position from before a loss is not resumed from.
	Losses func(ctx context.Context) (string, error)
	// Disable disables a webhook by a command. It may be called again for the same reason.
	Disable  func(ctx context.Context, webhook, reason string) error
	Keys     Keys
	Networks Networks
	Limits   Limits
	Log      *slog.Logger

	Now     func() time.Time                                             // nil: time.Now
	Random  func() float64                                               // in [0, 1), for the jitter; nil: math/rand
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error) // nil: the machine's resolver
	TLS     *tls.Config                                                  // nil: the machine's roots
}

// Limits bound what a deliverer uses. A zero member stands for its default.
type Limits struct {
	Timeout    time.Duration // of an attempt: 15 s
	Messages   int           // of a webhook that are kept for delivery: 10,000. At this number its reading waits
	PerWebhook int           // concurrent attempts of a webhook: 32
	PerProcess int           // concurrent attempts: 256
	FirstPause time.Duration // after the first failed attempt: 10 s
}

// Attempt is an attempt to deliver an event.
type Attempt struct {
	Number   int64  // grows; a cursor of Attempts
	Message  string // the header webhook-id: the same in all attempts of the webhook's event
	Event    string // its id
	Type     string // of the event
	Stream   string // of the event, "" for a test
	Count    int    // 1 for the first attempt, at most MaxAttempts; 0 for a test
	At       time.Time
	Duration time.Duration
	Outcome  Outcome
	Status   int    // of the answer, 0 for none
	Error    string // why there was no answer that counts, "" for a success
	Excerpt  string // the begin of the answer's body, if a public address sent it
	// Next is when the message is due again, as Attempts returns it: nil unless this is the
	// last attempt of a message that waits.
	Next *time.Time
}

// Outcome is what came of an attempt.
type Outcome string

// The outcomes.
const (
	Delivered Outcome = "delivered"
	Failed    Outcome = "failed"  // there will be another attempt
	Dropped   Outcome = "dropped" // the message, because it was the last attempt
)
