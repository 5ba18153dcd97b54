package projector

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/eventlog"
)

// Lag is how far the read model is behind in a partition.
type Lag struct {
	Family    events.Family
	Partition int32
	Records   int64     // not judged
	Oldest    time.Time // when the first of them was appended; zero if there is none
}

// Age returns how long ago the oldest record was appended; 0 if there is none.
func (l Lag) Age(now time.Time) time.Duration {
	if l.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(l.Oldest))
}

// MeasureLag measures how far the read model is behind the described log, in every
// partition. next returns the first offset that is not judged. Any process can
// call it.
func MeasureLag(ctx context.Context, log Log, described eventlog.Description, next func(events.Family, int32) int64) ([]Lag, error) {
	var all []Lag
	var from []int64
	for _, topic := range described.Topics {
		for i, part := range topic.Partitions {
			at := next(topic.Family, int32(i))
			from = append(from, at)
			all = append(all, Lag{Family: topic.Family, Partition: int32(i), Records: max(0, part.End-at)})
		}
	}
	reads, ctx := errgroup.WithContext(ctx)
	for i := range all {
		at := &all[i]
		if at.Records == 0 {
			continue
		}
		reads.Go(func() error {
			first, _, err := log.Read(ctx, described.TopicName(at.Family), at.Partition, from[i], 1, 0)
			if err != nil {
				return fmt.Errorf("read the oldest record of %s/%d that is not judged: %w", at.Family, at.Partition, err)
			}
			if len(first) > 0 {
				at.Oldest = first[0].Time
			}
			return nil
		})
	}
	return all, reads.Wait()
}
