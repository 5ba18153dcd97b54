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
)

// Watcher waits for verdicts, in any process with a connection to the read model.
type Watcher struct {
	pool   *pgxpool.Pool
	log    *slog.Logger
	lost   atomic.Bool // the last poll found no read model, or one behind
	others audience

	mu        sync.Mutex
	own       string // the name of the read model; "" before the first poll
	peer      peer
	confirmed time.Time     // when the poll was sent that last found out whether there is a peer
	polled    chan struct{} // closed at the next such poll
	parts     map[partitionKey]*judged
	listeners []*listener
}

type partitionKey struct {
	family    events.Family
	partition int32
}

// judged is how far a partition is judged, and the callers that wait for more.
type judged struct {
	next    int64                           // in the read model and in its peer
	own     int64                           // in the read model
	peer    int64                           // in its peer
	high    int64                           // the largest next so far; beyond next when the read model was lost
	waiters map[int64][]chan events.Verdict // by offset
	rejections
}

// NewWatcher returns a watcher of the read model that the sessions of the pool serve. It
// answers once Run runs.
func NewWatcher(pool *pgxpool.Pool, log *slog.Logger) *Watcher {
	return &Watcher{pool: pool, log: log, parts: map[partitionKey]*judged{}, polled: make(chan struct{})}
}

// pollEvery bounds how long a lost notification delays a verdict. It is less than knownFor.
const pollEvery = 500 * time.Millisecond

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

// hear waits until the record is judged. It returns "" when the verdict must be read from
// the table.
func (w *Watcher) hear(ctx context.Context, at events.Position) (events.Verdict, error) {
	w.mu.Lock()
	part := w.part(partitionKey{at.Family, at.Partition})
	if at.Offset < part.next { // the notice came before the broker's answer to the append
		verdict := part.verdict(at.Offset)
		w.mu.Unlock()
		return verdict, nil
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
	err := w.pool.QueryRow(ctx, `
		SELECT o.next, coalesce(r.verdict, $4) FROM offsets o
		LEFT JOIN rejected r ON r.family = o.family AND r.partition = o.partition AND r."offset" = $3
		WHERE o.family = $1 AND o.partition = $2`,
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
	part.next, part.own = min(part.next, next), min(part.own, next) // poll corrects it when a commit has overtaken the query
	return "", nil
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

// committed releases the callers that wait for what this process has judged. A nil Watcher
// has none. Verdicts of a superseded read model wait until a poll has found its peer.
func (w *Watcher) committed(all []judgedTo, superseded bool) {
	if w == nil || superseded && !w.hasPeer() {
		return
	}
	w.apply(all, false)
}

// apply releases the callers that wait for what was judged, in the read model or in its
// peer.
func (w *Watcher) apply(all []judgedTo, inPeer bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, to := range all {
		w.reach(to, inPeer)
	}
}

// reach notes how far a partition is judged. A record counts once it is judged in the read
// model and in its peer. The caller holds the lock.
func (w *Watcher) reach(to judgedTo, inPeer bool) {
	part := w.part(partitionKey{to.family, to.partition})
	if inPeer {
		part.peer = max(part.peer, to.next)
	} else {
		part.own = max(part.own, to.next)
	}
	next := part.own
	if w.peer.name != "" {
		next = min(part.own, part.peer)
	}
	to.ask = to.ask || next <= to.from || next > to.next
	to.next = next
	w.release(to)
}

// release answers the callers that wait for an offset before to.next. An empty
// verdict makes them read it from the table. The caller holds the lock.
func (w *Watcher) release(to judgedTo) {
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
