package eventlog

import (
	"context"
	"time"

	"netsim/events"
)

// Reader reads records, as Kafka.Read does.
type Reader interface {
	Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error)
}

// Age returns the age of the record at an offset, 0 when there is none.
func Age(ctx context.Context, log Reader, topic string, partition int32, offset int64, now time.Time) (time.Duration, error) {
	records, _, err := log.Read(ctx, topic, partition, offset, 1, 0)
	if err != nil || len(records) == 0 {
		return 0, err
	}
	return max(now.Sub(records[0].Time), 0), nil
}
