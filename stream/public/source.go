package public

import (
	"fmt"
	"strconv"

	"netsim/events"
)

// Source is the position of a public fact in the log.
type Source struct {
	Topic     string
	Partition int32
	Offset    int64
}

// SourceOf returns the source position of a record of a public topic.
func SourceOf(m *events.Message) (Source, error) {
	var s Source
	var partition, offset string
	for i := range m.Headers {
		switch h := &m.Headers[i]; h.Key {
		case SourceTopic:
			s.Topic = string(h.Value)
		case SourcePartition:
			partition = string(h.Value)
		case SourceOffset:
			offset = string(h.Value)
		}
	}
	number, err := strconv.ParseInt(partition, 10, 32)
	if err != nil || s.Topic == "" {
		return Source{}, fmt.Errorf("no position in the log: topic %q, partition %q, offset %q", s.Topic, partition, offset)
	}
	s.Partition = int32(number)
	if s.Offset, err = strconv.ParseInt(offset, 10, 64); err != nil {
		return Source{}, fmt.Errorf("no position in the log: topic %q, partition %q, offset %q", s.Topic, partition, offset)
	}
	return s, nil
}
