package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// gate is a listener that accepts only connections of this process until it is opened.
type gate struct {
	net.Listener
	own    chan net.Conn
	opened chan struct{}
}

func newGate() *gate {
	return &gate{own: make(chan net.Conn), opened: make(chan struct{})}
}

// listen makes the gate of the broker's only listener.
func (g *gate) listen(network, address string) (net.Listener, error) {
	l, err := net.Listen(network, address)
	g.Listener = l
	return g, err
}

// Accept returns the next connection.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case c := <-g.own:
		return c, nil
	case <-g.opened:
		return g.Listener.Accept()
	}
}

// dial connects this process to the broker while the gate is closed.
func (g *gate) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case g.own <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// endTransactions writes the end of every transaction that was open when the broker was
// killed. The broker only remembers that such a transaction is aborted. Without its end in
// the log, consumers of committed records take what its producer writes next for a part of
// it, and so does the broker when it is killed again.
func endTransactions(ctx context.Context, g *gate) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(g.Addr().String()), kgo.Dialer(g.dial))
	if err != nil {
		return err
	}
	defer client.Close()
	topics, err := kadm.NewClient(client).ListTopics(ctx)
	if err != nil {
		return fmt.Errorf("list the topics: %w", err)
	}
	starts, err := kadm.NewClient(client).ListStartOffsets(ctx)
	if err != nil {
		return fmt.Errorf("list the starts of the partitions: %w", err)
	}
	for _, topic := range topics.Sorted() {
		for partition := range topic.Partitions {
			start, _ := starts.Lookup(topic.Topic, partition)
			open, err := withoutEnd(ctx, client, &topic, partition, start.Offset)
			if err == nil && len(open) > 0 {
				err = abort(ctx, client, topic.Topic, partition, open)
			}
			if err != nil {
				return fmt.Errorf("end the transactions of %s/%d: %w", topic.Topic, partition, err)
			}
		}
	}
	return nil
}

// withoutEnd reads a partition from its start on, and returns the producers, with their epochs, whose last
// transaction is aborted but has no end.
func withoutEnd(ctx context.Context, client *kgo.Client, topic *kadm.TopicDetail, partition int32, next int64) (map[int64]int16, error) {
	for open := map[int64]int16{}; ; {
		p, err := fetch(ctx, client, topic, partition, next)
		if err != nil || len(p.RecordBatches) == 0 {
			return open, err
		}
		aborted := map[int64]int64{} // producer: first offset of its last transaction
		for _, a := range p.AbortedTransactions {
			aborted[a.ProducerID] = a.FirstOffset
		}
		for raw := p.RecordBatches; len(raw) > 0; {
			length := 12 + int(binary.BigEndian.Uint32(raw[8:]))
			var b kmsg.RecordBatch
			if err := b.ReadFrom(raw[:length]); err != nil {
				return nil, err
			}
			raw, next = raw[length:], b.FirstOffset+int64(b.LastOffsetDelta)+1
			const transactional, control = 0x10, 0x20
			first, known := aborted[b.ProducerID]
			switch {
			case b.Attributes&control != 0:
				delete(open, b.ProducerID)
			case b.Attributes&transactional != 0 && known && b.FirstOffset >= first:
				open[b.ProducerID] = b.ProducerEpoch
			}
		}
	}
}

// fetch reads committed batches of a partition, and those of aborted transactions.
func fetch(ctx context.Context, client *kgo.Client, topic *kadm.TopicDetail, partition int32, from int64) (p kmsg.FetchResponseTopicPartition, err error) {
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, from, 8<<20
	in := kmsg.NewFetchRequestTopic()
	in.Topic, in.TopicID = topic.Topic, topic.ID
	in.Partitions = append(in.Partitions, part)
	req := kmsg.NewPtrFetchRequest()
	req.IsolationLevel, req.SessionEpoch = 1, -1
	req.Topics = append(req.Topics, in)
	res, err := req.RequestWith(ctx, client)
	if err != nil {
		return p, err
	}
	if len(res.Topics) != 1 || len(res.Topics[0].Partitions) != 1 {
		return p, fmt.Errorf("the broker answered for %d topics", len(res.Topics))
	}
	p = res.Topics[0].Partitions[0]
	return p, kerr.ErrorForCode(p.ErrorCode)
}

// abort writes the end of the producers' transactions in a partition.
func abort(ctx context.Context, client *kgo.Client, topic string, partition int32, producers map[int64]int16) error {
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	for producer, epoch := range producers {
		in := kmsg.NewWriteTxnMarkersRequestMarkerTopic()
		in.Topic, in.Partitions = topic, []int32{partition}
		m := kmsg.NewWriteTxnMarkersRequestMarker()
		m.ProducerID, m.ProducerEpoch = producer, epoch
		m.Topics = append(m.Topics, in)
		req.Markers = append(req.Markers, m)
	}
	res, err := req.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, m := range res.Markers {
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
