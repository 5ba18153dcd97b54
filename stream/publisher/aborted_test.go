package publisher

import (
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/internal/testworld"
	"netsim/stream/public"
)

// Transactions that are larger than a fetch, and are aborted in another order than they
// began, are not read, and not taken for what is published.
func TestAbortedTransactionsAreLargerThanAFetch(t *testing.T) {
	t.Parallel()
	w := testworld.New(t)
	makeFacts(t, w, 4, 3)
	c := configOf(w)
	_, stop := start(t, c)
	awaitPublished(t, w)
	stop()

	const partition = 0
	first, second := newAborting(t, c, partition, "first"), newAborting(t, c, partition, "second")
	first.send(t, 1)
	second.send(t, 2*fetchBytes)
	second.abort(t)
	first.send(t, 2*fetchBytes)
	first.abort(t)

	committed, err := OpenCommitted(c)
	if err != nil {
		t.Fatal(err)
	}
	defer committed.Close()
	var want, got []string
	for _, r := range topics(w).Facts(t, events.Workspaces, partition) {
		want = append(want, fmt.Sprintf("%.40q", r.Value))
	}
	for from := int64(0); ; {
		records, next, err := committed.Read(t.Context(), events.Workspaces, partition, from)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			got = append(got, fmt.Sprintf("%.40q", r.Value))
		}
		if next == from {
			break
		}
		from = next
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("committed (-want +read):\n%s", d)
	}
	scan := scan{committed.client, Topic(c.Prefix, events.Workspaces), partition, public.Source{Topic: w.EventLog.Topic(events.Workspaces), Partition: partition}, sarama.ReadCommitted}
	if last, err := scan.last(); err != nil || last.id == "never" {
		t.Fatalf("the last fact that is published: %+v, %v", last, err)
	}
	makeFacts(t, w, 4, 1)
	_, stop = start(t, c)
	awaitPublished(t, w)
	stop()
	equalToLog(t, w)
}

// aborting writes records with the position of a fact into a partition of the public
// topic of workspaces, in a transaction.
type aborting struct {
	sarama.SyncProducer
	message sarama.ProducerMessage
}

func newAborting(t *testing.T, c Config, partition int32, name string) aborting {
	t.Helper()
	settings := c.producing(partition, true)
	settings.Producer.Transaction.ID = c.Prefix + name
	producer, err := sarama.NewSyncProducer(c.Brokers, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { producer.Close() }) //nolint:errcheck // its transaction has ended
	if err := producer.BeginTxn(); err != nil {
		t.Fatal(err)
	}
	a := aborting{producer, sarama.ProducerMessage{Topic: Topic(c.Prefix, events.Workspaces), Partition: partition}}
	for name, value := range map[string]string{
		"ce_id": "never", public.SourceTopic: c.source(events.Workspaces), public.SourcePartition: "0", public.SourceOffset: "1000000",
	} {
		a.message.Headers = append(a.message.Headers, sarama.RecordHeader{Key: []byte(name), Value: []byte(value)})
	}
	return a
}

// send writes records of a number of bytes in all.
func (a aborting) send(t *testing.T, bytes int) {
	t.Helper()
	const most = 64 << 10
	for ; bytes > 0; bytes -= most {
		value := make([]byte, min(bytes, most))
		rand.Read(value) // so that it cannot be compressed
		m := a.message
		m.Value = sarama.ByteEncoder(value)
		if _, _, err := a.SendMessage(&m); err != nil {
			t.Fatal(err)
		}
	}
}

func (a aborting) abort(t *testing.T) {
	t.Helper()
	if err := a.AbortTxn(); err != nil {
		t.Fatal(err)
	}
}
