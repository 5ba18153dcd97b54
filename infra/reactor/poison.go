package reactor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/prometheus/client_golang/prometheus"

	"netsim/events"
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

// Redrive has every fact in the poison topic reacted to again by the handler
// that could not, and returns how many it could now and the errors of the
// others. What was done before is done again and changes nothing, so nobody
// keeps account of what has been redriven; the topic stays as it is.
func (r *Reactor) Redrive(ctx context.Context) (done int, err error) {
	client, err := sarama.NewClient(r.config.Brokers, r.sarama())
	if err != nil {
		return 0, fmt.Errorf("connect to read the poison topic: %w", err)
	}
	defer client.Close() //nolint:errcheck // it was only read
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return 0, fmt.Errorf("read the poison topic: %w", err)
	}
	defer consumer.Close() //nolint:errcheck // it was only read
	partitions, err := client.Partitions(r.PoisonTopic())
	if err != nil {
		return 0, fmt.Errorf("read the poison topic: %w", err)
	}
	for _, partition := range partitions {
		n, e := r.redrive(ctx, client, consumer, partition)
		done, err = done+n, errors.Join(err, e)
	}
	return done, err
}

// redrive goes through one partition, up to where it ends now.
func (r *Reactor) redrive(ctx context.Context, client sarama.Client, consumer sarama.Consumer, partition int32) (done int, err error) {
	first, err := client.GetOffset(r.PoisonTopic(), partition, sarama.OffsetOldest)
	if err != nil {
		return 0, fmt.Errorf("find the beginning of the poison topic: %w", err)
	}
	end, err := client.GetOffset(r.PoisonTopic(), partition, sarama.OffsetNewest)
	if err != nil || first == end {
		return 0, err
	}
	records, err := consumer.ConsumePartition(r.PoisonTopic(), partition, first)
	if err != nil {
		return 0, fmt.Errorf("read the poison topic: %w", err)
	}
	defer records.Close() //nolint:errcheck // it was only read
	for {
		select {
		case record := <-records.Messages():
			if e := r.reactAgain(ctx, consumer, record); e != nil {
				err = errors.Join(err, e)
			} else {
				done++
			}
			if record.Offset == end-1 {
				return done, err
			}
		case e := <-records.Errors():
			return done, errors.Join(err, e)
		case <-ctx.Done():
			return done, errors.Join(err, ctx.Err())
		}
	}
}

func (r *Reactor) reactAgain(ctx context.Context, consumer sarama.Consumer, record *sarama.ConsumerMessage) error {
	m, err := kafka.DefaultMarshaler{}.Unmarshal(record)
	if err != nil {
		return err
	}
	name, topic := handlerOf(m.Metadata.Get(middleware.PoisonedHandlerKey)), m.Metadata.Get(middleware.PoisonedTopicKey)
	i := slices.IndexFunc(r.handlers, func(h handler) bool {
		return h.name == name && r.config.Prefix+string(h.family) == topic
	})
	if i < 0 {
		return fmt.Errorf("poison record %d/%d is of the handler %s on %s, which is not known", record.Partition, record.Offset, name, topic)
	}
	return r.reactTo(ctx, consumer, m, r.handlers[i])
}

// redriveTimeout bounds one fact, also one that the log does not have.
const redriveTimeout = 30 * time.Second

// reactTo has the fact reacted to that a poison record points at, as it lies in
// the log: whoever reaches the broker can write to the poison topic.
func (r *Reactor) reactTo(ctx context.Context, consumer sarama.Consumer, poison *message.Message, h handler) error {
	at, _, err := placeOf(poison, h.family)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, redriveTimeout)
	defer cancel()
	verdict, err := r.config.Judge.Verdict(ctx, at)
	if err != nil {
		return err
	}
	if verdict != events.Accepted {
		return fmt.Errorf("the poison topic names the record %s/%d offset %d, which is no fact: %s", h.family, at.Partition, at.Offset, verdict)
	}
	records, err := consumer.ConsumePartition(r.config.Prefix+string(h.family), at.Partition, at.Offset)
	if err != nil {
		return fmt.Errorf("read the record %s/%d offset %d: %w", h.family, at.Partition, at.Offset, err)
	}
	defer records.Close() //nolint:errcheck // it was only read
	select {
	case record := <-records.Messages():
		m, err := unmarshaler{}.Unmarshal(record)
		if err != nil {
			return err
		}
		m.SetContext(ctx)
		return r.react(m, h)
	case err := <-records.Errors():
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
