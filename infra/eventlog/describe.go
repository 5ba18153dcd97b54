package eventlog

import (
	"context"
	"fmt"
	"strings"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"

	"netsim/events"
)

// Description is the identity of the log, its topics and their settings.
type Description struct {
	ClusterID string
	Brokers   int
	Absent    int     // brokers that have replicas of the topics and are not in the cluster
	Topics    []Topic // existing topics, in the order of events.Families
}

// Topic is one event topic. A topic that is deleted and created again has
// another ID.
type Topic struct {
	Family      events.Family
	Name        string
	ID          string
	Replication int               // replicas of the partition that has the fewest
	Partitions  []Partition       // by number
	Settings    map[string]string // the settings that Check reads, as in force
}

// Partition describes a partition. It has the records from offset Start up to, but
// not including, End.
type Partition struct {
	Start       int64
	End         int64
	Leader      int32 // a broker's id, -1 when there is none
	OutOfSync   int   // replicas that lag, or whose brokers do not answer
	LeaderEpoch int32
}

// TopicName returns the name of the family's topic, or "" when there is none.
func (d Description) TopicName(family events.Family) string {
	for i := range d.Topics {
		if d.Topics[i].Family == family {
			return d.Topics[i].Name
		}
	}
	return ""
}

// Empty reports whether no record was ever appended to the log.
func (d Description) Empty() bool {
	for _, topic := range d.Topics {
		for _, part := range topic.Partitions {
			if part.End > 0 {
				return false
			}
		}
	}
	return true
}

// Describe asks the cluster for its description.
func (k *Kafka) Describe(ctx context.Context) (Description, error) {
	return k.describeFamilies(ctx, events.Families())
}

// DescribeAll is Describe with the topics of Config.Beside too, each under the part of
// its name after the prefix.
func (k *Kafka) DescribeAll(ctx context.Context) (Description, error) {
	return k.describeFamilies(ctx, k.families(append(k.topics(), k.Beside...)))
}

// families returns the parts of topics' names after the prefix.
func (k *Kafka) families(names []string) []events.Family {
	families := make([]events.Family, len(names))
	for i, name := range names {
		families[i] = events.Family(strings.TrimPrefix(name, k.Prefix))
	}
	return families
}

func (k *Kafka) describeFamilies(ctx context.Context, families []events.Family) (Description, error) {
	var d Description
	err := k.ask(ctx, func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		d, err = k.describe(ctx, families)
		return err
	})
	if err != nil {
		return Description{}, fmt.Errorf("describe the log: %w", err)
	}
	return d, nil
}

func (k *Kafka) describe(ctx context.Context, families []events.Family) (Description, error) {
	names := make([]string, len(families))
	for i, family := range families {
		names[i] = k.Topic(family)
	}
	meta, err := k.metadata(ctx, names)
	if err != nil {
		return Description{}, err
	}
	d := Description{Brokers: len(meta.Brokers), Absent: absent(meta)}
	if meta.ClusterID != nil {
		d.ClusterID = *meta.ClusterID
	}
	named := make(map[string]*sarama.TopicMetadata, len(meta.Topics))
	for _, topic := range meta.Topics {
		named[topic.Name] = topic
	}
	for _, family := range families {
		topic := named[k.Topic(family)]
		if topic == nil || topic.Err == sarama.ErrUnknownTopicOrPartition {
			continue
		}
		if topic.Err != sarama.ErrNoError {
			return Description{}, fmt.Errorf("topic %s: %w", topic.Name, topic.Err)
		}
		described, err := describeTopic(family, topic)
		if err != nil {
			return Description{}, err
		}
		d.Topics = append(d.Topics, described)
	}
	if len(d.Topics) == 0 {
		return d, nil
	}
	if err := k.describeOffsets(meta.Brokers, d.Topics); err != nil {
		return Description{}, err
	}
	return d, k.describeSettings(ctx, d.Topics)
}

// absent counts the brokers that have replicas of the topics and are not in the cluster.
func absent(meta *sarama.MetadataResponse) int {
	missing := map[int32]bool{}
	for _, topic := range meta.Topics {
		for _, p := range topic.Partitions {
			for _, id := range p.Replicas {
				missing[id] = true
			}
		}
	}
	for _, b := range meta.Brokers {
		delete(missing, b.ID())
	}
	return len(missing)
}

func describeTopic(family events.Family, meta *sarama.TopicMetadata) (Topic, error) {
	t := Topic{
		Family:     family,
		Name:       meta.Name,
		ID:         meta.Uuid.String(),
		Partitions: make([]Partition, len(meta.Partitions)),
		Settings:   map[string]string{},
	}
	for i, p := range meta.Partitions {
		if p.ID < 0 || int(p.ID) >= len(t.Partitions) {
			return t, fmt.Errorf("topic %s has a partition %d of %d", t.Name, p.ID, len(t.Partitions))
		}
		t.Partitions[p.ID] = Partition{Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, OutOfSync: len(p.Replicas) - len(p.Isr)}
		if i == 0 || len(p.Replicas) < t.Replication {
			t.Replication = len(p.Replicas)
		}
	}
	return t, nil
}

func (k *Kafka) describeSettings(ctx context.Context, topics []Topic) error {
	var req kafka.DescribeConfigsRequest
	for _, t := range topics {
		req.Resources = append(req.Resources, kafka.DescribeConfigRequestResource{
			ResourceType: kafka.ResourceTypeTopic,
			ResourceName: t.Name,
			ConfigNames: []string{settingCleanup, settingRetentionTime, settingRetentionBytes, settingTimestamp,
				settingCompression, settingUnclean, settingMaxMessage, settingMinInsync},
		})
	}
	res, err := k.client.DescribeConfigs(ctx, &req)
	if err != nil {
		return fmt.Errorf("describe the topics' settings: %w", err)
	}
	for _, r := range res.Resources {
		if r.Error != nil {
			return fmt.Errorf("describe the settings of topic %s: %w", r.ResourceName, r.Error)
		}
		for _, t := range topics {
			if t.Name == r.ResourceName {
				for _, entry := range r.ConfigEntries {
					t.Settings[entry.ConfigName] = entry.ConfigValue
				}
			}
		}
	}
	return nil
}
