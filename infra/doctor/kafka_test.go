package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/teststack"
)

// newKafka returns a cluster with a log of its own, and opens the log.
func newKafka(t *testing.T) (Kafka, *eventlog.Kafka) {
	t.Helper()
	k := Kafka{
		Config: eventlog.Config{Brokers: teststack.Broker(t), Prefix: events.NewID("doctor") + ".", Partitions: 2, Relaxed: true}, Partitions: 2,
		Recognize: func(context.Context, eventlog.Description) error { return nil }, Now: time.Now,
	}
	log, err := eventlog.Open(t.Context(), k.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(log.Close)
	return k, log
}

// TestKafka: a healthy log has only good results. Each thing that is broken has one that
// names it.
func TestKafka(t *testing.T) {
	t.Parallel()
	k, log := newKafka(t)
	want(t, run(t, k.Checks(), "topics"), Warn, "no topics yet", "NETSIM_TOPIC_PREFIX")
	if err := log.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	topic := log.Topic(events.Workspaces)
	if _, err := log.Append(topic, 0, events.Message{Key: []byte("k"), Value: []byte("v")}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range k.Checks() {
		want(t, c.Run(t.Context()), OK)
	}

	down := teststack.FreeAddress(t)
	for name, c := range map[string]struct {
		change func(k *Kafka)
		status Status
		words  []string
	}{
		"reachable":  {func(k *Kafka) { k.Config.Brokers = []string{down} }, Fail, []string{"no broker answers: " + down}},
		"replicas":   {func(k *Kafka) { k.Config.Brokers = []string{down} }, Fail, []string{"no broker answers"}},
		"brokers":    {func(k *Kafka) { k.Config.Brokers = append([]string{down}, k.Config.Brokers...) }, Warn, []string{down + " in NETSIM_KAFKA does not answer"}},
		"partitions": {func(k *Kafka) { k.Partitions = 16 }, Warn, []string{"2 partitions, the setting is 16", "NETSIM_PARTITIONS=2"}},
		"identity": {func(k *Kafka) {
			k.Recognize = func(context.Context, eventlog.Description) error { return errors.New("another log") }
		}, Fail, []string{"another log"}},
		"clock": {func(k *Kafka) { k.Now = func() time.Time { return time.Now().Add(-time.Hour) } }, Fail, []string{"after this machine's time", "NTP"}},
		// The topics have one replica.
		"topic settings": {func(k *Kafka) { k.Config.Relaxed = false }, Fail, []string{"has 1 replicas, needs 3"}},
	} {
		broken := k
		c.change(&broken)
		want(t, run(t, broken.Checks(), name), c.status, c.words...)
	}

	retention(t, k, topic, "86400000")
	want(t, run(t, k.Checks(), "topic settings"), Fail, topic, `retention.ms="86400000"`, "kept for ever")
}

// retention turns retention of a topic on.
func retention(t *testing.T, k Kafka, topic, value string) {
	t.Helper()
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	admin, err := sarama.NewClusterAdmin(k.Config.Brokers, c)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	err = admin.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{
		"retention.ms": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	for { // until the cluster reports the change; the test's timeout bounds it
		d, err := describe(t, k)
		if err != nil {
			t.Fatal(err)
		}
		if d.Topics[0].Settings["retention.ms"] == value {
			return
		}
	}
}

func describe(t *testing.T, k Kafka) (eventlog.Description, error) {
	log, err := eventlog.Open(t.Context(), k.Config)
	if err != nil {
		return eventlog.Description{}, err
	}
	defer log.Close()
	return log.Describe(t.Context())
}

// TestKafkaReports: what a broker reports of topics, rights and versions is judged.
func TestKafkaReports(t *testing.T) {
	t.Parallel()
	k := Kafka{Config: eventlog.Config{Prefix: "p."}, Internal: []string{"p.poison"}, Transactional: true, Needed: []KafkaRight{
		{KafkaTopic, "p.poison", []string{"Read", "Write", "Create"}}, {KafkaTopic, "p.new", []string{"Read"}},
		{KafkaGroup, "p.group", []string{"Read"}}, {KafkaTransactional, "p.id", []string{"Write"}},
	}}
	const all = eventlog.MayRead | eventlog.MayWrite | eventlog.MayDescribe
	whole := eventlog.Authorized{
		Groups: map[string]eventlog.Rights{"p.group": all}, Transactional: map[string]eventlog.Rights{"p.id": eventlog.MayWrite},
	}
	report := func(change func(t *eventlog.TopicsReplica)) eventlog.BrokerReport {
		r := eventlog.BrokerReport{Level: minLevel, Transactions: true, Topics: map[string]eventlog.TopicsReplica{}}
		for _, name := range k.names() {
			r.Topics[name] = eventlog.TopicsReplica{Partitions: 3, Rights: all}
		}
		broken := r.Topics["p.poison"]
		change(&broken)
		r.Topics["p.poison"] = broken
		return r
	}
	same := report(func(*eventlog.TopicsReplica) {})
	want(t, k.judge(same, whole), OK, "its roles need")
	want(t, k.replicas(same), OK)
	want(t, k.version(same), OK)
	want(t, k.judge(report(func(t *eventlog.TopicsReplica) { t.Rights &^= eventlog.MayWrite }), whole), Fail, "topic p.poison lacks Write", "netsim acls")
	want(t, k.judge(report(func(t *eventlog.TopicsReplica) { t.Err = sarama.ErrTopicAuthorizationFailed }), whole), Fail, "topic p.poison: ")
	want(t, k.judge(same, eventlog.Authorized{Groups: map[string]eventlog.Rights{"p.group": eventlog.MayDescribe}}), Fail, "group p.group lacks Read")
	want(t, k.judge(same, eventlog.Authorized{Transactional: map[string]eventlog.Rights{"p.id": 0}}), Fail, "transactional-id p.id lacks Write")
	want(t, k.judge(eventlog.BrokerReport{}, eventlog.Authorized{Transactional: whole.Transactional}), OK, "do not say")
	want(t, k.replicas(report(func(t *eventlog.TopicsReplica) { t.Leaderless = 2 })), Fail, "2 of 3 of p.poison", "wait some seconds")
	want(t, k.judge(report(func(t *eventlog.TopicsReplica) { t.Err = sarama.ErrLeaderNotAvailable }), whole), Fail, "topic p.poison: ", "wait some seconds")
	for _, electing := range []error{eventlog.ErrNoLeader, sarama.ErrNotLeaderForPartition, sarama.ErrOffsetsLoadInProgress} {
		want(t, kafkaFailure(fmt.Errorf("describe: %w", electing), "give the rights"), Fail, electing.Error(), "wait some seconds")
	}
	want(t, kafkaFailure(sarama.ErrTopicAuthorizationFailed, "give the rights"), Fail, "give the rights")
	want(t, k.replicas(report(func(t *eventlog.TopicsReplica) { t.OutOfSync = 1 })), Warn, "1 of 3 of p.poison")
	old := same
	old.Level = minLevel - 1
	want(t, k.version(old), Fail, "upgrade")
	plain := same
	plain.Transactions = false
	want(t, k.version(plain), Warn, "NETSIM_PUBLIC_TRANSACTIONS=false")
	if names := strings.Join(k.names(), " "); !strings.Contains(names, "p.workspaces") {
		t.Errorf("the topics are %s", names)
	}
}
