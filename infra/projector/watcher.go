package projector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/internal/sqlstate"
	"netsim/internal/wait"
)

// Watcher waits for verdicts, in any process with a connection to the read model.
type Watcher struct {
	pool   *pgxpool.Pool
	schema string
	log    *slog.Logger
	lost   atomic.Bool // the last poll found no read model, or one behind
	others audience

	mu        sync.Mutex
	parts     map[partitionKey]*judged
	listeners []*listener
}

type partitionKey struct {
	family    events.Family
	partition int32
}

// judged is how far a partition is judged, and the callers that wait for more.
type judged struct {
	next    int64
	high    int64                           // the largest next so far; beyond next when the read model was lost
	waiters map[int64][]chan events.Verdict // by offset
	rejections
}

// NewWatcher returns a watcher of the read model in schema ("" is Live). It
// answers once Run runs.
func NewWatcher(pool *pgxpool.Pool, schema string, log *slog.Logger) *Watcher {
	if schema == "" {
		schema = Live
	}
	return &Watcher{pool: pool, schema: schema, log: log, parts: map[partitionKey]*judged{}}
}

// pollEvery bounds how long a lost notification delays a verdict.
const pollEvery = 250 * time.Millisecond

// Verdict waits until the record at the position has been judged.
func (w *Watcher) Verdict(ctx context.Context, at events.Position) (events.Verdict, error) {
	for {
		verdict, err := w.hear(ctx, at)
		if verdict == "" && err == nil {
			verdict, err = w.readVerdict(ctx, at)
		}
		if verdict != "" || err != nil {
			return verdict, err
		}
	}
}

// hear waits until the record is judged. It returns "" when the verdict is in the
// table.
func (w *Watcher) hear(ctx context.Context, at events.Position) (events.Verdict, error) {
	w.mu.Lock()
	part := w.part(partitionKey{at.Family, at.Partition})
	if at.Offset < part.next {
		w.mu.Unlock()
		return "", nil
	}
	answer := make(chan events.Verdict, 1)
	part.waiters[at.Offset] = append(part.waiters[at.Offset], answer)
	w.mu.Unlock()
	select {
	case verdict := <-answer:
		return verdict, nil
	case <-ctx.Done():
		w.forget(at, answer)
		return "", fmt.Errorf("wait for the verdict on %s/%d@%d: %w", at.Family, at.Partition, at.Offset, ctx.Err())
	}
}

// Await waits until the read model has reached the position.
func (w *Watcher) Await(ctx context.Context, to Position) error {
	for key, next := range to {
		for w.Next(key.family, key.partition) < next {
			if _, err := w.hear(ctx, events.Position{Family: key.family, Partition: key.partition, Offset: next - 1}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Position returns how far the partitions are judged, as far as this watcher knows.
func (w *Watcher) Position() Position { return w.position() }

// Next returns the first offset of the partition that is not judged, as far as
// this watcher knows.
func (w *Watcher) Next(family events.Family, partition int32) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.part(partitionKey{family, partition}).next
}

// Waiting returns how many waits for a verdict are under way.
func (w *Watcher) Waiting() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, part := range w.parts {
		for _, waiters := range part.waiters {
			n += len(waiters)
		}
	}
	return n
}

func (w *Watcher) part(key partitionKey) *judged {
	part := w.parts[key]
	if part == nil {
		part = &judged{waiters: map[int64][]chan events.Verdict{}}
		w.parts[key] = part
	}
	return part
}

func (w *Watcher) forget(at events.Position, answer chan events.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiters := w.part(partitionKey{at.Family, at.Partition}).waiters
	for i, other := range waiters[at.Offset] {
		if other == answer {
			waiters[at.Offset] = append(waiters[at.Offset][:i], waiters[at.Offset][i+1:]...)
		}
	}
	if len(waiters[at.Offset]) == 0 {
		delete(waiters, at.Offset)
	}
}

// readVerdict reads the verdict of a record that has been judged. It returns "" when
// the read model has lost the verdict and the record will be judged again.
func (w *Watcher) readVerdict(ctx context.Context, at events.Position) (events.Verdict, error) {
	var next int64
	var verdict events.Verdict
	err := w.pool.QueryRow(ctx, fmt.Sprintf(`
		SELECT o.next, coalesce(r.verdict, $4) FROM %[1]s.offsets o
		LEFT JOIN %[1]s.rejected r ON r.family = o.family AND r.partition = o.partition AND r."offset" = $3
		WHERE o.family = $1 AND o.partition = $2`, pgx.Identifier{w.schema}.Sanitize()),
		at.Family, at.Partition, at.Offset, events.Accepted).Scan(&next, &verdict)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return "", fmt.Errorf("look the verdict up: %w", err)
	case next > at.Offset:
		return verdict, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	part := w.part(partitionKey{at.Family, at.Partition})
	part.next = min(part.next, next) // poll corrects it when a commit has overtaken the query
	return "", nil
}

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
	if err := w.announce(ctx, conn); err != nil {
		return err
	}
	for {
		if err := w.poll(ctx, conn); err != nil {
			return err
		}
		for quiet := false; !quiet; {
			wait, cancel := context.WithTimeout(ctx, pollEvery)
			n, err := conn.WaitForNotification(wait)
			cancel()
			switch {
			case err == nil && n.Payload == announcement:
				if n.PID != conn.PgConn().PID() {
					w.others.joined()
				}
			case err == nil:
				if err := w.applyNotice(n.Payload); err != nil {
					return err
				}
				quiet = w.Behind() // poll again: notifications do not show that a rebuild has caught up
			case ctx.Err() != nil:
				return ctx.Err()
			case wait.Err() != nil:
				quiet = true
			default:
				return fmt.Errorf("wait for a notification: %w", err)
			}
		}
	}
}

// Behind reports whether the read model is missing or behind a position that this
// watcher has seen, because it was dropped or restored and is being rebuilt.
// Reads would then lack rows that earlier reads had.
func (w *Watcher) Behind() bool { return w.lost.Load() }

// pollTimeout bounds a poll. A session in which one takes longer, as with a server that
// is gone without a word, is replaced.
const pollTimeout = 5 * time.Second

// poll reads the offsets: at the start of a session, and for lost notifications.
// It also finds out that the read model was lost.
func (w *Watcher) poll(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	err := w.readOffsets(ctx, conn)
	if sqlstate.IsMissing(err) {
		w.lost.Store(true)
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	behind := false
	for _, part := range w.parts {
		behind = behind || part.next < part.high
	}
	w.lost.Store(behind)
	return nil
}

func (w *Watcher) readOffsets(ctx context.Context, conn *pgx.Conn) error {
	before := w.position() // commits of this process can overtake the query
	at, err := readPosition(ctx, conn, w.schema)
	if err != nil {
		return err
	}
	w.mu.Lock()
	for key, next := range before {
		if at[key] < next {
			w.part(key).next = at[key] // the read model was lost; the records are judged again
		}
	}
	w.mu.Unlock()
	for key, next := range at {
		w.mu.Lock()
		behind := w.part(key).next < next
		w.mu.Unlock()
		if behind {
			w.release(judgedTo{family: key.family, partition: key.partition, next: next, ask: true})
		}
	}
	return nil
}

// position returns how far the partitions are judged, as far as this watcher knows.
func (w *Watcher) position() Position {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := Position{}
	for key, part := range w.parts {
		at[key] = part.next
	}
	return at
}

func (w *Watcher) applyNotice(payload string) error {
	heard, err := readNotice(payload)
	if err != nil {
		return err
	}
	w.apply(heard)
	return nil
}

// apply releases the callers that wait for what was judged. A nil Watcher has
// none.
func (w *Watcher) apply(all []judgedTo) {
	if w == nil {
		return
	}
	for _, to := range all {
		w.release(to)
	}
}

// release answers the callers that wait for an offset before to.next. An empty
// verdict makes them read it from the table.
func (w *Watcher) release(to judgedTo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	part := w.part(partitionKey{to.family, to.partition})
	if to.next > part.next {
		part.add(to)
		part.next = to.next
		part.high = max(part.high, to.next)
		w.notify(to.family)
	}
	for offset, waiters := range part.waiters {
		if offset >= to.next {
			continue
		}
		verdict := events.Accepted
		if to.ask || offset < to.from { // of a commit whose notice was overtaken
			verdict = ""
		} else if other, ok := to.rejected[offset]; ok {
			verdict = other
		}
		for _, answer := range waiters {
			answer <- verdict
		}
		delete(part.waiters, offset)
	}
}
