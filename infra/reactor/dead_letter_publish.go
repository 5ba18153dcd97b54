package reactor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
)

// DeadLetterTopic returns the name of the dead-letter topic, for a prefix of
// topics. Its records are those that handlers could not process, with headers for
// the reason, the handler and the position. The names of the topic and of the
// headers must never change, because existing dead letters have them.
func DeadLetterTopic(prefix string) string { return prefixOf(prefix) + "poison" }

const deadLetterPartitions = 4

// EnsureDeadLetters makes the dead-letter topic unless it exists. Its records
// are never deleted by the broker.
func (r *Reactor) EnsureDeadLetters() error {
	admin, err := sarama.NewClusterAdmin(r.config.Brokers, r.sarama())
	if err != nil {
		return fmt.Errorf("connect to make the dead-letter topic: %w", err)
	}
	defer admin.Close() //nolint:errcheck // the result is known
	forever, plain := "-1", "delete"
	err = admin.CreateTopic(DeadLetterTopic(r.config.Prefix), &sarama.TopicDetail{
		NumPartitions: deadLetterPartitions, ReplicationFactor: int16(r.config.Replication),
		ConfigEntries: map[string]*string{"retention.ms": &forever, "retention.bytes": &forever, "cleanup.policy": &plain},
	}, false)
	if err != nil && !errors.Is(err, sarama.ErrTopicAlreadyExists) {
		return fmt.Errorf("make the dead-letter topic: %w", err)
	}
	return nil
}

// reporting publishes dead letters, and logs and counts each.
type reporting struct {
	message.Publisher
	reactor *Reactor
}

// Publish implements message.Publisher.
func (p reporting) Publish(topic string, messages ...*message.Message) error {
	if err := p.Publisher.Publish(topic, messages...); err != nil {
		return err
	}
	for _, m := range messages {
		handler := handlerOf(m.Metadata.Get(middleware.PoisonedHandlerKey))
		p.reactor.config.Observe(Observation{Handler: handler, Outcome: outcomeDead})
		p.reactor.config.Log.ErrorContext(m.Context(), "a fact is a dead letter",
			"handler", handler, "family", strings.TrimPrefix(m.Metadata.Get(middleware.PoisonedTopicKey), p.reactor.config.Prefix),
			"partition", m.Metadata.Get(partitionHeader), "offset", m.Metadata.Get(offsetHeader),
			"type", m.Metadata.Get(typeHeader), "stream", m.Metadata.Get(streamHeader),
			"reason", m.Metadata.Get(middleware.ReasonForPoisonedKey))
	}
	return nil
}

// handlerOf returns the handler of a consumer group.
func handlerOf(group string) string {
	_, name, _ := strings.Cut(group, "netsim-reactor.")
	if end := strings.LastIndexByte(name, '.'); end >= 0 {
		name = name[:end]
	}
	return name
}
