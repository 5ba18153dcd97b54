package projector

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"netsim/infra/sqlstate"
	"netsim/infra/wait"
)

// Run listens until ctx ends, and reconnects after an error.
func (w *Watcher) Run(ctx context.Context) error {
	for {
		err := w.listen(ctx)
		if ctx.Err() != nil {
			return nil
		}
		w.log.WarnContext(ctx, "listening for verdicts failed and starts again", "error", err)
		if wait.For(ctx, pollEvery) != nil {
			return nil
		}
	}
}

func (w *Watcher) listen(ctx context.Context) error {
	pooled, err := w.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	conn := pooled.Hijack()                      // a listening session must not go back to the pool
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the connection is not used again
	l := &listening{Watcher: w, conn: conn, channels: map[string]bool{}}
	for {
		if err := l.poll(ctx); err != nil {
			return err
		}
		for next := time.Now().Add(pollEvery); time.Now().Before(next); {
			within, cancel := context.WithDeadline(ctx, next)
			n, err := conn.WaitForNotification(within)
			waited := within.Err() != nil
			cancel()
			again := false
			switch {
			case err == nil:
				if again, err = l.hear(n); err != nil {
					return err
				}
			case ctx.Err() != nil:
				return ctx.Err()
			case !waited:
				return fmt.Errorf("wait for a notification: %w", err)
			}
			if again {
				break
			}
		}
	}
}

// listening is a session that listens.
type listening struct {
	*Watcher
	conn     *pgx.Conn
	channels map[string]bool // that it listens to
}

// switched is the payload by which a promotion makes watchers poll.
const switched = "switched"

// hear applies a notification. It reports whether to poll again.
func (l *listening) hear(n *pgconn.Notification) (again bool, err error) {
	switch n.Payload {
	case switched:
		return true, nil
	case announcement:
		if n.PID != l.conn.PgConn().PID() {
			l.others.joined()
		}
		return false, nil
	}
	heard, superseded, err := readNotice(n.Payload)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	inPeer := l.peer.name != "" && n.Channel == channel(l.peer.name)
	l.mu.Unlock()
	if superseded && !inPeer && !l.hasPeer() {
		return true, nil // this process does not know yet that it has one
	}
	l.apply(heard, inPeer)
	return l.Behind(), nil // notifications do not show that a rebuild has caught up
}

// Behind reports whether the read model is missing or behind a position that this
// watcher has seen, because it was dropped or restored and is being rebuilt.
// Reads would then lack rows that earlier reads had.
func (w *Watcher) Behind() bool { return w.lost.Load() }

// pollTimeout bounds a poll. A session in which one takes longer, as with a server that
// is gone without a word, is replaced.
const pollTimeout = 5 * time.Second

// poll reads the offsets: at the start of a session, and for lost notifications. It also
// finds out that the read model was lost, and whether it has a peer.
func (l *listening) poll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	err := l.readOffsets(ctx)
	if sqlstate.IsMissing(err) {
		l.lost.Store(true)
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	behind := false
	for _, part := range l.parts {
		behind = behind || part.next < part.high
	}
	l.lost.Store(behind)
	return nil
}

// readOffsets reads the offsets before it asks which read model is live. So if it is this
// one, the offsets are of before any promotion that this process does not know of.
func (l *listening) readOffsets(ctx context.Context) error {
	if len(l.channels) == 0 {
		if _, _, err := l.lookUp(ctx, false); err != nil {
			return err
		}
	}
	before := l.position() // commits of this process can overtake the query
	p, own, err := l.lookUp(ctx, true)
	if err != nil {
		return err
	}
	var there Position
	if p.name != "" {
		there, err = readPosition(ctx, l.conn, p.schema)
		if sqlstate.IsMissing(err) && p.schema != Live { // it was dropped
			l.forsake()
			err = nil
		}
		if err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, next := range before {
		if own[key] < next { // the read model was lost; the records are judged again
			part := l.part(key)
			part.next, part.own = own[key], own[key]
		}
	}
	for _, side := range []struct {
		at     Position
		inPeer bool
	}{{own, false}, {there, true}} {
		for key, next := range side.at {
			l.reach(judgedTo{family: key.family, partition: key.partition, next: next, ask: true}, side.inPeer)
		}
	}
	return nil
}

// lookUp asks which read models there are, and listens to what is said of them. With
// position, the same batch reads the position of the own one first.
func (l *listening) lookUp(ctx context.Context, position bool) (found peer, own Position, err error) {
	asked, reads := time.Now(), &pgx.Batch{}
	if position {
		reads.Queue(positionIn("")).Query(func(rows pgx.Rows) (err error) {
			own, err = collectPosition(rows)
			return err
		})
	}
	var schema, comment, live string
	reads.Queue(`
		SELECT nspname, coalesce(obj_description(oid, 'pg_namespace'), ''),
			coalesce((SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1), '')
		FROM pg_namespace WHERE oid = (SELECT relnamespace FROM pg_class WHERE oid = 'offsets'::regclass)`, Live).QueryRow(
		func(row pgx.Row) error { return row.Scan(&schema, &comment, &live) })
	if err := l.conn.SendBatch(ctx, reads).Close(); err != nil {
		return peer{}, nil, fmt.Errorf("look for the read models: %w", err)
	}
	fingerprint, _ := ReadMark(comment)
	livePrint, _ := ReadMark(live)
	name := NameOf(fingerprint)
	if schema != Live && !isName(schema) {
		name = schema // it was never live
	}
	found = l.found(name, schema, NameOf(livePrint), asked)
	for _, name := range []string{name, found.name} {
		if name == "" || l.channels[name] {
			continue
		}
		if err := l.announce(ctx, l.conn, name, len(l.channels) == 0); err != nil {
			return found, nil, err
		}
		l.channels[name] = true
	}
	return found, own, nil
}
