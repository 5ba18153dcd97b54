package reactor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/prometheus/client_golang/prometheus"
)

// PoisonTopic is where facts go that could not be reacted to: the record with
// its headers, and why, by whom and where in headers of their own.
func (r *Reactor) PoisonTopic() string { return r.config.Prefix + "poison" }

const poisonPartitions = 4

// ensurePoison makes the poison topic unless it is there. Nothing in it is ever
// deleted by itself.
func (r *Reactor) ensurePoison() error {
	admin, err := sarama.NewClusterAdmin(r.config.Brokers, r.sarama())
	if err != nil {
		return fmt.Errorf("connect to make the poison topic: %w", err)
	}
	defer admin.Close() //nolint:errcheck // nothing is left to say
	forever, plain := "-1", "delete"
	err = admin.CreateTopic(r.PoisonTopic(), &sarama.TopicDetail{
		NumPartitions: poisonPartitions, ReplicationFactor: int16(r.config.Replication),
		ConfigEntries: map[string]*string{"retention.ms": &forever, "retention.bytes": &forever, "cleanup.policy": &plain},
	}, false)
	if err != nil && !errors.Is(err, sarama.ErrTopicAlreadyExists) {
		return fmt.Errorf("make the poison topic: %w", err)
	}
	return nil
}

// counted counts what goes to the poison topic.
type counted struct {
	message.Publisher
	outcomes *prometheus.CounterVec
}

// Publish implements message.Publisher.
func (c counted) Publish(topic string, messages ...*message.Message) error {
	if err := c.Publisher.Publish(topic, messages...); err != nil {
		return err
	}
	for _, m := range messages {
		c.outcomes.WithLabelValues(handlerOf(m.Metadata.Get(middleware.PoisonedHandlerKey)), outcomePoisoned).Inc()
	}
	return nil
}

// handlerOf is the handler's name in that of its group.
func handlerOf(group string) string {
	_, name, _ := strings.Cut(group, "netsim-reactor.")
	if end := strings.LastIndexByte(name, '.'); end >= 0 {
		name = name[:end]
	}
	return name
}
