package publisher

import (
	"github.com/IBM/sarama"

	"netsim/infra/facts"
	"netsim/stream/public"
)

// headerNames has the names of the headers as bytes.
type headerNames map[string][]byte

func newHeaderNames() headerNames {
	names := headerNames{}
	for _, a := range public.Attributes() {
		names[a.Header] = []byte(a.Header)
	}
	return names
}

// record returns the public record of a fact.
func (n headerNames) record(f *facts.Fact, topic, source string, partition int32) *sarama.ProducerMessage {
	m := public.Message(f, source)
	headers := make([]sarama.RecordHeader, len(m.Headers))
	for i, h := range m.Headers {
		headers[i] = sarama.RecordHeader{Key: n[h.Key], Value: h.Value}
	}
	return &sarama.ProducerMessage{
		Topic: topic, Partition: partition, Key: sarama.ByteEncoder(m.Key), Value: sarama.ByteEncoder(m.Value),
		Headers: headers, Timestamp: f.RecordedAt,
	}
}
