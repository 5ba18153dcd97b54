//go:build faketime

package dst

import (
	"encoding/binary"
	"hash/crc32"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// produce appends batches. Their time is that of the broker (LogAppendTime).
func (b *broker) produce(r *kmsg.ProduceRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.ProduceResponse)
	for _, want := range r.Topics {
		t := kmsg.NewProduceResponseTopic()
		t.Topic = want.Topic
		for _, one := range want.Partitions {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition = one.Partition
			l := b.partition(want.Topic, one.Partition)
			if l == nil {
				p.ErrorCode = codeUnknownTopic
			} else {
				p.LogAppendTime = b.w.now().UnixMilli()
				p.BaseOffset = l.append(one.Records, b.epoch, p.LogAppendTime)
				b.w.truth.appended(want.Topic, one.Partition, p.BaseOffset, l.batches[len(l.batches)-1].bytes)
			}
			t.Partitions = append(t.Partitions, p)
		}
		res.Topics = append(res.Topics, t)
	}
	if r.Acks == 0 {
		return nil
	}
	return res
}

// append stores a batch in format 2, with its offset, epoch, time and checksum.
func (l *partitionLog) append(records []byte, epoch int32, at int64) (base int64) {
	bytes := append([]byte(nil), records...)
	base = l.next
	be := binary.BigEndian
	be.PutUint64(bytes, uint64(base))
	be.PutUint32(bytes[12:], uint32(epoch))
	be.PutUint16(bytes[21:], be.Uint16(bytes[21:])|1<<3)
	be.PutUint64(bytes[35:], uint64(at))
	be.PutUint32(bytes[17:], crc32.Checksum(bytes[21:], crc32.MakeTable(crc32.Castagnoli)))
	l.next = base + int64(be.Uint32(bytes[23:])) + 1
	l.batches = append(l.batches, storedBatch{base, l.next, bytes})
	close(l.grown)
	l.grown = make(chan struct{})
	return base
}

func (b *broker) fetch(c *conn, r *kmsg.FetchRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.FetchResponse)
	if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		b.w.fail("a fetch of %d topics", len(r.Topics))
		return nil
	}
	want, one := r.Topics[0], r.Topics[0].Partitions[0]
	t, p := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
	t.Topic, p.Partition = want.Topic, one.Partition
	l := b.partition(want.Topic, one.Partition)
	switch {
	case l == nil:
		p.ErrorCode = codeUnknownTopic
	case one.FetchOffset > l.next:
		p.ErrorCode = codeOutOfRange
	default:
		if one.FetchOffset == l.next && r.MaxWaitMillis > 0 {
			timer := time.NewTimer(time.Duration(r.MaxWaitMillis) * time.Millisecond)
			select {
			case <-l.grown:
			case <-timer.C:
			}
			timer.Stop()
		}
		p.HighWatermark, p.LastStableOffset = l.next, l.next
		first := sort.Search(len(l.batches), func(i int) bool { return l.batches[i].next > one.FetchOffset })
		for i := first; i < len(l.batches) && (i == first || len(p.RecordBatches)+len(l.batches[i].bytes) <= int(one.PartitionMaxBytes)); i++ {
			p.RecordBatches = append(p.RecordBatches, l.batches[i].bytes...)
		}
	}
	t.Partitions = append(t.Partitions, p)
	res.Topics = append(res.Topics, t)
	return res
}
