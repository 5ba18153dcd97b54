package reactor

import (
	"context"
	"sync"
	"time"

	"netsim/events"
)

const (
	lagAge     = 500 * time.Millisecond // for which a measurement is of use
	lagTimeout = time.Second            // of a measurement
)

// LagLog is what a Lag needs of the journal.
type LagLog interface {
	Committed(ctx context.Context, group, topic string, partitions int32) ([]int64, error)
	Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
}

// Lag measures, in any process, how far a handler is behind the facts: it
// compares what the handler's groups have committed with what has been judged.
// They commit once a second, so a lag of up to a second can be over already.
// Safe for concurrent use.
type Lag struct {
	Log      LagLog
	Prefix   string // of topic names; "" is "netsim."
	Handler  string
	Families map[events.Family]int32                           // of the handler, with their partitions
	Next     func(family events.Family, partition int32) int64 // the first offset that is not judged
	Now      func() time.Time

	mu       sync.Mutex
	measured time.Time                 // zero before the first time
	done     map[events.Family][]int64 // what was committed then
	oldest   time.Time                 // when the oldest fact was recorded that was not; zero for none
	err      error
}

// Behind returns for how long the oldest fact has been in the log that the
// handler has not reacted to; 0 when it has reacted to everything that is
// judged now. It asks the broker only when there is more than was committed at
// the last time, at most twice a second, and waits for a second at most.
func (l *Lag) Behind(ctx context.Context) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.measured.IsZero() && l.err == nil && l.caughtUp() {
		return 0, nil
	}
	if l.measured.IsZero() || l.Now().Sub(l.measured) >= lagAge {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lagTimeout)
		defer cancel()
		l.measured = l.Now()
		l.err = l.measure(ctx)
	}
	switch {
	case l.err != nil:
		return 0, l.err
	case l.caughtUp():
		return 0, nil
	case l.oldest.IsZero(): // everything that is not done has come since
		return l.Now().Sub(l.measured), nil
	}
	return l.Now().Sub(l.oldest), nil
}

// caughtUp reports whether nothing is judged that was not committed.
func (l *Lag) caughtUp() bool {
	for family, done := range l.done {
		for partition, at := range done {
			if at < l.Next(family, int32(partition)) {
				return false
			}
		}
	}
	return true
}

func (l *Lag) measure(ctx context.Context) error {
	l.done, l.oldest = map[events.Family][]int64{}, time.Time{}
	for family, partitions := range l.Families {
		topic := prefixOf(l.Prefix) + string(family)
		done, err := l.Log.Committed(ctx, groupOf(l.Prefix, l.Handler, family), topic, partitions)
		if err != nil {
			return err
		}
		l.done[family] = done
		for partition, at := range done {
			if at >= l.Next(family, int32(partition)) {
				continue
			}
			first, _, err := l.Log.Read(ctx, topic, int32(partition), at, 1, 0)
			if err != nil {
				return err
			}
			if len(first) > 0 && (l.oldest.IsZero() || first[0].Time.Before(l.oldest)) {
				l.oldest = first[0].Time
			}
		}
	}
	return nil
}
