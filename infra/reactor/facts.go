package reactor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"netsim/events"
)

// The metadata of a message are its record's headers and its position in the
// log. All of them are copied to the dead-letter topic, where Watermill adds the
// reason, topic and handler.
const (
	typeHeader      = "ce_type"
	idHeader        = "ce_id"
	streamHeader    = "ce_subject"
	partitionHeader = "partition_poisoned"
	offsetHeader    = "offset_poisoned"
	recordedHeader  = "recorded_poisoned"
)

// Outcomes of a record.
const (
	outcomeDone   = "done"
	outcomeNoFact = "not_a_fact"
	outcomeFailed = "failed"
	outcomeDead   = "dead_letter"
)

// errUnreadable is wrapped by the error of a fact that this release cannot
// read. It is not retried.
var errUnreadable = errors.New("the fact cannot be read")

// unmarshaler turns a record into a message. It never fails: a record that cannot
// be read is judged like any other.
type unmarshaler struct{}

// Unmarshal implements kafka.Unmarshaler.
func (unmarshaler) Unmarshal(record *sarama.ConsumerMessage) (*message.Message, error) {
	metadata := make(message.Metadata, len(record.Headers)+4)
	for _, h := range record.Headers {
		metadata.Set(string(h.Key), string(h.Value))
	}
	metadata.Set(partitionHeader, strconv.Itoa(int(record.Partition)))
	metadata.Set(offsetHeader, strconv.FormatInt(record.Offset, 10))
	metadata.Set(recordedHeader, record.Timestamp.UTC().Format(time.RFC3339Nano))
	metadata.Set(middleware.CorrelationIDMetadataKey, metadata.Get("ce_correlationid"))
	m := message.NewMessage(metadata.Get(idHeader), record.Value)
	m.Metadata = metadata
	return m, nil
}

// positionOf returns the position of a message's record in the log, and its time.
func positionOf(m *message.Message, family events.Family) (at events.Position, recorded time.Time, err error) {
	partition, err := strconv.ParseInt(m.Metadata.Get(partitionHeader), 10, 32)
	if err != nil {
		return at, recorded, fmt.Errorf("read the record's partition: %w", err)
	}
	offset, err := strconv.ParseInt(m.Metadata.Get(offsetHeader), 10, 64)
	if err != nil {
		return at, recorded, fmt.Errorf("read the record's offset: %w", err)
	}
	recorded, err = time.Parse(time.RFC3339Nano, m.Metadata.Get(recordedHeader))
	return events.Position{Family: family, Partition: int32(partition), Offset: offset}, recorded, err
}

// factsOnly delays a record until it has been judged, and drops it unless it is a
// fact. Without a verdict the record is delivered again.
func (r *Reactor) factsOnly(h handler) message.HandlerMiddleware {
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			at, _, err := positionOf(m, h.family)
			if err != nil {
				return nil, err
			}
			verdict, err := r.config.Judge.Verdict(m.Context(), at)
			if err != nil {
				return nil, err
			}
			if verdict != events.Accepted {
				r.observe(h, outcomeNoFact, 0)
				return nil, nil
			}
			return next(m)
		}
	}
}

// react decodes the fact and calls the handler.
func (r *Reactor) react(m *message.Message, h handler) error {
	began := time.Now()
	f, err := factOf(m, h.family)
	if err == nil {
		err = h.react(m.Context(), f)
	}
	if err != nil {
		r.observe(h, outcomeFailed, time.Since(began))
		return fmt.Errorf("handler %s on %s %s: %w", h.name, m.Metadata.Get(typeHeader), m.Metadata.Get(streamHeader), err)
	}
	r.observe(h, outcomeDone, time.Since(began))
	return nil
}

// factOf decodes an accepted record. The projector has read its frame, so no
// header occurs twice and the key is the stream.
func factOf(m *message.Message, family events.Family) (events.Fact, error) {
	at, recorded, err := positionOf(m, family)
	if err != nil {
		return events.Fact{}, err
	}
	record := events.Message{Key: []byte(m.Metadata.Get(streamHeader)), Value: m.Payload}
	for name, value := range m.Metadata {
		record.Headers = append(record.Headers, events.Header{Key: name, Value: []byte(value)})
	}
	frame, hash, err := events.ReadFrame(&record)
	if err != nil {
		return events.Fact{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	data, err := events.Decode(frame.Type, m.Payload)
	if err != nil {
		return events.Fact{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return events.Fact{
		Event: events.Event{Frame: frame, Hash: hash, Data: data}, Family: family,
		Partition: at.Partition, Offset: at.Offset, RecordedAt: recorded,
	}, nil
}

// errOutage is wrapped by a failure during an outage of the read model.
var errOutage = errors.New("the read model does not answer")

// blame wraps errOutage when the read model does not answer after a failure.
func (r *Reactor) blame(h handler) message.HandlerMiddleware {
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			out, err := next(m)
			if err == nil || errors.Is(err, errUnreadable) {
				return out, err
			}
			at, _, _ := positionOf(m, h.family) // it was read before
			if _, e := r.config.Judge.Verdict(m.Context(), at); e != nil {
				return nil, fmt.Errorf("%w: %w", errOutage, err)
			}
			return nil, err
		}
	}
}

// blameable reports whether a fact becomes a dead letter for the error.
func blameable(err error) bool {
	return !errors.Is(err, errOutage) && !errors.Is(err, context.Canceled)
}

func (r *Reactor) observe(h handler, outcome string, took time.Duration) {
	r.config.Observe(Observation{Handler: h.name, Outcome: outcome, Took: took})
}
