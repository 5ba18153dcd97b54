package export

import (
	"context"

	"netsim/events"
	"netsim/infra/facts"
)

// Log is the log at one moment.
type Log struct {
	Cluster string // id of the Kafka cluster
	Topics  []Topic
}

// Topic is the topic of a family.
type Topic struct {
	Family   events.Family
	Name, ID string
	Ends     []int64 // by partition: the offset after the last record
}

func (l Log) topic(family events.Family) *Topic {
	for i := range l.Topics {
		if l.Topics[i].Family == family {
			return &l.Topics[i]
		}
	}
	return nil
}

// Reader reads facts. facts.Reader implements it.
type Reader interface {
	Next(ctx context.Context, family events.Family, partition int32, from int64) (facts.Batch, error)
}
