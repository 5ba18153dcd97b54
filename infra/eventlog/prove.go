package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"netsim/events"
)

// RecordReader reads records as Kafka.Read does.
type RecordReader interface {
	Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
}

// Prove reads the record before an anchor in a partition of a topic. It returns "" if
// that is the anchor's record, and else what it found: then the partition is not the one
// in which the anchor was made, or has lost records. Only the record decides: a copy of
// the log has the same records in topics with other ids.
func Prove(ctx context.Context, log RecordReader, topic string, partition int32, a events.Anchor) (other string, err error) {
	if a.Next == 0 {
		return "", nil
	}
	records, end, err := log.Read(ctx, topic, partition, a.Next-1, 1, 0)
	switch {
	case end < a.Next && (err == nil || errors.Is(err, ErrOutOfRange)):
		return fmt.Sprintf("partition %d of %s ends at offset %d, it was seen up to %d: the log lost its tail", partition, topic, end, a.Next), nil
	case err != nil:
		return "", fmt.Errorf("read the record before offset %d of %s/%d: %w", a.Next, topic, partition, err)
	case len(records) == 0 || a.Last != (events.Sum{}) && events.SumOf(&records[0]) != a.Last:
		return fmt.Sprintf("the record at offset %d of %s/%d is not the one that was seen", a.Next-1, topic, partition), nil
	}
	return "", nil
}
