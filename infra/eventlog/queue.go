package eventlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"netsim/fault"
)

// batchBytes bounds a batch; a larger record is a batch of its own. It is below the
// default message limit of a broker.
const batchBytes = 1_000_000

// queue holds the appends of one partition. At most one loop drains it.
type queue struct {
	kafka *Kafka
	at    topicPartition

	mu       sync.Mutex
	waiting  []*Pending
	count    int // appends waiting or in flight
	bytes    int // their sizes
	draining bool

	// Used by the loop only.
	end  int64     // the next batch lies at or after this offset; -1 if unknown
	buf  []byte    // reused by encode
	sent time.Time // the time in the header of the encoded batch
}

// add adds the append to the end, and reports whether the caller must start a
// loop.
func (q *queue) add(p *Pending) (start bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.count >= q.kafka.MaxQueued || q.bytes+p.size > q.kafka.MaxQueuedBytes && q.count > 0 {
		return false, errFull
	}
	q.waiting = append(q.waiting, p)
	q.count++
	q.bytes += p.size
	start = !q.draining
	q.draining = true
	return start, nil
}

// take returns the appends of the next batch, or nil when the queue is empty. The
// loop then ends, and the next add reports that its caller must start one.
func (q *queue) take() []*Pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, size := 0, 0
	for n < len(q.waiting) && (n == 0 || size+q.waiting[n].size <= batchBytes) {
		size += q.waiting[n].size
		n++
	}
	if n == 0 {
		q.draining = false
		q.waiting = nil
		return nil
	}
	batch := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return batch
}

// QueueReport counts the records that are queued or in flight for a partition.
type QueueReport struct {
	Topic     string
	Partition int32
	Records   int
	Bytes     int
}

// Queues returns a report for every partition that was appended to.
func (k *Kafka) Queues() []QueueReport {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []QueueReport
	for at, q := range k.queues {
		q.mu.Lock()
		all = append(all, QueueReport{at.topic, at.partition, q.count, q.bytes})
		q.mu.Unlock()
	}
	return all
}

func (q *queue) release(batch []*Pending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count -= len(batch)
	for _, p := range batch {
		q.bytes -= p.size
	}
}

// drain writes batches until the queue is empty.
func (q *queue) drain() {
	for batch := q.take(); batch != nil; batch = q.take() {
		ctx, cancel := context.WithDeadline(q.kafka.running, batch[0].deadline)
		base, err := q.write(ctx, batch)
		cancel()
		q.release(batch)
		for i, p := range batch {
			p.settle(base+int64(i), err)
			q.kafka.Appended(q.at.topic, time.Since(p.appended), err)
		}
	}
}

// write sends the batch until its result is known or ctx ends, and returns the
// offset of its first copy (see doc.go).
func (q *queue) write(ctx context.Context, batch []*Pending) (int64, error) {
	set := q.encode(batch)
	inDoubt := false
	for pause := retries(); ; {
		base, appended, err := q.try(ctx, set)
		if err == nil && inDoubt {
			base, err = q.firstCopy(ctx, set, base)
		}
		if err == nil {
			q.end = base + int64(len(batch))
			if !inDoubt { // an earlier try in doubt may still be reading set
				q.buf = set
				q.kafka.tails.add(q.at, batch, base, appended)
			}
			return base, nil
		}
		effect := effectOf(err)
		inDoubt = inDoubt || effect == doubtful
		if effect == refused || !pause(ctx) {
			return 0, q.failure(err, effect, inDoubt)
		}
	}
}

func (q *queue) failure(err error, last effect, inDoubt bool) error {
	switch {
	case inDoubt:
		return unknown(q.at.topic, q.at.partition, err)
	case errors.Is(err, kafka.MessageSizeTooLarge), errors.Is(err, kafka.RecordListTooLarge):
		return &fault.Fault{
			Code:    fault.PayloadTooLarge,
			Message: "the request makes an event larger than the log stores",
			Cause:   fmt.Errorf("append to %s/%d: %w: %w", q.at.topic, q.at.partition, ErrNotWritten, err),
		}
	case last == refused:
		return fmt.Errorf("append to %s/%d: %w: %w", q.at.topic, q.at.partition, ErrNotWritten, err)
	}
	return notWritten(q.at.topic, q.at.partition, err)
}

// encode returns the record set of the batch, preceded by its length in 4 bytes.
func (q *queue) encode(batch []*Pending) []byte {
	set := append(q.buf[:0], 0, 0, 0, 0)
	q.buf = nil
	q.sent = time.Now()
	set = appendBatch(set, batch, q.sent)
	binary.BigEndian.PutUint32(set, uint32(len(set)-4))
	return set
}

// try sends the batch once, and returns the offset and time of its first record in
// the log. Before the first batch it reads the end of the partition.
func (q *queue) try(ctx context.Context, set []byte) (base int64, appended time.Time, err error) {
	if ctx.Err() != nil {
		return 0, appended, unsentError{ctx.Err()}
	}
	if q.end < 0 {
		end, err := q.kafka.end(ctx, q.at.topic, q.at.partition)
		if err != nil {
			return 0, appended, unsentError{fmt.Errorf("ask for the partition's end: %w", err)}
		}
		q.end = end
	}
	res, err := q.kafka.producer.RawProduce(ctx, &kafka.RawProduceRequest{
		Topic:        q.at.topic,
		Partition:    int(q.at.partition),
		RequiredAcks: kafka.RequireAll,
		RawRecords:   protocol.RawRecordSet{Reader: bytes.NewReader(set)},
	})
	if err != nil {
		return 0, appended, err
	}
	q.kafka.noteThrottle(res.Throttle)
	appended = res.LogAppendTime
	if appended.UnixMilli() <= 0 { // the broker keeps the producer's time
		appended = q.sent
	}
	return res.BaseOffset, appended.Truncate(time.Millisecond).UTC(), res.Error
}

// firstCopy returns the offset of the first copy of a batch that was acknowledged
// at base. It retries until ctx ends.
func (q *queue) firstCopy(ctx context.Context, set []byte, base int64) (int64, error) {
	records := set[4+batchHeader:]
	for from, pause := q.end, retries(); from < base; {
		res, err := q.kafka.fetch(ctx, &fetchRequest{
			topic: q.at.topic, partition: q.at.partition, from: from, maxBytes: batchBytes, wait: time.Second,
		})
		if err != nil {
			if !pause(ctx) {
				return 0, fmt.Errorf("find the first copy: %w", err)
			}
			continue
		}
		for from < base {
			b, ok, err := takeBatch(&res.set)
			if err != nil {
				return 0, fmt.Errorf("find the first copy: %w", err)
			}
			if !ok {
				break
			}
			if bytes.Equal(b.records, records) {
				return b.base(), nil
			}
			from = b.next()
		}
	}
	return base, nil
}
