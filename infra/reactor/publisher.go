package reactor

import (
	"errors"
	"fmt"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
)

// publisher publishes dead letters. Watermill's own publisher leaves its client open when
// the broker does not give it a producer's id: sarama.NewSyncProducer returns the error
// without the client, whose connections and goroutines then stay.
type publisher struct {
	client   sarama.Client
	producer sarama.SyncProducer
	marshal  kafka.Marshaler
}

func openPublisher(brokers []string, config *sarama.Config) (*publisher, error) {
	client, err := sarama.NewClient(brokers, config)
	if err != nil {
		return nil, err
	}
	producer, err := sarama.NewSyncProducerFromClient(client)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	byStream := func(_ string, m *message.Message) (string, error) { return m.Metadata.Get(streamHeader), nil }
	return &publisher{client, producer, kafka.NewWithPartitioningMarshaler(byStream)}, nil
}

// Publish implements message.Publisher.
func (p *publisher) Publish(topic string, messages ...*message.Message) error {
	for _, m := range messages {
		out, err := p.marshal.Marshal(topic, m)
		if err != nil {
			return fmt.Errorf("write message %s: %w", m.UUID, err)
		}
		if _, _, err := p.producer.SendMessage(out); err != nil {
			return fmt.Errorf("publish message %s: %w", m.UUID, err)
		}
	}
	return nil
}

// Close implements message.Publisher.
func (p *publisher) Close() error { return errors.Join(p.producer.Close(), p.client.Close()) }
