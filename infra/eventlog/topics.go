package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
)

// ErrFewBrokers is wrapped by the error of Ensure when topics need more replicas
// than there are brokers. Ensure then creates no topic.
var ErrFewBrokers = errors.New("the cluster is too small")

// Ensure creates the missing topics and waits until all topics can be written. It
// does not change existing topics.
func (k *Kafka) Ensure(ctx context.Context) error {
	meta, err := k.metadata(ctx, k.topics())
	if err != nil {
		return err
	}
	timeout := answerTimeout
	var missing []kafka.TopicConfig
	for _, name := range missingIn(meta) {
		missing = append(missing, k.topicConfig(name))
	}
	if len(missing) > 0 {
		if k.Replication > len(meta.Brokers) {
			return fmt.Errorf("%w: each topic needs %d replicas, and the cluster has %d brokers",
				ErrFewBrokers, k.Replication, len(meta.Brokers))
		}
		if err := k.create(ctx, missing); err != nil {
			return err
		}
		timeout = electionTimeout
	}
	return k.awaitTopics(ctx, k.topics(), timeout)
}

// ErrNoTopics is wrapped by the error of Require.
var ErrNoTopics = errors.New("missing topics")

// Require waits until all topics can be written, like Ensure. It creates none, and returns
// an error that wraps ErrNoTopics and names the missing ones, also of the further topics.
// A topic is missing if the brokers do not know it for a few seconds: a new one is not
// known to all of them at once.
func (k *Kafka) Require(ctx context.Context, further ...string) error {
	patient, cancel := context.WithTimeout(ctx, newTopicTimeout)
	defer cancel()
	for pause := retries(); ; {
		meta, err := k.metadata(ctx, append(k.topics(), further...))
		if err != nil {
			return err
		}
		missing := missingIn(meta)
		if len(missing) == 0 {
			return k.awaitTopics(ctx, k.topics(), answerTimeout)
		}
		if !pause(patient) {
			return fmt.Errorf("%w: %s", ErrNoTopics, strings.Join(missing, ", "))
		}
	}
}

// newTopicTimeout bounds how long a broker may not know a new topic.
const newTopicTimeout = 10 * time.Second

// electionTimeout bounds how long busy brokers may take to elect the leaders of new
// topics.
const electionTimeout = time.Minute

func missingIn(meta *sarama.MetadataResponse) (names []string) {
	for _, topic := range meta.Topics {
		if topic.Err == sarama.ErrUnknownTopicOrPartition {
			names = append(names, topic.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (k *Kafka) create(ctx context.Context, topics []kafka.TopicConfig) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	res, err := k.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: topics})
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	for topic, err := range res.Errors {
		// Another process may have created the topic.
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			return fmt.Errorf("create topic %s: %w", topic, err)
		}
	}
	return nil
}

func (k *Kafka) topicConfig(name string) kafka.TopicConfig {
	settings := []kafka.ConfigEntry{
		{ConfigName: settingCleanup, ConfigValue: "delete"},
		{ConfigName: settingRetentionTime, ConfigValue: "-1"},
		{ConfigName: settingRetentionBytes, ConfigValue: "-1"},
		{ConfigName: settingTimestamp, ConfigValue: "LogAppendTime"},
		{ConfigName: settingCompression, ConfigValue: "producer"},
		{ConfigName: settingUnclean, ConfigValue: "false"},
		{ConfigName: settingMaxMessage, ConfigValue: strconv.Itoa(k.maxMessage())},
	}
	if k.Replication >= 3 {
		settings = append(settings, kafka.ConfigEntry{ConfigName: settingMinInsync, ConfigValue: "2"})
	}
	return kafka.TopicConfig{
		Topic:             name,
		NumPartitions:     int(k.Partitions),
		ReplicationFactor: k.Replication,
		ConfigEntries:     settings,
	}
}

// maxMessage is the largest batch that Append sends, in bytes.
func (k *Kafka) maxMessage() int { return max(k.MaxRecord, batchBytes) + batchHeader }

// awaitTopics waits until every partition answers and the client knows all leaders:
// a cluster acknowledges new topics before it can serve them.
func (k *Kafka) awaitTopics(ctx context.Context, names []string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for pause := retries(); ; {
		d, err := k.describeFamilies(ctx, k.families(names))
		if err == nil {
			err = k.routed(ctx, names, d)
		}
		if err == nil {
			return nil
		}
		if !pause(ctx) {
			return fmt.Errorf("wait for the topics: %w", err)
		}
	}
}

// routed returns an error when kafka-go's cached metadata lacks a topic.
func (k *Kafka) routed(ctx context.Context, names []string, d Description) error {
	meta, err := k.client.Metadata(ctx, &kafka.MetadataRequest{Topics: names})
	if err != nil {
		return fmt.Errorf("ask for metadata: %w", err)
	}
	if len(d.Topics) != len(meta.Topics) {
		return fmt.Errorf("%w: %d of %d topics exist", ErrNoLeader, len(d.Topics), len(meta.Topics))
	}
	for i, topic := range meta.Topics {
		if topic.Error != nil {
			return fmt.Errorf("topic %s: %w", topic.Name, topic.Error)
		}
		if len(topic.Partitions) != len(d.Topics[i].Partitions) {
			return fmt.Errorf("topic %s: %w: %d of %d are known", topic.Name, ErrNoLeader, len(topic.Partitions), len(d.Topics[i].Partitions))
		}
	}
	return nil
}
