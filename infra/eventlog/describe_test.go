package eventlog

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"netsim/events"
	"netsim/infra/wait"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

func ensureTwice(t *testing.T, c Config) {
	k := open(t, c)
	await(t, k.Append(k.Topic(events.Billing), 1, message("kept")))
	first := describe(t, k)
	if err := k.Check(first); err != nil {
		t.Error(err)
	}
	if err := k.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, describe(t, k)); diff != "" {
		t.Errorf("a second Ensure changed the log:\n%s", diff)
	}
	families := events.Families()
	for i, topic := range first.Topics {
		if topic.Family != families[i] || topic.Name != k.Topic(families[i]) || topic.ID == "" || len(topic.Partitions) != 2 {
			t.Errorf("topic %d is %+v, want family %s with an id and 2 partitions", i, topic, families[i])
		}
		want := Partition{Leader: topic.Partitions[1].Leader, LeaderEpoch: topic.Partitions[1].LeaderEpoch}
		if topic.Family == events.Billing {
			want.End = 1
		}
		if topic.Partitions[1] != want {
			t.Errorf("partition 1 of %s is %+v, want %+v", topic.Name, topic.Partitions[1], want)
		}
	}
	if first.ClusterID == "" || first.Brokers != 1 {
		t.Errorf("cluster %q has %d brokers, want an id and 1 broker", first.ClusterID, first.Brokers)
	}
}

// TestLostBrokersAreSeen: what the cluster says about brokers and replicas is in the
// description: a broker is absent if it has a replica and the cluster does not list it.
func TestLostBrokersAreSeen(t *testing.T) {
	t.Parallel()
	meta := &sarama.MetadataResponse{}
	meta.AddBroker("a:9092", 1)
	meta.AddBroker("c:9092", 3)
	topic := &sarama.TopicMetadata{Name: "netsim.workspaces", Partitions: []*sarama.PartitionMetadata{
		{ID: 0, Leader: 1, Replicas: []int32{1, 2, 3}, Isr: []int32{1, 3}},
		{ID: 1, Leader: -1, Replicas: []int32{2, 4, 5}, Isr: []int32{2}},
		{ID: 2, Leader: 3, Replicas: []int32{3, 1}, Isr: []int32{1, 3}},
	}}
	meta.Topics = []*sarama.TopicMetadata{topic}
	if got := absent(meta); got != 3 {
		t.Errorf("%d brokers are absent, want 3", got)
	}
	described, err := describeTopic(events.Workspaces, topic)
	want := []Partition{{Leader: 1, OutOfSync: 1}, {Leader: -1, OutOfSync: 2}, {Leader: 3}}
	if diff := cmp.Diff(want, described.Partitions); err != nil || diff != "" {
		t.Errorf("%v, partitions (-want +got):\n%s", err, diff)
	}
}

func recreatedTopic(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Workspaces)
	before := describe(t, k)
	res, err := k.client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Errors[topic]; err != nil {
		t.Fatal(err)
	}
	refusedFor(t, k, "topic "+topic+" does not exist")
	if err := k.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := describe(t, k)
	if before.Topics[0].ID == after.Topics[0].ID {
		t.Errorf("the recreated topic still has id %s, want another", after.Topics[0].ID)
	}
	if before.ClusterID != after.ClusterID || before.Topics[1].ID != after.Topics[1].ID {
		t.Errorf("the id of the cluster or of another topic changed")
	}
}

// refusedFor waits until Check refuses the log for this reason only. Apache Kafka does what it
// was asked for a moment after it has answered.
func refusedFor(t *testing.T, k *Kafka, reason string) {
	t.Helper()
	err := k.Check(describe(t, k))
	for begun := time.Now(); !isOnly(err, reason) && time.Since(begun) < testwait.Limit(t); err = k.Check(describe(t, k)) {
		if err := wait.For(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if !isOnly(err, reason) {
		t.Errorf("got %v, want one line with %q", err, reason)
	}
}

// isOnly reports whether the error has one line, with the reason.
func isOnly(err error, reason string) bool {
	return err != nil && strings.Contains(err.Error(), reason) && !strings.Contains(err.Error(), "\n")
}

func dangerousSettings(t *testing.T, c Config) {
	for setting, bad := range map[string]string{
		settingCleanup:        "compact",
		settingRetentionTime:  "604800000",
		settingRetentionBytes: "1073741824",
		settingTimestamp:      "CreateTime",
		settingCompression:    "gzip",
		settingMaxMessage:     "1000000",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			k := open(t, c)
			alter(t, k, k.Topic(events.Billing), setting, bad)
			refusedFor(t, k, "topic "+k.Topic(events.Billing)+" has "+setting+`="`+bad+`", needs`)
		})
	}
}

// Check refuses topics with the brokers' default settings, such as auto-created
// topics, with a line for each wrong setting. After the settings are changed to the
// values in those lines, Check accepts the topics.
func defaultTopics(t *testing.T, c Config) {
	c.Prefix, c.Relaxed = freshPrefix(), true
	k, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	for _, name := range k.topics() {
		if err := admin(t, k).CreateTopic(name, &sarama.TopicDetail{NumPartitions: 2, ReplicationFactor: 1}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = k.Check(describe(t, k))
	if err == nil {
		t.Fatal("Check accepts the brokers' default settings")
	}
	advice := regexp.MustCompile(`^each of the topics (.+) has ([a-z.]+)="[^"]*", needs (?:at least )?"?([^":]+)"?: .+$`)
	for line := range strings.Lines(err.Error()) {
		match := advice.FindStringSubmatch(strings.TrimSpace(line))
		if match == nil || match[1] != strings.Join(k.topics(), ", ") {
			t.Fatalf("line %q, want a match of %s", line, advice)
		}
		for _, topic := range k.topics() {
			alter(t, k, topic, match[2], match[3])
		}
	}
	if err := k.Check(describe(t, k)); err != nil {
		t.Errorf("Check with the required settings: %v, want no error", err)
	}
}

// Ensure creates no topic if topics need more replicas than there are brokers.
func TestFewBrokers(t *testing.T) {
	t.Parallel()
	k, err := Open(t.Context(), Config{Brokers: teststack.Broker(t), Prefix: freshPrefix(), Replication: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	if err := k.Ensure(t.Context()); !errors.Is(err, ErrFewBrokers) {
		t.Errorf("got %v, want ErrFewBrokers", err)
	}
	if d := describe(t, k); len(d.Topics) > 0 {
		t.Errorf("Ensure created topic %s, want none", d.Topics[0].Name)
	}
}

func admin(t *testing.T, k *Kafka) sarama.ClusterAdmin {
	t.Helper()
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	a, err := sarama.NewClusterAdmin(k.Brokers, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func deletedRecords(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Billing)
	for range 3 {
		await(t, k.Append(topic, 0, message("x")))
	}
	if err := admin(t, k).DeleteRecords(topic, map[int32]int64{0: 2}); err != nil {
		t.Fatal(err)
	}
	refusedFor(t, k, "partition 0 of topic "+topic+" begins at offset 2")
}

func morePartitions(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Billing)
	if err := admin(t, k).CreatePartitions(topic, 3, nil, false); err != nil {
		t.Fatal(err)
	}
	refusedFor(t, k, "topic "+topic+" has 3 partitions")
}

func TestAnotherClusterHasAnotherID(t *testing.T) {
	t.Parallel()
	one := open(t, Config{})
	two := open(t, Config{Brokers: []string{teststack.Start(t, "broker", t.TempDir()).Addr}})
	if a, b := describe(t, one).ClusterID, describe(t, two).ClusterID; a == b {
		t.Errorf("both clusters have id %s", a)
	}
}

func TestCheckNeedsRedundancy(t *testing.T) {
	t.Parallel()
	k := &Kafka{Config: Config{MaxRecord: 1000}}
	log := func() (d Description) {
		for _, family := range events.Families() {
			d.Topics = append(d.Topics, Topic{
				Family: family, Name: k.Topic(family), Replication: 3, Partitions: make([]Partition, 4),
				Settings: map[string]string{
					settingCleanup: "delete", settingRetentionTime: "-1", settingRetentionBytes: "-1",
					settingTimestamp: "LogAppendTime", settingCompression: "producer", settingUnclean: "false",
					settingMaxMessage: "1048588", settingMinInsync: "2",
				},
			})
		}
		return d
	}
	if err := k.Check(log()); err != nil {
		t.Errorf("Check with three replicas: %v, want no error", err)
	}
	for reason, spoil := range map[string]func(*Topic){
		"has 2 replicas, needs 3":                func(t *Topic) { t.Replication = 2 },
		`has min.insync.replicas="1", needs 2`:   func(t *Topic) { t.Settings[settingMinInsync] = "1" },
		`has unclean.leader.election.enable="tr`: func(t *Topic) { t.Settings[settingUnclean] = "true" },
	} {
		d := log()
		spoil(&d.Topics[3])
		if err := k.Check(d); !isOnly(err, reason) {
			t.Errorf("got %v, want one line with %q", err, reason)
		}
		relaxed := &Kafka{Config: k.Config}
		relaxed.Relaxed = true
		if err := relaxed.Check(d); err != nil {
			t.Errorf("Check with Relaxed: %v, want no error", err)
		}
	}
}
