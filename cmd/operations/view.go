// Package operations shows operators the state of a deployment, and does and records what
// they ask for: the work under the API's operations below /api/v1/operations, and under the
// commands that print the same.
package operations

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/api"
	"netsim/cmd/connections"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/stream/publisher"
)

// View reads the state of a deployment. Its methods return what the API shows and what the
// commands print as JSON.
type View struct {
	Conn *connections.Connections
	DB   *pgxpool.Pool // the sessions that it reads with
	// Describe describes the log. It returns an error when the log does not answer.
	Describe func(context.Context) (eventlog.Description, error)
	// Self is the name of the process in the list of processes if it is not shown there;
	// "" shows all.
	Self string
	// Transactional reports whether facts are published in transactions.
	Transactional func() (bool, error)
}

// ViewOf returns the view of a tool, which is not shown among the processes. It reads with
// the sessions of the pool.
func ViewOf(c *connections.Connections, pool *pgxpool.Pool) View {
	return View{
		Conn: c, DB: pool, Describe: c.EventLog.Describe, Self: c.Process,
		Transactional: func() (bool, error) { return publisher.HasTransactions(c.PublisherConfig(0)) },
	}
}

// Remember returns a function that asks until it has an answer, and then returns this one.
func Remember(ask func() (bool, error)) func() (bool, error) {
	var mu sync.Mutex
	var known, answer bool
	return func() (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if known {
			return answer, nil
		}
		var err error
		answer, err = ask()
		known = err == nil
		return answer, err
	}
}

// all is the limit of a list that shows everything.
const all = 0

// first returns the first items of a list, up to the limit, and how many there are.
func first[T any](items []T, limit int) ([]T, int64) {
	total := len(items)
	if limit != all {
		items = items[:min(limit, total)]
	}
	return append([]T{}, items...), int64(total)
}

// maxText bounds the reasons of errors in lists, in bytes.
const maxText = 4096

// text returns a text up to maxText.
func text(s string) string { return cut(s, maxText) }

// cut returns a text of at most so many bytes, without a part of a character at its end.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

func timestamp(t time.Time) api.Timestamp { return api.Timestamp{Time: t} }

func timestampOf(t *time.Time) *api.Timestamp {
	if t == nil {
		return nil
	}
	at := timestamp(*t)
	return &at
}

// describe returns the description of the log.
func (v *View) describe(ctx context.Context) (eventlog.Description, error) {
	log, err := v.Describe(ctx)
	return log, silent(ctx, err)
}

// silent turns an error of the log into Unavailable, unless it is the caller's own time
// that has ended, or another attempt would change nothing.
func silent(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, eventlog.ErrOutOfRange) || errors.Is(err, eventlog.ErrNoTopic) {
		return err
	}
	if unavailable, known := eventlog.IsUnavailable(err); known && !unavailable {
		return err
	}
	return &fault.Fault{Code: fault.Unavailable, Message: "the event log does not answer; repeat the request", RetryAfter: time.Second, Cause: err}
}

// log is the event log with silent errors.
type log struct{ *eventlog.Kafka }

// Read implements projector.Log.
func (l log) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	records, end, err := l.Kafka.Read(ctx, topic, partition, from, maxBytes, wait)
	return records, end, silent(ctx, err)
}

// GroupOffsets implements reactor.LagLog.
func (l log) GroupOffsets(ctx context.Context, group, topic string, partitions int32) ([]eventlog.GroupOffset, error) {
	offsets, err := l.Kafka.GroupOffsets(ctx, group, topic, partitions)
	return offsets, silent(ctx, err)
}

func (v *View) log() log { return log{v.Conn.EventLog} }

// statusOf returns the status of the read model in a schema.
func (v *View) statusOf(ctx context.Context, schema string, described eventlog.Description) (projector.Status, error) {
	c := v.Conn.ProjectorConfig(v.DB, schema)
	c.Log = v.log()
	return projector.New(c).Status(ctx, described, time.Now())
}

// live returns the status of the live read model.
func (v *View) live(ctx context.Context) (projector.Status, error) {
	described, err := v.describe(ctx)
	if err != nil {
		return projector.Status{}, err
	}
	return v.statusOf(ctx, projector.Live, described)
}

// byLag compares so that what lags more comes first.
func byLag[N cmp.Ordered](a, b N) int { return cmp.Compare(b, a) }
