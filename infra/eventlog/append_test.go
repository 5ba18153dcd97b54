package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/segmentio/kafka-go"

	"netsim/events"
	"netsim/fault"
	"netsim/internal/testwait"
)

func appendsInOrder(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Simulations)
	const writers, each = 16, 200
	var pending [writers][each]*Pending
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				pending[w][i] = k.Append(topic, 1, message(fmt.Sprintf("%d-%d", w, i)))
			}
		})
	}
	testwait.Group(t, &group, "the writers")

	records := readAll(t, k, topic, 1, writers*each)
	for w := range writers {
		last := int64(-1)
		for i, p := range pending[w] {
			offset := await(t, p)
			if offset <= last {
				t.Fatalf("writer %d: append %d is at %d, want an offset after %d", w, i, offset, last)
			}
			last = offset
			if got, want := nameOf(&records[offset]), fmt.Sprintf("%d-%d", w, i); got != want {
				t.Fatalf("offset %d holds %s, want %s", offset, got, want)
			}
		}
	}
}

// gate delays every new connection until it is opened.
type gate struct {
	opened chan struct{} // closed to open the gate
	armed  bool
}

func (g *gate) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if g.armed {
		select {
		case <-g.opened:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// openGated returns an event log that sends no append before the gate is opened,
// because it has no connection to the partition's leader.
func openGated(t *testing.T, c Config) (*Kafka, *gate) {
	open(t, c) // another process creates the topics
	g := &gate{opened: make(chan struct{}), armed: true}
	c.dial = g.dial
	k, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k, g
}

func queuedAppendsShareABatch(t *testing.T, c Config) {
	c.Prefix = freshPrefix()
	k, gate := openGated(t, c)
	topic := k.Topic(events.Simulations)
	pending := make([]*Pending, 500)
	for i := range pending {
		pending[i] = k.Append(topic, 0, message(fmt.Sprint(i)))
	}
	close(gate.opened)
	for i, p := range pending {
		if offset := await(t, p); offset != int64(i) {
			t.Fatalf("append %d is at %d, want %d", i, offset, i)
		}
	}
	res, err := k.fetch(t.Context(), &fetchRequest{topic: topic, maxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	batches := 0
	for {
		_, ok, err := takeBatch(&res.set)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		batches++
	}
	// The first batch has the records queued when the loop started, the second the rest.
	if batches > 2 {
		t.Errorf("%d appends became %d batches, want 2 at most", len(pending), batches)
	}
}

func fullQueueRefuses(t *testing.T, c Config) {
	c.Prefix, c.MaxQueued = freshPrefix(), 3
	k, gate := openGated(t, c)
	topic := k.Topic(events.Simulations)
	accepted := []*Pending{}
	for i := range 3 {
		accepted = append(accepted, k.Append(topic, 0, message(fmt.Sprint(i))))
	}
	_, err := k.Append(topic, 0, message("too many")).Wait(t.Context())
	refusal, ok := errors.AsType[*fault.Fault](err)
	if !ok || refusal.Code != fault.Unavailable || refusal.RetryAfter <= 0 || !errors.Is(err, ErrNotWritten) {
		t.Errorf("append to a full queue: %v, want Unavailable with RetryAfter and ErrNotWritten", err)
	}
	close(gate.opened)
	for _, p := range accepted {
		await(t, p)
	}
	if offset := await(t, k.Append(topic, 0, message("room again"))); offset != 3 {
		t.Errorf("the next append is at %d, want 3", offset)
	}
}

func recordsRoundTrip(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Workspaces)
	header := func(key string, value []byte) events.Header { return events.Header{Key: key, Value: value} }
	binary := make([]byte, 256)
	for i := range binary {
		binary[i] = byte(i)
	}
	messages := []events.Message{
		{Key: []byte("k"), Value: []byte("v")},
		{Key: nil, Value: nil},
		{Key: []byte{}, Value: []byte{}},
		{Key: binary, Value: binary, Headers: []events.Header{header("ce_x", binary), header("ce_x", []byte("again"))}},
		{Value: []byte("v"), Headers: []events.Header{header("empty", []byte{}), header("null", nil), header("", []byte("no name"))}},
		benchMessage(),
	}
	for i, m := range messages {
		if offset := await(t, k.Append(topic, 0, m)); offset != int64(i) {
			t.Fatalf("append %d is at %d, want %d", i, offset, i)
		}
	}
	for i, r := range readAll(t, k, topic, 0, len(messages)) {
		if diff := cmp.Diff(messages[i], r.Message); diff != "" {
			t.Errorf("record %d (-appended +read):\n%s", i, diff)
		}
		if r.Topic != topic || r.Partition != 0 || r.Offset != int64(i) {
			t.Errorf("record %d has %s/%d at %d, want %s/0 at %d", i, r.Topic, r.Partition, r.Offset, topic, i)
		}
	}
}

// sized returns a message whose sizeOf is size.
func sized(size int) events.Message {
	m := message("big")
	m.Value = nil
	m.Value = bytes.Repeat([]byte("x"), size-sizeOf(&m))
	return m
}

func sizeLimit(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Workspaces)
	largest := sized(k.MaxRecord)
	await(t, k.Append(topic, 0, largest))
	_, err := k.Append(topic, 0, sized(k.MaxRecord+1)).Wait(t.Context())
	if !fault.Is(err, fault.PayloadTooLarge) || !errors.Is(err, ErrNotWritten) {
		t.Errorf("append of a record one byte too large: %v, want PayloadTooLarge and ErrNotWritten", err)
	}
	records := readAll(t, k, topic, 0, 1)
	if len(records) != 1 || !bytes.Equal(records[0].Value, largest.Value) {
		t.Errorf("read %d records, want only the largest", len(records))
	}
}

func smallerTopicLimit(t *testing.T, c Config) {
	k := open(t, c)
	topic := k.Topic(events.Workspaces)
	alter(t, k, topic, settingMaxMessage, "5000")
	var err error
	for err == nil { // a broker applies a setting a little after it reports it
		_, err = k.Append(topic, 0, sized(20_000)).Wait(t.Context())
	}
	if !fault.Is(err, fault.PayloadTooLarge) || !errors.Is(err, ErrNotWritten) || !errors.Is(err, kafka.MessageSizeTooLarge) {
		t.Errorf("append above the topic's limit: %v, want PayloadTooLarge and ErrNotWritten", err)
	}
	await(t, k.Append(topic, 0, message("small")))
}

func appendToMissingPartition(t *testing.T, c Config) {
	c.AppendTimeout = 200 * time.Millisecond
	k := open(t, c)
	for _, topic := range []string{"no-such-topic", k.Topic(events.Billing)} {
		_, err := k.Append(topic, 99, message("lost")).Wait(t.Context())
		if !errors.Is(err, ErrNotWritten) || errors.Is(err, ErrUnknown) {
			t.Errorf("append to partition 99 of %s: %v, want ErrNotWritten", topic, err)
		}
	}
}

func closeEndsAppends(t *testing.T, c Config) {
	c.Prefix = freshPrefix()
	k, _ := openGated(t, c)
	topic := k.Topic(events.Simulations)
	waiting := k.Append(topic, 0, message("never sent"))
	k.Close()
	for name, p := range map[string]*Pending{"before": waiting, "after": k.Append(topic, 0, message("late"))} {
		if _, err := p.Wait(t.Context()); !errors.Is(err, ErrNotWritten) {
			t.Errorf("append %s Close: %v, want ErrNotWritten", name, err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Pending{done: make(chan struct{})}).Wait(canceled); !errors.Is(err, ErrUnknown) {
		t.Errorf("a canceled Wait: %v, want ErrUnknown", err)
	}
}
