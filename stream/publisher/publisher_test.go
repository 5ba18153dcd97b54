package publisher

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/internal/testworld"
)

// Public topics have the facts, those from before the publisher and later ones, and
// nothing else.
func TestFactsOnly(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 4, 3)
	start(t, configOf(w))
	awaitPublished(t, w)
	makeFacts(t, w, 4, 3)
	awaitPublished(t, w)
	equalToLog(t, w)
}

// A fact of a type that this release does not know, and one whose data is no JSON, are
// published as they are stored.
func TestUndecodableFactsArePublished(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	id := events.NewID(events.WorkspacePrefix)
	var head events.Head
	for _, f := range []struct{ kind, value string }{
		{"netsim.workspace.painted.v1", `{"colour":"green"}`},
		{events.WorkspaceUpdated{}.EventType(), "\x00 no JSON"},
	} {
		m, hash := events.Frame{
			ID: events.DerivedUUID(id, f.kind).String(), Type: f.kind, Stream: id, PartitionKey: id, Sequence: head.Sequence + 1,
			PreviousHash: head.Hash, Time: time.Now(), Actor: "tester", DataVersion: 1,
		}.Message([]byte(f.value))
		head = events.Head{Sequence: head.Sequence + 1, Hash: hash}
		wait, err := w.WriteLog.Append(t.Context(), events.Workspaces, id, m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	start(t, configOf(w))
	awaitPublished(t, w)
	equalToLog(t, w)
	if got := topics(w).Consume(t, events.Workspaces, events.PartitionOf(id, w.Log.Partitions)); len(got) != 2 {
		t.Errorf("%d facts are published, want 2", len(got))
	}
}

// A fact that the broker refuses is not passed over: the shard stops, and says why, until
// the broker takes it.
func TestRefusedFactStopsItsShard(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	c := fullConfigOf(t, w)
	admin := adminOf(t, w)
	if err := (&Publisher{config: c}).EnsureTopics(t.Context()); err != nil {
		t.Fatal(err)
	}
	limit := func(value string) {
		t.Helper()
		err := admin.IncrementalAlterConfig(sarama.TopicResource, Topic(w.Log.Prefix, events.Workspaces), map[string]sarama.IncrementalAlterConfigsEntry{
			"max.message.bytes": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value},
		}, false)
		if err != nil {
			t.Fatal(err)
		}
	}
	p, _ := start(t, c)
	makeFacts(t, w, 2, 1)
	awaitPublished(t, w)
	limit("300")
	makeFacts(t, w, 4, 1)
	testworld.Await(t, func() bool { return p.Report().Failure != nil && p.Report().LagRecords > 0 })
	limit(strconv.Itoa(maxMessage))
	awaitPublished(t, w)
	equalToLog(t, w)
	testworld.Await(t, func() bool {
		r := p.Report()
		return r.Failure == nil && r.LagRecords == 0 && r.LagAge == 0 && r.Transactions
	})
}

// Topics whose settings lose facts are refused; the retention is set.
func TestTopicsAreChecked(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	c := fullConfigOf(t, w)
	ensure := func() error { return (&Publisher{config: c}).EnsureTopics(t.Context()) }
	if err := ensure(); err != nil {
		t.Fatal(err)
	}
	admin := adminOf(t, w)
	topic := Topic(w.Log.Prefix, events.Billing)
	// A broker that has taken a setting may describe the former one for a moment.
	await := func(name, want string) {
		t.Helper()
		testworld.Await(t, func() bool {
			found, err := settingsOf(admin, topic, name)
			return err == nil && found[name] == want
		})
	}
	await("retention.ms", "-1")
	c.Retention = time.Hour
	if err := ensure(); err != nil {
		t.Error(err)
	}
	await("retention.ms", "3600000")
	c.Relaxed = false
	if err := ensure(); err == nil || !strings.Contains(err.Error(), "replicas, needs 3") {
		t.Errorf("with one replica: %v", err)
	}
	c.Relaxed = true
	compact := "compact"
	err := admin.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{
		"cleanup.policy": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &compact},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	await("cleanup.policy", "compact")
	if err := ensure(); err == nil || !strings.Contains(err.Error(), "compaction deletes facts") {
		t.Errorf("compacted: %v", err)
	}
}

// fullConfigOf returns the settings with their defaults.
func fullConfigOf(t *testing.T, w *testworld.World) Config {
	t.Helper()
	c, err := configOf(w).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func adminOf(t *testing.T, w *testworld.World) sarama.ClusterAdmin {
	t.Helper()
	c := configOf(w)
	admin, err := sarama.NewClusterAdmin(w.Log.Brokers, c.sarama())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	return admin
}

// A consumer group that begins at offset 0 beside live traffic sees every fact once, also
// when a second member takes part of the partitions.
func TestAGroupBesideLiveTraffic(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 6, 2)
	start(t, configOf(w))
	settings := configOf(w)
	c := settings.sarama()
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	seen := &group{ids: map[string]map[string]bool{}}
	member := func(ctx context.Context) error {
		g, err := sarama.NewConsumerGroup(w.Log.Brokers, w.Log.Prefix+"reader", c)
		if err != nil {
			return err
		}
		defer g.Close()
		for ctx.Err() == nil {
			if err := g.Consume(ctx, []string{Topic(w.Log.Prefix, events.Workspaces)}, seen); err != nil && ctx.Err() == nil {
				return err
			}
		}
		return nil
	}
	testworld.Await(t, func() bool { // the topic exists
		client, err := sarama.NewClient(w.Log.Brokers, c)
		if err != nil {
			return false
		}
		defer client.Close()
		partitions, err := client.Partitions(Topic(w.Log.Prefix, events.Workspaces))
		return err == nil && len(partitions) == int(w.Log.Partitions)
	})
	testworld.Running(t, member)
	makeFacts(t, w, 6, 2)
	testworld.Running(t, member)
	makeFacts(t, w, 6, 2)
	awaitPublished(t, w)
	want := 0
	for partition := range w.Log.Partitions {
		for _, r := range topics(w).Facts(t, events.Workspaces, partition) {
			want++
			testworld.Await(t, func() bool { return seen.count(r.ID) > 0 })
			if n := seen.count(r.ID); n != 1 {
				t.Errorf("fact %s is in %d records", r.ID, n)
			}
		}
	}
	if got := seen.len(); got != want {
		t.Errorf("the group saw %d facts, want %d", got, want)
	}
}

// group has the records in which the members of a consumer group see each fact. A group
// sees a record again when its members change before it is committed.
type group struct {
	mu  sync.Mutex
	ids map[string]map[string]bool
}

func (g *group) Setup(sarama.ConsumerGroupSession) error { return nil }

func (g *group) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (g *group) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for m := range c.Messages() {
		for _, h := range m.Headers {
			if string(h.Key) == "ce_id" {
				g.mu.Lock()
				id := string(h.Value)
				if g.ids[id] == nil {
					g.ids[id] = map[string]bool{}
				}
				g.ids[id][fmt.Sprint(m.Partition, "@", m.Offset)] = true
				g.mu.Unlock()
			}
		}
		s.MarkMessage(m, "")
		s.Commit()
	}
	return nil
}

func (g *group) count(id string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.ids[id])
}

func (g *group) len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.ids)
}
