package publisher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/wait"
)

func errPartitions(public, shards int32) error {
	return fmt.Errorf("public topics have %d partitions: it must be a multiple of the %d partitions of the log, so that a public partition has the facts of one partition", public, shards)
}

// settings returns the settings of a public topic. Records have the time of their
// facts, so the retention counts from there, and consumers can seek by it.
func (c *Config) settings() map[string]string {
	s := map[string]string{
		"cleanup.policy": "delete", "retention.bytes": "-1", "retention.ms": retentionText(c.Retention),
		"message.timestamp.type": "CreateTime", "unclean.leader.election.enable": "false",
		"max.message.bytes": strconv.Itoa(maxMessage),
	}
	if c.Replication >= 3 {
		s["min.insync.replicas"] = "2"
	}
	return s
}

func retentionText(d time.Duration) string {
	if d == 0 {
		return "-1"
	}
	return strconv.FormatInt(d.Milliseconds(), 10)
}

// EnsureTopics makes the missing public topics, sets their retention, and checks them. Run
// does it too. New topics are not known to all brokers at once, so it tries for a minute.
func (p *Publisher) EnsureTopics(ctx context.Context) error {
	patient, cancel := context.WithTimeout(ctx, newTopicTimeout)
	defer cancel()
	for {
		err := p.config.ensure()
		if !errors.Is(err, sarama.ErrUnknownTopicOrPartition) || wait.For(patient, firstPause) != nil {
			return err
		}
	}
}

// newTopicTimeout bounds how long busy brokers may not know a topic that one of them made.
const newTopicTimeout = time.Minute

// ensure checks the public topics. Unless Migrated is set, it makes the missing ones and
// sets their retention first.
func (c *Config) ensure() error {
	admin, err := sarama.NewClusterAdmin(c.Brokers, c.sarama())
	if err != nil {
		return fmt.Errorf("connect to make the public topics: %w", err)
	}
	defer admin.Close() //nolint:errcheck // the result is known
	described, err := c.describe(admin)
	if err != nil {
		return err
	}
	for _, family := range events.Families() {
		if described[family].Err != sarama.ErrUnknownTopicOrPartition {
			continue
		}
		if c.Migrated {
			return fmt.Errorf("topic %s is missing: netsim migrate makes it", c.topic(family))
		}
		if err := c.create(admin, family); err != nil && !errors.Is(err, sarama.ErrTopicAlreadyExists) {
			return err
		}
	}
	if described, err = c.describe(admin); err != nil {
		return err
	}
	var errs []error
	for _, family := range events.Families() {
		errs = append(errs, c.check(admin, family, described[family]))
	}
	return errors.Join(errs...)
}

// describe returns what the cluster knows of the public topics.
func (c *Config) describe(admin sarama.ClusterAdmin) (map[events.Family]*sarama.TopicMetadata, error) {
	var names []string
	families := map[string]events.Family{}
	for _, family := range events.Families() {
		names = append(names, c.topic(family))
		families[c.topic(family)] = family
	}
	described, err := admin.DescribeTopics(names)
	if err != nil {
		return nil, fmt.Errorf("describe the public topics: %w", err)
	}
	found := map[events.Family]*sarama.TopicMetadata{}
	for _, t := range described {
		found[families[t.Name]] = t
	}
	for _, family := range events.Families() {
		if found[family] == nil {
			return nil, fmt.Errorf("describe the public topics: %s is not in the answer", c.topic(family))
		}
	}
	return found, nil
}

// create makes a public topic.
func (c *Config) create(admin sarama.ClusterAdmin, family events.Family) error {
	entries := map[string]*string{}
	for name, value := range c.settings() {
		entries[name] = &value
	}
	err := admin.CreateTopic(c.topic(family), &sarama.TopicDetail{
		NumPartitions: c.Partitions, ReplicationFactor: int16(c.Replication), ConfigEntries: entries,
	}, false)
	if err != nil {
		return fmt.Errorf("make topic %s: %w", c.topic(family), err)
	}
	return nil
}

// check refuses a topic with settings that lose facts or refuse records, and sets its
// retention.
func (c *Config) check(admin sarama.ClusterAdmin, family events.Family, described *sarama.TopicMetadata) error {
	topic := c.topic(family)
	if described.Err != sarama.ErrNoError {
		return fmt.Errorf("topic %s: %w", topic, described.Err)
	}
	in, err := settingsOf(admin, topic, slices.Collect(maps.Keys(c.settings()))...)
	if err != nil {
		return fmt.Errorf("describe the settings of topic %s: %w", topic, err)
	}
	if want := retentionText(c.Retention); in["retention.ms"] != want {
		if c.Migrated {
			return fmt.Errorf("topic %s has retention.ms=%q, needs %q: netsim migrate sets it", topic, in["retention.ms"], want)
		}
		err := admin.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{
			"retention.ms": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &want},
		}, false)
		if err != nil {
			return fmt.Errorf("set the retention of topic %s: %w", topic, err)
		}
	}
	return c.refuse(topic, in, described.Partitions)
}

// settingsOf returns settings of a topic by name.
func settingsOf(admin sarama.ClusterAdmin, topic string, names ...string) (map[string]string, error) {
	found, err := admin.DescribeConfigs([]*sarama.ConfigResource{
		{Type: sarama.TopicResource, Name: topic, ConfigNames: names},
	}, sarama.DescribeConfigsOptions{})
	if err != nil {
		return nil, err
	}
	in := map[string]string{}
	for _, resource := range found {
		if code := sarama.KError(resource.ErrorCode); code != sarama.ErrNoError {
			return nil, fmt.Errorf("%w: %s", code, resource.ErrorMsg)
		}
		for _, entry := range resource.Configs {
			in[entry.Name] = entry.Value
		}
	}
	return in, nil
}

func (c *Config) refuse(topic string, in map[string]string, partitions []*sarama.PartitionMetadata) error {
	var wrong []string
	require := func(setting, want, why string) {
		if in[setting] != want {
			wrong = append(wrong, fmt.Sprintf("has %s=%q, needs %q: %s", setting, in[setting], want, why))
		}
	}
	require("cleanup.policy", "delete", "compaction deletes facts")
	require("message.timestamp.type", "CreateTime", "records have the time of their facts")
	if n, err := strconv.Atoi(in["max.message.bytes"]); err != nil || n < maxMessage {
		wrong = append(wrong, fmt.Sprintf("has max.message.bytes=%q, needs at least %d: the largest facts would be rejected", in["max.message.bytes"], maxMessage))
	}
	if n := int32(len(partitions)); n != c.Partitions {
		wrong = append(wrong, fmt.Sprintf("has %d partitions, needs %d: 'netsim events republish' makes it again", n, c.Partitions))
	}
	if !c.Relaxed {
		require("unclean.leader.election.enable", "false", "a broker that lags could become leader and drop facts")
		if n, err := strconv.Atoi(in["min.insync.replicas"]); err != nil || n < 2 {
			wrong = append(wrong, fmt.Sprintf("has min.insync.replicas=%q, needs 2: a published fact may be on one broker only", in["min.insync.replicas"]))
		}
		for _, p := range partitions {
			if len(p.Replicas) < 3 {
				wrong = append(wrong, fmt.Sprintf("has %d replicas, needs 3", len(p.Replicas)))
				break
			}
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("topic %s %s", topic, strings.Join(wrong, "; it "))
}
