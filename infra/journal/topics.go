package journal

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
)

// Ensure creates the topics that are missing and waits until all of them can
// be written. It leaves existing topics as they are.
func (k *Kafka) Ensure(ctx context.Context) error {
	meta, err := k.metadata(ctx)
	if err != nil {
		return err
	}
	var missing []kafka.TopicConfig
	for _, topic := range meta.Topics {
		if topic.Err == sarama.ErrUnknownTopicOrPartition {
			missing = append(missing, k.topicConfig(topic.Name))
		}
	}
	if len(missing) > 0 {
		if err := k.create(ctx, missing); err != nil {
			return err
		}
	}
	return k.awaitTopics(ctx)
}

func (k *Kafka) create(ctx context.Context, topics []kafka.TopicConfig) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	res, err := k.client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: topics})
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	for topic, err := range res.Errors {
		// Another process may have been faster.
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

// awaitTopics waits until every partition answers: a cluster makes topics step
// by step.
func (k *Kafka) awaitTopics(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	for pause := (backoff{}); ; {
		d, err := k.Describe(ctx)
		if err == nil && len(d.Topics) == len(k.topics()) {
			return nil
		}
		if !pause.wait(ctx) {
			return fmt.Errorf("wait for the topics: %d of %d are there: %w", len(d.Topics), len(k.topics()), errors.Join(err, ctx.Err()))
		}
	}
}
