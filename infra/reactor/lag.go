package reactor

import (
	"context"
	"errors"
	"sync"
	"time"

	"netsim/events"
	"netsim/infra/eventlog"
)

const (
	lagAge     = 500 * time.Millisecond // after which the lag is measured again
	lagStale   = 2 * time.Second        // after which a measurement is not used
	lagTimeout = time.Second            // of a measurement
	lagWait    = 200 * time.Millisecond // how long a caller waits for a measurement
)

// errUnmeasured says that the broker did not answer in time.
var errUnmeasured = errors.New("the lag could not be measured")

// LagLog is what a Lag needs of the event log.
type LagLog interface {
	GroupOffsets(ctx context.Context, group, topic string, partitions int32) ([]eventlog.GroupOffset, error)
	Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
}

// Lag measures, in any process, how far a handler is behind the facts: it
// compares what the handler's groups have committed with what has been judged.
// They commit once a second, so the measured lag can be up to a second too high.
// Safe for concurrent use.
type Lag struct {
	Log      LagLog
	Prefix   string // of topic names; "" is "netsim."
	Handler  string
	Families map[events.Family]int32                           // of the handler, with their partitions
	Next     func(family events.Family, partition int32) int64 // the first offset that is not judged
	Now      func() time.Time

	mu   sync.Mutex
	last measurement
	next chan struct{} // closed when the measurement under way ends; nil when none is
}

// measurement is what the groups had committed at a time.
type measurement struct {
	at     time.Time                 // zero before the first one
	done   map[events.Family][]int64 // the first offset of each partition that was not committed
	oldest time.Time                 // when the oldest uncommitted fact was recorded; zero for none
	err    error
}

// Behind returns the age in the log of the oldest fact that the handler has not
// reacted to; 0 when it has reacted to all that are judged. It asks the broker
// only when more is judged than was committed at the last measurement, at most
// twice a second. A broker that does not answer delays a caller by at most
// lagWait, and Behind returns an error.
func (l *Lag) Behind(ctx context.Context) (time.Duration, error) {
	l.mu.Lock()
	if l.last.err == nil && l.caughtUp() {
		l.mu.Unlock()
		return 0, nil
	}
	if l.next == nil && l.Now().Sub(l.last.at) >= lagAge {
		l.next = make(chan struct{})
		go l.renew(context.WithoutCancel(ctx))
	}
	next := l.next
	l.mu.Unlock()
	if next != nil {
		enough := time.NewTimer(lagWait)
		defer enough.Stop()
		select {
		case <-next:
		case <-enough.C:
		case <-ctx.Done():
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch now := l.Now(); {
	case l.last.err != nil:
		return 0, l.last.err
	case l.caughtUp():
		return 0, nil
	case now.Sub(l.last.at) >= lagStale:
		return 0, errUnmeasured
	case l.last.oldest.IsZero(): // all open facts are newer than the measurement
		return now.Sub(l.last.at), nil
	default:
		return now.Sub(l.last.oldest), nil
	}
}

// renew measures and wakes the waiting callers.
func (l *Lag) renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	at := l.Now()
	m, err := l.measure(ctx)
	m.at, m.err = at, err
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = m
	close(l.next)
	l.next = nil
}

// caughtUp reports whether all judged facts were committed.
func (l *Lag) caughtUp() bool {
	for family, done := range l.last.done {
		for partition, at := range done {
			if at < l.Next(family, int32(partition)) {
				return false
			}
		}
	}
	return l.last.done != nil
}

func (l *Lag) measure(ctx context.Context) (m measurement, err error) {
	m.done = map[events.Family][]int64{}
	for family, partitions := range l.Families {
		topic := prefixOf(l.Prefix) + string(family)
		committed, err := l.Log.GroupOffsets(ctx, GroupOf(l.Prefix, l.Handler, family), topic, partitions)
		if err != nil {
			return measurement{}, err
		}
		m.done[family] = make([]int64, partitions)
		for partition, offset := range committed {
			at := offset.Next
			m.done[family][partition] = at
			if at >= l.Next(family, int32(partition)) {
				continue
			}
			first, _, err := l.Log.Read(ctx, topic, int32(partition), at, 1, 0)
			if err != nil {
				return measurement{}, err
			}
			if len(first) > 0 && (m.oldest.IsZero() || first[0].Time.Before(m.oldest)) {
				m.oldest = first[0].Time
			}
		}
	}
	return m, nil
}
