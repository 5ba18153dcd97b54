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
	res.Topics = eachPartition(r.Topics,
		func(t kmsg.ProduceRequestTopic) (string, []kmsg.ProduceRequestTopicPartition) {
			return t.Topic, t.Partitions
		},
		func(topic string, one kmsg.ProduceRequestTopicPartition) kmsg.ProduceResponseTopicPartition {
			p := kmsg.NewProduceResponseTopicPartition()
			p.Partition = one.Partition
			l := b.partition(topic, one.Partition)
			if l == nil {
				p.ErrorCode = codeUnknownTopic
				return p
			}
			p.LogAppendTime = b.w.now().UnixMilli()
			p.BaseOffset = l.append(one.Records, b.epoch, p.LogAppendTime)
			b.w.truth.appended(topic, one.Partition, p.BaseOffset, l.batches[len(l.batches)-1].bytes)
			return p
		},
		func(topic string, all []kmsg.ProduceResponseTopicPartition) kmsg.ProduceResponseTopic {
			return kmsg.ProduceResponseTopic{Topic: topic, Partitions: all}
		})
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

func (b *broker) fetch(r *kmsg.FetchRequest) kmsg.Response {
	res := r.ResponseKind().(*kmsg.FetchResponse)
	res.Topics = eachPartition(r.Topics,
		func(t kmsg.FetchRequestTopic) (string, []kmsg.FetchRequestTopicPartition) {
			return t.Topic, t.Partitions
		},
		func(topic string, one kmsg.FetchRequestTopicPartition) kmsg.FetchResponseTopicPartition {
			return b.fetchPartition(topic, one, time.Duration(r.MaxWaitMillis)*time.Millisecond)
		},
		func(topic string, all []kmsg.FetchResponseTopicPartition) kmsg.FetchResponseTopic {
			return kmsg.FetchResponseTopic{Topic: topic, Partitions: all}
		})
	return res
}

// fetchPartition waits for records of a partition. The clients ask for one partition at a
// time, so that the waits of a request do not add up.
func (b *broker) fetchPartition(topic string, one kmsg.FetchRequestTopicPartition, wait time.Duration) kmsg.FetchResponseTopicPartition {
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition = one.Partition
	l := b.partition(topic, one.Partition)
	switch {
	case l == nil:
		p.ErrorCode = codeUnknownTopic
		return p
	case one.FetchOffset > l.next:
		p.ErrorCode = codeOutOfRange
		return p
	case one.FetchOffset == l.next && wait > 0:
		timer := time.NewTimer(wait)
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
	return p
}
