package facts

import (
	"context"
	"fmt"
	"time"

	"netsim/events"
)

// At returns the record at a position of the log, which may not be a fact. It is for
// tools that are given positions; subscribers use a Reader.
func At(ctx context.Context, log interface {
	Topic(family events.Family) string
	Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
}, at events.Position,
) (events.Record, error) {
	records, _, err := log.Read(ctx, log.Topic(at.Family), at.Partition, at.Offset, 1, 0)
	if err != nil {
		return events.Record{}, fmt.Errorf("read the record at %s/%d@%d: %w", at.Family, at.Partition, at.Offset, err)
	}
	if len(records) == 0 || records[0].Offset != at.Offset {
		return events.Record{}, fmt.Errorf("the log has no record at %s/%d@%d", at.Family, at.Partition, at.Offset)
	}
	return records[0], nil
}
