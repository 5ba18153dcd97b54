package webhooks

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed tables.sql
var tablesSQL string

//go:embed statements.sql
var statementsSQL string

// statement returns a statement of statements.sql.
func statement(name string) string {
	_, rest, found := strings.Cut(statementsSQL, "-- name: "+name+"\n")
	if !found {
		panic("webhooks: no such statement: " + name)
	}
	text, _, _ := strings.Cut(rest, "\n-- name: ")
	return text
}

// Create creates the tables unless they exist. Run does it too.
func (d *Deliverer) Create(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, d.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('create schema webhooks'))"); err != nil {
			return err
		}
		var exists bool // then nothing is created, because that needs more rights
		err := tx.QueryRow(ctx, "SELECT to_regclass('webhooks.attempts') IS NOT NULL").Scan(&exists)
		if err == nil && !exists {
			_, err = tx.Exec(ctx, tablesSQL)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create the tables of webhooks: %w", err)
	}
	return nil
}

// message is the first message of a lane.
type message struct {
	webhook  string
	number   int64
	stream   string
	event    string
	kind     string // its type
	recorded time.Time
	attempts int // that have failed
	due      time.Time
	body     []byte // nil before it is due
}

// readDue reads the messages of webhooks that are due first (statement due).
func (s *session) readDue(ctx context.Context, webhooks []string, rooms []int, sending []int64, now time.Time) ([]message, error) {
	rows, err := s.Pool.Query(ctx, statement("due"), webhooks, rooms, sending, now)
	if err != nil {
		return nil, fmt.Errorf("read the messages of webhooks: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m message, err error) {
		return m, row.Scan(&m.webhook, &m.number, &m.stream, &m.event, &m.kind, &m.recorded, &m.attempts, &m.due, &m.body)
	})
	if err != nil {
		return nil, fmt.Errorf("read the messages of webhooks: %w", err)
	}
	return all, nil
}

// change is what one sender or one reader commits.
type change struct {
	// Of a sender.
	sent *message
	made Attempt
	due  time.Time // of the next attempt, if the outcome is Failed

	// Of a reader.
	read *position
	add  []message
	drop bool // the messages that wait, before

	done chan error // buffered, 1
}

// errLost means that another process delivers, or has.
var errLost = errors.New("the lease of webhooks is lost")

// commit commits changes in one transaction, and returns how many messages of each webhook
// were removed. Their order is that of the list: a message that is added to a lane comes
// after those that are there.
func (s *session) commit(ctx context.Context, changes []*change) (removed map[string]int, err error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	b := &pgx.Batch{}
	b.Queue(statement("holder"), s.epoch).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != 1 {
			return errLost
		}
		return nil
	})
	removed = map[string]int{}
	s.queueSent(b, changes, removed)
	queueRead(b, changes, s.Now())
	err = pgx.BeginFunc(ctx, s.Pool, func(tx pgx.Tx) error {
		if err := s.hook("committing"); err != nil {
			return err
		}
		return tx.SendBatch(ctx, b).Close()
	})
	if err != nil {
		return nil, fmt.Errorf("commit deliveries to webhooks: %w", err)
	}
	return removed, nil
}

// queueSent queues what senders change.
func (s *session) queueSent(b *pgx.Batch, changes []*change, removed map[string]int) {
	var done, again []int64
	var counts []int
	var due []time.Time
	var webhooks, streams []string // of lanes whose first message is removed
	var attempts []made
	for _, c := range changes {
		if c.sent == nil {
			continue
		}
		attempts = append(attempts, made{c.sent.webhook, c.made})
		if c.made.Outcome == Failed {
			again, counts, due = append(again, c.sent.number), append(counts, c.made.Count), append(due, c.due)
			continue
		}
		done = append(done, c.sent.number)
		webhooks, streams = append(webhooks, c.sent.webhook), append(streams, c.sent.stream)
	}
	if len(attempts) == 0 {
		return
	}
	if len(done) > 0 {
		b.Queue(statement("done"), done).Query(func(rows pgx.Rows) error {
			var webhook string
			var count int
			_, err := pgx.ForEachRow(rows, []any{&webhook, &count}, func() error {
				removed[webhook] = count
				return nil
			})
			return err
		})
		b.Queue(statement("next"), webhooks, streams, done, s.Now())
	}
	if len(again) > 0 {
		b.Queue(statement("again"), again, counts, due)
	}
	queueAttempts(b, attempts)
	if full := s.untrimmed(attempts); len(full) > 0 {
		b.Queue(statement("trim"), full, keptAttempts)
	}
}

// queueRead queues what readers change.
func queueRead(b *pgx.Batch, changes []*change, now time.Time) {
	var dropped, webhooks, losses, offsets []string
	var replays []int
	var owners, streams, ids, types []string
	var recorded []time.Time
	var bodies [][]byte
	for _, c := range changes {
		if c.read == nil {
			continue
		}
		if c.drop {
			dropped = append(dropped, c.read.webhook)
		}
		webhooks, replays = append(webhooks, c.read.webhook), append(replays, c.read.replay)
		losses, offsets = append(losses, c.read.losses), append(offsets, c.read.text())
		for i := range c.add {
			m := &c.add[i]
			owners, streams, ids, types = append(owners, m.webhook), append(streams, m.stream), append(ids, m.event), append(types, m.kind)
			recorded, bodies = append(recorded, m.recorded), append(bodies, m.body)
		}
	}
	if len(dropped) > 0 {
		b.Queue(statement("drop"), dropped)
	}
	if len(bodies) > 0 {
		b.Queue(statement("insert"), owners, streams, ids, types, recorded, bodies, now)
	}
	if len(webhooks) > 0 {
		b.Queue(statement("positions"), webhooks, replays, losses, offsets, now)
	}
}
