package facts

import (
	"bytes"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"netsim/events"
)

const (
	pickGap     = 128 // offsets between two records that are read together
	picksAtOnce = 8
)

// Pick reads the records at ascending offsets of a partition, which must be judged.
// Records that are near each other are read together, and several of such ranges at a
// time. The records share no memory with what was read beside them.
func Pick(ctx context.Context, log Log, family events.Family, partition int32, offsets []int64) ([]events.Record, error) {
	picked := make([]events.Record, len(offsets))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(picksAtOnce)
	for first := 0; first < len(offsets); {
		end := first + 1
		for end < len(offsets) && offsets[end]-offsets[end-1] <= pickGap {
			end++
		}
		near, into := offsets[first:end], picked[first:end]
		group.Go(func() error { return pickNear(ctx, log, family, partition, near, into) })
		first = end
	}
	return picked, group.Wait()
}

// pickNear reads a range of the log up to the last offset.
func pickNear(ctx context.Context, log Log, family events.Family, partition int32, offsets []int64, into []events.Record) error {
	most := fetchBytes
	if len(offsets) == 1 {
		most = 1 // one batch
	}
	for len(offsets) > 0 {
		records, _, err := log.Recall(ctx, log.Topic(family), partition, offsets[0], most, fetchWait)
		if err != nil {
			return fmt.Errorf("read the record at %s/%d@%d: %w", family, partition, offsets[0], err)
		}
		found := 0
		for i := 0; i < len(records) && found < len(offsets); i++ {
			if records[i].Offset == offsets[found] {
				into[found] = copyOf(&records[i])
				found++
			}
		}
		if found == 0 {
			return fmt.Errorf("the log has no record at %s/%d@%d", family, partition, offsets[0])
		}
		offsets, into = offsets[found:], into[found:]
	}
	return nil
}

func copyOf(r *events.Record) events.Record {
	c := *r
	c.Key, c.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	c.Headers = make([]events.Header, len(r.Headers))
	for i, h := range r.Headers {
		c.Headers[i] = events.Header{Key: h.Key, Value: bytes.Clone(h.Value)}
	}
	return c
}
