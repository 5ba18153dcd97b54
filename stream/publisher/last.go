package publisher

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/IBM/sarama"

	"netsim/events"
	"netsim/stream/public"
)

// scan looks for the last committed record of a public topic's partition that has a
// fact of the source. Records of other writers are passed over.
type scan struct {
	client    sarama.Client
	topic     string
	partition int32
	source    public.Source // its topic and partition
	isolation sarama.IsolationLevel
}

// published is a fact in a public topic.
type published struct {
	offset int64  // in the log; -1 for none
	id     string // of the event
	hash   string // likewise
}

var none = published{offset: -1}

// last returns the fact of that record, or none. It reads backwards
// in growing steps, because the end of a partition may have the records of aborted
// transactions.
func (s *scan) last() (published, error) {
	topic, partition := s.topic, s.partition
	first, err := s.client.GetOffset(topic, partition, sarama.OffsetOldest)
	if err != nil {
		return none, fmt.Errorf("ask for the begin of %s/%d: %w", topic, partition, err)
	}
	end, err := s.client.GetOffset(topic, partition, sarama.OffsetNewest)
	if err != nil {
		return none, fmt.Errorf("ask for the end of %s/%d: %w", topic, partition, err)
	}
	for step := int64(firstStep); end > first; step = min(2*step, maxStep) {
		from := max(first, end-step)
		last, err := s.lastIn(from, end)
		if err != nil {
			return none, fmt.Errorf("read %s/%d from %d: %w", topic, partition, from, err)
		}
		if last != none {
			return last, nil
		}
		end = from
	}
	return none, nil
}

const (
	firstStep  = 64 // offsets
	maxStep    = 16 << 10
	fetchBytes = 1 << 20
)

// lastIn is last within the offsets from up to end.
func (s *scan) lastIn(from, end int64) (published, error) {
	last := none
	aborted := map[int64]bool{} // producers in an aborted transaction
	for from < end {
		block, err := s.fetch(from)
		if err != nil {
			return none, err
		}
		if len(block.RecordsSet) == 0 {
			return last, nil // the last stable offset
		}
		from, err = eachCommitted(block, aborted, from, func(b *sarama.RecordBatch) {
			if found := s.lastOf(b, from, end); found != none {
				last = found
			}
		})
		if err != nil {
			return none, err
		}
	}
	return last, nil
}

// isAbort reports whether a control batch ends a transaction by aborting it (Kafka
// documentation, section "Control Batches").
func isAbort(b *sarama.RecordBatch) bool {
	return len(b.Records) == 1 && len(b.Records[0].Key) >= 4 && binary.BigEndian.Uint16(b.Records[0].Key[2:]) == 0
}

// lastOf returns the fact of the batch's last record within the offsets from up to end,
// or none.
func (s *scan) lastOf(b *sarama.RecordBatch, from, end int64) published {
	last := none
	for _, r := range b.Records {
		if at := b.FirstOffset + r.OffsetDelta; at < from || at >= end {
			continue
		}
		var m events.Message
		id, hash := "", ""
		for _, h := range r.Headers {
			switch string(h.Key) {
			case "ce_id":
				id = string(h.Value)
			case "ce_hash":
				hash = string(h.Value)
			}
			m.Headers = append(m.Headers, events.Header{Key: string(h.Key), Value: h.Value})
		}
		if of, err := public.SourceOf(&m); err == nil && of.Topic == s.source.Topic && of.Partition == s.source.Partition {
			last = published{of.Offset, id, hash}
		}
	}
	return last
}

// fetch reads batches from an offset on. The limit is the partition's and not the
// request's: the embedded broker lists no aborted transactions of a partition that the
// limit of the request cuts (docs/adr/0068).
func (s *scan) fetch(from int64) (*sarama.FetchResponseBlock, error) {
	leader, err := s.client.Leader(s.topic, s.partition)
	if err != nil {
		return nil, err
	}
	req := &sarama.FetchRequest{Version: 11, MinBytes: 1, MaxBytes: sarama.MaxResponseSize, Isolation: s.isolation, SessionEpoch: -1}
	req.AddBlock(s.topic, s.partition, from, fetchBytes, -1)
	res, err := leader.Fetch(req)
	if err != nil {
		return nil, err
	}
	block := res.GetBlock(s.topic, s.partition)
	switch {
	case block == nil:
		return nil, sarama.ErrIncompleteResponse
	case block.Err != sarama.ErrNoError:
		return nil, block.Err
	}
	slices.SortFunc(block.AbortedTransactions, func(a, b *sarama.AbortedTransaction) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	return block, nil
}
