//go:build tools

package broker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"

	"netsim/infra/broker"
)

// produce and fetch ask the broker directly: a client first looks for the topic, which the
// broker hides from those without a right to it.
func produce(topic string) attempt {
	return func(t *testing.T, _ *kafka.Client, user string) error {
		now := time.Now()
		req := &sarama.ProduceRequest{RequiredAcks: sarama.WaitForAll, Timeout: 30_000, Version: 3}
		req.AddBatch(topic, 0, &sarama.RecordBatch{
			Version: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, FirstTimestamp: now, MaxTimestamp: now,
			Records: []*sarama.Record{{Value: []byte("x")}},
		})
		res, err := shared.stack.direct(t, user).Produce(req)
		if err != nil {
			return err
		}
		return kafkaError(res.GetBlock(topic, 0).Err)
	}
}

func fetch(topic string) attempt {
	return func(t *testing.T, _ *kafka.Client, user string) error {
		req := &sarama.FetchRequest{Version: 4, MaxBytes: 1 << 20}
		req.AddBlock(topic, 0, 0, 1<<20, -1)
		res, err := shared.stack.direct(t, user).Fetch(req)
		if err != nil {
			return err
		}
		return kafkaError(res.GetBlock(topic, 0).Err)
	}
}

// direct returns a connection of a user to the broker.
func (s *stack) direct(t *testing.T, user string) *sarama.Broker {
	t.Helper()
	to, err := broker.New(s.as(user).config)
	if err != nil {
		t.Fatal(err)
	}
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	to.Configure(c)
	b := sarama.NewBroker(s.SASL)
	if err := b.Open(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func kafkaError(err sarama.KError) error {
	if err == sarama.ErrNoError {
		return nil
	}
	return kafka.Error(err)
}

func alter(topic string) attempt {
	return func(t *testing.T, c *kafka.Client, _ string) error {
		res, err := c.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{
			Resources: []kafka.IncrementalAlterConfigsRequestResource{{
				ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
				Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: "retention.ms", Value: "-1", ConfigOperation: kafka.ConfigOperationSet}},
			}},
		})
		if err == nil {
			err = res.Resources[0].Error
		}
		return err
	}
}

func commit(group, topic string) attempt {
	return func(t *testing.T, c *kafka.Client, _ string) error {
		res, err := c.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
			GroupID: group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: 0}}},
		})
		if err == nil {
			err = res.Topics[topic][0].Error
		}
		return err
	}
}

func fence(id string) attempt {
	return func(t *testing.T, c *kafka.Client, _ string) error {
		res, err := c.InitProducerID(t.Context(), &kafka.InitProducerIDRequest{TransactionalID: id, TransactionTimeoutMs: 30_000, ProducerID: -1, ProducerEpoch: -1})
		if err == nil {
			err = res.Error
		}
		return err
	}
}

// deleteRecords deletes no record: the offset 0 is before the first.
func deleteRecords(topic string) attempt {
	return func(t *testing.T, _ *kafka.Client, user string) error {
		to, err := broker.New(shared.stack.as(user).config)
		if err != nil {
			t.Fatal(err)
		}
		c := sarama.NewConfig()
		c.Version = sarama.V2_8_0_0
		to.Configure(c)
		admin, err := sarama.NewClusterAdmin([]string{shared.stack.SASL}, c)
		if err != nil {
			return err
		}
		defer admin.Close()
		err = admin.DeleteRecords(topic, map[int32]int64{0: 0})
		if err != nil && strings.Contains(err.Error(), sarama.ErrTopicAuthorizationFailed.Error()) {
			return kafka.TopicAuthorizationFailed
		}
		return err
	}
}

func create(topic string) attempt {
	return func(t *testing.T, c *kafka.Client, _ string) error {
		res, err := c.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}}})
		if err == nil {
			err = res.Errors[topic]
		}
		return err
	}
}

func remove(topic string) attempt {
	return func(t *testing.T, c *kafka.Client, _ string) error {
		res, err := c.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
		if err == nil {
			err = res.Errors[topic]
		}
		return err
	}
}
