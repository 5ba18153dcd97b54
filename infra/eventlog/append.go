package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"netsim/events"
	"netsim/fault"
)

// Pending is an append whose offset is not known yet.
type Pending struct {
	message  events.Message
	size     int
	appended time.Time
	deadline time.Time
	at       topicPartition
	done     chan struct{} // closed when offset and err are final
	offset   int64
	err      error
}

// Append queues the message for the partition, after all earlier appends, and
// returns at once. The message must not change afterwards: followers may read it.
//
// For a record above Config.MaxRecord the error of Wait is a fault PayloadTooLarge,
// for a full queue a fault Unavailable. Both wrap ErrNotWritten.
func (k *Kafka) Append(topic string, partition int32, m events.Message) *Pending {
	now := time.Now()
	p := &Pending{
		message:  m,
		size:     sizeOf(&m),
		appended: now,
		deadline: now.Add(k.AppendTimeout),
		at:       topicPartition{topic, partition},
		done:     make(chan struct{}),
	}
	if p.size > k.MaxRecord {
		p.settle(0, &fault.Fault{
			Code:    fault.PayloadTooLarge,
			Message: fmt.Sprintf("the request makes an event of %d bytes; at most %d can be stored", p.size, k.MaxRecord),
			Cause:   ErrNotWritten,
		})
		return p
	}
	if err := k.enqueue(p); err != nil {
		p.settle(0, notWritten(topic, partition, err))
	}
	return p
}

// Wait returns the offset of the first copy of the record. ErrNotWritten means that
// there is none. Every other error is ErrUnknown, including that of a ctx that ends
// first.
func (p *Pending) Wait(ctx context.Context) (int64, error) {
	select {
	case <-p.done:
		return p.offset, p.err
	case <-ctx.Done():
		return 0, unknown(p.at.topic, p.at.partition, ctx.Err())
	}
}

func (p *Pending) settle(offset int64, err error) {
	p.offset, p.err = offset, err
	close(p.done)
}

var (
	errClosed = errors.New("the event log is closed")
	errFull   = errors.New("the partition's queue is full")
)

// enqueue adds the append to its partition's queue, and starts a loop for the
// queue if none runs.
func (k *Kafka) enqueue(p *Pending) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errClosed
	}
	q := k.queues[p.at]
	if q == nil {
		q = &queue{kafka: k, at: p.at, end: -1}
		k.queues[p.at] = q
	}
	start, err := q.add(p)
	if start {
		k.loops.Go(q.drain)
	}
	return err
}
