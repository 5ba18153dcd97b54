package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"netsim/fault"
	"netsim/infra/wait"
)

// Reason is why a feed ended.
type Reason string

// The reasons.
const (
	Slow         Reason = "slow"         // the client did not read as fast as facts came
	Lifetime     Reason = "lifetime"     // the feed's context reached its deadline
	Shutdown     Reason = "shutdown"     // the process ends
	Unavailable  Reason = "unavailable"  // the log or the read model cannot be read
	Unauthorized Reason = "unauthorized" // the client may no longer read
	Gone         Reason = "gone"         // the client left
)

var reasons = [...]Reason{Slow, Lifetime, Shutdown, Unavailable, Unauthorized, Gone} //nolint:gochecknoglobals // a constant list

// Feed sends facts to one client. Only one goroutine may use it.
type Feed struct {
	hub     *Hub
	query   Query
	parts   []part
	index   map[part]int
	offsets []int64 // the position
	to      []int64 // where history ends and the queue begins; nil before the feed has joined
	live    bool    // whether the history is read
	began   bool    // whether the first position is sent
	turn    int     // the partition whose history was read last
	text    []byte  // the encoded position
	checked time.Time
	sent    time.Time // of the last message
	drained time.Time

	wake chan struct{} // buffered, 1
	half chan struct{} // buffered, 1; has a value when the queue is half full

	// Guarded by the hub.
	joined bool
	queue  []*Entry
	bytes  int
	reason Reason // why the feed ends, "" while it does not
}

// Open returns a feed. The caller closes it. The error is Validation for a position
// that cannot be resumed from and for a query that touches too many partitions, and
// Unavailable when the hub has ended or the log does not answer.
func (h *Hub) Open(ctx context.Context, q Query, start Start) (*Feed, error) {
	f := &Feed{hub: h, query: q, parts: q.parts(h.Partitions), index: map[part]int{}, wake: make(chan struct{}, 1), half: make(chan struct{}, 1)}
	if len(f.parts) > MaxParts {
		return nil, fault.New(fault.Validation, "the events are in %d partitions; a feed reads at most %d: name a family or a workspace", len(f.parts), MaxParts)
	}
	for i, at := range f.parts {
		f.index[at] = i
	}
	if err := f.begin(ctx, start); err != nil {
		return nil, err
	}
	f.checked, f.sent = h.Now(), h.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended || h.running == nil {
		return nil, errEnding()
	}
	h.feeds[f] = true
	return f, nil
}

// Close ends the feed. It may be called twice.
func (f *Feed) Close() { f.hub.leave(f) }

// begin finds the first position.
func (f *Feed) begin(ctx context.Context, start Start) (err error) {
	switch {
	case start.Position != nil:
		if f.offsets, err = readPosition(start.Position, len(f.parts)); err != nil {
			return resumable(err)
		}
		return f.awaitOffsets(ctx)
	case start.Offsets == nil && !start.Since.IsZero():
		return f.seek(ctx, start.Since)
	}
	for _, at := range f.parts {
		offset, ok := start.Offsets.of(at)
		if !ok {
			offset = f.hub.Verdicts.Next(at.family, at.partition)
		}
		f.offsets = append(f.offsets, offset)
	}
	if err := f.awaitOffsets(ctx); err != nil { // not refused, because a client did not make it up
		return &fault.Fault{Code: fault.Unavailable, Message: "the events before the position are not read yet", RetryAfter: time.Second, Cause: err}
	}
	return nil
}

// behindFor is how long a process may be behind another one that has sent a position.
const behindFor = 3 * time.Second

// awaitOffsets waits until this process knows all records before the position.
func (f *Feed) awaitOffsets(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, behindFor)
	defer cancel()
	for i, at := range f.parts {
		for f.hub.Verdicts.Next(at.family, at.partition) < f.offsets[i] {
			if wait.For(ctx, 10*time.Millisecond) != nil {
				return resumable(errPosition)
			}
		}
	}
	return nil
}

// seek sets the position to the first facts that were recorded at a time.
func (f *Feed) seek(ctx context.Context, since time.Time) error {
	for i := 0; i < len(f.parts); {
		family := f.parts[i].family
		found, err := f.hub.Log.OffsetsAt(ctx, f.hub.Log.Topic(family), since)
		if err != nil {
			return &fault.Fault{Code: fault.Unavailable, Message: "the log cannot be searched now", RetryAfter: time.Second, Cause: err}
		}
		for ; i < len(f.parts) && f.parts[i].family == family; i++ {
			if int(f.parts[i].partition) >= len(found) {
				return fmt.Errorf("partition %d of %s has no offset at %s", f.parts[i].partition, family, since)
			}
			f.offsets = append(f.offsets, found[f.parts[i].partition])
		}
	}
	return nil
}

// Next waits for facts, or for a heartbeat, and calls send for each message: with a fact
// and the position after it, or with nil and the position. send must not keep the
// position. Next returns why the feed ends, or "".
func (f *Feed) Next(ctx context.Context, send func(e *Entry, position []byte)) Reason {
	count := int64(0)
	deliver := func(e *Entry) {
		if e != nil {
			count++
		}
		f.text = appendPosition(f.text[:0], f.offsets)
		send(e, f.text)
		f.sent = f.hub.Now()
	}
	reason := f.next(ctx, deliver)
	f.hub.sent.Add(count)
	if reason != "" {
		f.hub.reasons[slices.Index(reasons[:], reason)].Add(1)
	}
	return reason
}

// Position returns the encoded position.
func (f *Feed) Position() []byte { return appendPosition(nil, f.offsets) }

// Offsets returns the position by partition.
func (f *Feed) Offsets() Offsets { return offsetsOf(f.parts, f.offsets) }

func (f *Feed) next(ctx context.Context, deliver func(*Entry)) Reason {
	if !f.began {
		f.began = true
		deliver(nil)
		return ""
	}
	for {
		if reason := f.check(ctx); reason != "" {
			return reason
		}
		before := f.sent
		var err error
		if f.live {
			err = f.await(ctx)
			if reason := f.drain(deliver); reason != "" {
				return reason
			}
		} else if reason := f.asked(); reason != "" {
			return reason // what is queued comes after history that is not read
		} else {
			err = f.catchUp(ctx, deliver)
		}
		switch {
		case ctx.Err() != nil:
			return ended(ctx)
		case err != nil:
			f.hub.failed.Add(1)
			f.hub.Logger.WarnContext(ctx, "a feed ends because its history cannot be read", "error", err)
			return Unavailable
		case f.sent != before:
			return ""
		case f.hub.Now().Sub(f.sent) >= f.hub.Heartbeat:
			deliver(nil)
			return ""
		}
	}
}

// ended returns the reason of a context that has ended.
func ended(ctx context.Context) Reason {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Lifetime
	}
	return Gone
}

// check checks from time to time whether the client may still read.
func (f *Feed) check(ctx context.Context) Reason {
	now := f.hub.Now()
	if now.Sub(f.checked) < f.hub.Heartbeat {
		return ""
	}
	f.checked = now
	err := f.query.Check(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return ""
	case fault.Is(err, fault.Unavailable):
		return Unavailable
	}
	return Unauthorized
}

// await waits until the feed is woken or a heartbeat is due.
func (f *Feed) await(ctx context.Context) error {
	alive := time.NewTimer(f.quiet())
	defer alive.Stop()
	select {
	case <-ctx.Done():
	case <-alive.C:
	case <-f.wake:
		if rest := f.hub.pace() - f.hub.Now().Sub(f.drained); rest > 0 {
			pause := time.NewTimer(rest)
			defer pause.Stop()
			select {
			case <-pause.C:
			case <-f.half:
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// pace returns the shortest time between two writes to a client. It grows with the
// number of feeds, so that all of them together write a bounded number of times a
// second: a write costs more than the facts in it.
func (h *Hub) pace() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(h.Pace, time.Duration(len(h.feeds))*time.Second/time.Duration(h.Writes))
}

// quiet returns how long the feed may wait until it sends a heartbeat or checks the
// client's rights.
func (f *Feed) quiet() time.Duration {
	oldest := f.sent
	if f.checked.Before(oldest) {
		oldest = f.checked
	}
	return max(0, f.hub.Heartbeat-f.hub.Now().Sub(oldest))
}

// drain sends what is queued.
func (f *Feed) drain(deliver func(*Entry)) Reason {
	h := f.hub
	h.mu.Lock()
	queue, reason := f.queue, f.reason
	f.queue, f.bytes = nil, 0
	select {
	case <-f.half:
	default:
	}
	published := make([]int64, len(f.parts))
	if reason != Slow { // else facts were published that are not queued
		for i, at := range f.parts {
			published[i] = h.followers[at].next
		}
	}
	h.mu.Unlock()
	for _, e := range queue {
		i := f.index[e.part]
		if e.next <= f.offsets[i] {
			continue // the position was ahead of the follower
		}
		f.offsets[i] = e.next
		deliver(e)
	}
	for i := range published {
		f.offsets[i] = max(f.offsets[i], published[i])
	}
	f.drained = h.Now()
	return reason
}

// pushLocked queues a fact and wakes the feed. A feed whose queue is full ends.
func (f *Feed) pushLocked(e *Entry) {
	if f.reason != "" {
		return
	}
	if len(f.queue) >= maxQueued || f.bytes > 0 && f.bytes+len(e.JSON) > f.hub.Buffer {
		f.endLocked(Slow)
		return
	}
	f.queue = append(f.queue, e)
	f.bytes += len(e.JSON)
	signal(f.wake)
	if f.bytes > f.hub.Buffer/2 || len(f.queue) > maxQueued/2 {
		signal(f.half)
	}
}

func (f *Feed) endLocked(reason Reason) {
	if f.reason == "" {
		f.reason = reason
	}
	signal(f.wake)
}

// signal sends a value unless one is waiting.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
