package publisher

import (
	"strconv"

	"github.com/IBM/sarama"
)

// SchemaIDHeader is the header of a public record that has the id of its data's schema
// in the schema registry, in decimal digits. It is missing while the id is not known.
const SchemaIDHeader = "netsim-schema-id"

// identify adds the id of the type's schema to a record, if it is known.
func (c *Config) identify(eventType string, m *sarama.ProducerMessage) *sarama.ProducerMessage {
	if c.SchemaID == nil {
		return m
	}
	if id, ok := c.SchemaID(eventType); ok {
		m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(SchemaIDHeader), Value: strconv.AppendInt(nil, int64(id), 10)})
	}
	return m
}
