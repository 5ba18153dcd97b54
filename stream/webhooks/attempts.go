package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// keptAttempts is how many attempts of a webhook are kept at least; twice as many at most.
const keptAttempts = 1000

// DB is a pool or a transaction.
type DB interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Attempts returns the last attempts of a webhook, newest first, at most limit, and of
// those before a number unless that is 0. The last thousand of each webhook are kept.
func Attempts(ctx context.Context, db DB, webhook string, before int64, limit int) ([]Attempt, error) {
	rows, err := db.Query(ctx, `
		SELECT number, a.event, type, stream, attempt, began_at, duration, outcome, status, error, excerpt, waiting.due FROM webhooks.attempts a
		LEFT JOIN LATERAL ( -- the first of its lane, unless that is another message
			SELECT m.due, m.event, m.attempts FROM webhooks.messages m WHERE m.webhook = a.webhook AND m.stream = a.stream ORDER BY m.number LIMIT 1
		) AS waiting ON waiting.event = a.event AND waiting.attempts = a.attempt
		WHERE a.webhook = $1 AND ($2 = 0 OR number < $2) ORDER BY number DESC LIMIT $3`, webhook, before, limit)
	if err != nil {
		return nil, fmt.Errorf("read the attempts of a webhook: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Attempt, err error) {
		err = row.Scan(&a.Number, &a.Event, &a.Type, &a.Stream, &a.Count, &a.At, &a.Duration, &a.Outcome, &a.Status, &a.Error, &a.Excerpt, &a.Next)
		a.Message = messageID(webhook, a.Event)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the attempts of a webhook: %w", err)
	}
	return all, nil
}

// made is an attempt of a webhook.
type made struct {
	webhook string
	Attempt
}

// queueAttempts queues the statement that stores attempts. Their numbers grow in the order
// of the list.
func queueAttempts(b *pgx.Batch, all []made) *pgx.QueuedQuery {
	var webhooks, ids, types, streams, outcomes, errors, excerpts []string
	var counts, statuses []int
	var began []time.Time
	var durations []time.Duration
	for i := range all {
		a := &all[i]
		webhooks, ids, types, streams = append(webhooks, a.webhook), append(ids, a.Event), append(types, a.Type), append(streams, a.Stream)
		counts, began, durations = append(counts, a.Count), append(began, a.At), append(durations, a.Duration)
		outcomes, statuses = append(outcomes, string(a.Outcome)), append(statuses, a.Status)
		errors, excerpts = append(errors, a.Error), append(excerpts, a.Excerpt)
	}
	return b.Queue(statement("attempts"), webhooks, ids, types, streams, counts, began, durations, outcomes, statuses, errors, excerpts)
}

// Test sends a test event to a webhook at once, active or not, and stores the attempt.
func (d *Deliverer) Test(ctx context.Context, s Subscription) (Attempt, error) {
	keys, err := d.Keys.signing(&s)
	if err != nil {
		return Attempt{}, err
	}
	now := d.Now().UTC()
	a := made{s.ID, Attempt{Event: events.NewID(testPrefix), Type: TestType, At: now, Outcome: Delivered}}
	a.Message = messageID(s.ID, a.Event)
	body := fmt.Appendf(nil, `{"specversion":"1.0","id":%q,"source":"/netsim","type":%q,"subject":%q,"time":%q,"datacontenttype":"application/json","data":{}}`,
		a.Event, a.Type, s.ID, now.Format(events.TimeLayout))
	a.take(d.sender.send(ctx, s.URL, a.Message, body, keys.at(now)))
	var b pgx.Batch
	queueAttempts(&b, []made{a}).QueryRow(func(row pgx.Row) error { return row.Scan(&a.Number) })
	if err := d.Pool.SendBatch(ctx, &b).Close(); err != nil {
		return Attempt{}, fmt.Errorf("store a test of a webhook: %w", err)
	}
	return a.Attempt, nil
}

// TestType is the type of the events that Test sends. It is in no feed.
const TestType = "netsim.webhook.test"

// take stores what came of the attempt.
func (a *Attempt) take(got answer) {
	a.Status, a.Error, a.Excerpt, a.Duration = got.status, got.refusal, got.excerpt, got.duration
	if a.Error != "" {
		a.Outcome = Failed
	}
}
