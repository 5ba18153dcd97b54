package publisher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/internal/publictest"
	"netsim/internal/testworld"
	"netsim/stream/public"
)

func TestResume(t *testing.T) {
	t.Parallel()
	committed := func(next int64, metadata string) eventlog.GroupOffset {
		return eventlog.GroupOffset{Next: next, Metadata: metadata}
	}
	for name, tt := range map[string]struct {
		committed eventlog.GroupOffset
		last      map[int32]int64
		want      int64
	}{
		"nothing yet":                             {committed(0, ""), map[int32]int64{0: -1}, 0},
		"the group is further, past no facts":     {committed(9, "1:topic"), map[int32]int64{0: 4}, 9},
		"the group has expired":                   {committed(0, ""), map[int32]int64{0: 4}, 5},
		"the group was set back":                  {committed(2, "1:topic"), map[int32]int64{0: 4}, 5},
		"the group was set forward by hand":       {committed(9, ""), map[int32]int64{0: 4}, 5},
		"the group is of a former topic":          {committed(9, "1:other"), map[int32]int64{0: -1}, 0},
		"the group says in which log it is":       {committed(9, "2:topic:log/9/"+strings.Repeat("0", 64)), map[int32]int64{0: 4}, 9},
		"the group is at the begin of the log":    {committed(0, "2:topic:"), map[int32]int64{0: 4}, 5},
		"the group is of a later release":         {committed(9, "3:topic"), map[int32]int64{0: 4}, 5},
		"old records were deleted":                {committed(9, "1:topic"), map[int32]int64{0: -1}, 9},
		"several partitions":                      {committed(0, ""), map[int32]int64{0: 4, 2: 7}, 5},
		"several partitions, one without a fact":  {committed(0, ""), map[int32]int64{0: -1, 2: 7}, 0},
		"several partitions, the group is behind": {committed(5, "1:topic"), map[int32]int64{0: -1, 2: 7}, 5},
	} {
		p := resume(events.Billing, "topic", tt.committed, tt.last)
		if p.next != tt.want {
			t.Errorf("%s: continues at %d, want %d", name, p.next, tt.want)
		}
		for partition, offset := range tt.last {
			if !p.done(partition, offset) && offset >= 0 || p.done(partition, offset+1) {
				t.Errorf("%s: partition %d has the facts up to %d", name, partition, offset)
			}
		}
	}
}

// Transactions are used only if the broker knows each of their requests.
func TestTransactionsAreDetected(t *testing.T) {
	t.Parallel()
	var all []sarama.ApiVersionsResponseKey
	for key := range int16(40) {
		all = append(all, sarama.ApiVersionsResponseKey{ApiKey: key})
	}
	if !knowsTransactions(all) {
		t.Error("a broker that knows every request has no transactions")
	}
	for _, key := range transactionKeys() {
		without := slices.DeleteFunc(slices.Clone(all), func(k sarama.ApiVersionsResponseKey) bool { return k.ApiKey == key })
		if knowsTransactions(without) {
			t.Errorf("a broker without request %d has transactions", key)
		}
	}
	c := Config{Brokers: configOf(testworld.New(t)).Brokers}
	if has, err := HasTransactions(c); !has || err != nil {
		t.Errorf("the broker of the tests: %t, %v", has, err)
	}
	c.Untransacted = true
	if has, err := HasTransactions(c); has || err != nil {
		t.Errorf("although they are turned off: %t, %v", has, err)
	}
}

// A public topic that has a fact which is not in the log is not continued.
func TestALogThatLostAPublishedFactIsRefused(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 4, 1)
	_, stop := start(t, configOf(w))
	awaitPublished(t, w)
	stop()
	// Identifiers are random, so any partition can be without facts.
	var partition int32
	var facts []publictest.Record
	for partition = range w.Log.Partitions {
		if facts = topics(w).Facts(t, events.Workspaces, partition); len(facts) > 0 {
			break
		}
	}
	last := facts[len(facts)-1]
	for name, foreign := range map[string]struct {
		offset   int64
		id, hash string
	}{
		"the log ends earlier":               {1 << 40, last.ID, last.Hash},
		"the log has another fact there":     {last.Offset, "another", last.Hash},
		"the fact there was made again":      {last.Offset, last.ID, strings.Repeat("0", 64)},
		"the log has no fact at this offset": {last.Offset + 2, last.ID, last.Hash},
	} {
		send(t, w, partition, map[string]string{
			public.SourceTopic: w.EventLog.Topic(events.Workspaces), public.SourcePartition: fmt.Sprint(partition),
			public.SourceOffset: fmt.Sprint(foreign.offset), "ce_id": foreign.id, "ce_hash": foreign.hash,
		})
		p, stop := start(t, configOf(w))
		testworld.Await(t, func() bool { return p.Report().Failure != nil })
		if err := p.Report().Failure; !errors.Is(err, errOtherLog) || !strings.Contains(err.Error(), "netsim events republish") {
			t.Errorf("%s: %v", name, err)
		}
		stop()
	}
	if err := Republish(t.Context(), configOf(w), events.Workspaces, ""); err != nil {
		t.Fatal(err)
	}
	start(t, configOf(w))
	awaitPublished(t, w)
	equalToLog(t, w)
}

// send appends a record of another writer to a partition of the public topic of
// workspaces.
func send(t *testing.T, w *testworld.World, partition int32, headers map[string]string) {
	t.Helper()
	c := sarama.NewConfig()
	c.Version = sarama.V2_8_0_0
	c.Producer.Return.Successes = true
	c.Producer.Partitioner = sarama.NewManualPartitioner
	producer, err := sarama.NewSyncProducer(w.Log.Brokers, c)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	m := &sarama.ProducerMessage{Topic: Topic(w.Log.Prefix, events.Workspaces), Partition: partition, Key: sarama.StringEncoder("workspace_x"), Value: sarama.StringEncoder("{}")}
	for key, value := range headers {
		m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(key), Value: []byte(value)})
	}
	if _, _, err := producer.SendMessage(m); err != nil {
		t.Fatal(err)
	}
}

// A position in another log is refused, also when no record of the public topic shows
// it, as after the retention has deleted them all.
func TestAPositionInAnotherLogIsRefused(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 4, 1)
	c := configOf(w)
	_, stop := start(t, c)
	awaitPublished(t, w)
	stop()
	topic := w.EventLog.Topic(events.Workspaces)
	committed, err := w.EventLog.GroupOffsets(t.Context(), Group(c.Prefix), topic, w.Log.Partitions)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for partition, at := range committed {
		if at.Next == 0 { // no workspace is there
			continue
		}
		changed++
		of, anchor := readMetadata(at.Metadata)
		if anchor.Next != at.Next || anchor.TopicID == "" {
			t.Fatalf("the anchor of partition %d at %d is %+v", partition, at.Next, anchor)
		}
		anchor.Last[0]++ // as if the log had another record there
		p := progress{topic: of}
		at.Metadata = p.metadata(anchor)
		if err := w.EventLog.CommitGroup(t.Context(), Group(c.Prefix), topic, map[int32]eventlog.GroupOffset{int32(partition): at}); err != nil {
			t.Fatal(err)
		}
	}
	if changed == 0 {
		t.Fatal("no partition has a position")
	}
	p, stop := start(t, c)
	makeFacts(t, w, 1, 1)
	testworld.Await(t, func() bool { return p.Report().Failures >= 3 })
	if err := p.Report().Failure; !errors.Is(err, errOtherLog) || !strings.Contains(err.Error(), "is not the one that was seen") {
		t.Errorf("the publisher says %v", err)
	}
	stop()
	if families, err := OtherLog(t.Context(), c); err != nil || !slices.Equal(families, []events.Family{events.Workspaces}) {
		t.Errorf("the public topics of another log: %v, %v", families, err)
	}
	if err := Republish(t.Context(), c, events.Workspaces, ""); err != nil {
		t.Fatal(err)
	}
	start(t, c)
	awaitPublished(t, w)
	equalToLog(t, w)
	if families, err := OtherLog(t.Context(), c); err != nil || len(families) > 0 {
		t.Errorf("after the topic was made again: %v, %v", families, err)
	}
}

// regrown is the log; when it is another one, every record before a position is another.
type regrown struct {
	*eventlog.Kafka
	other *atomic.Bool
}

func (r regrown) Read(ctx context.Context, topic string, partition int32, from int64, maxBytes int, wait time.Duration) ([]events.Record, int64, error) {
	records, end, err := r.Kafka.Read(ctx, topic, partition, from, maxBytes, wait)
	if r.other.Load() {
		for i := range records {
			records[i].Value = []byte("another")
		}
	}
	return records, end, err
}

// A session publishes nothing more after the log has become another one under it.
func TestALogThatIsReplacedUnderAPublisher(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 4, 1)
	var other atomic.Bool
	c := configOf(w)
	c.EventLog = regrown{w.EventLog, &other}
	p, _ := start(t, c)
	awaitPublished(t, w)
	other.Store(true)
	makeFacts(t, w, 4, 1)
	testworld.Await(t, func() bool { return errors.Is(p.Report().Failure, errOtherLog) })
	other.Store(false)
	awaitPublished(t, w)
	equalToLog(t, w)
}
