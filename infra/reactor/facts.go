package reactor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"netsim/events"
	"netsim/infra/facts"
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

// positionOf returns the position of a message's record in the log.
func positionOf(m *message.Message, family events.Family) (at events.Position, err error) {
	partition, err := strconv.ParseInt(m.Metadata.Get(partitionHeader), 10, 32)
	if err != nil {
		return at, fmt.Errorf("read the record's partition: %w", err)
	}
	offset, err := strconv.ParseInt(m.Metadata.Get(offsetHeader), 10, 64)
	if err != nil {
		return at, fmt.Errorf("read the record's offset: %w", err)
	}
	return events.Position{Family: family, Partition: int32(partition), Offset: offset}, nil
}

// react calls the handler with the message's fact.
func (r *Reactor) react(m *message.Message, h handler) error {
	began := time.Now()
	f := m.Context().Value(factKey{}).(*facts.Fact) //nolint:forcetypeassert // every message has one
	var err error
	if f.Err != nil {
		err = fmt.Errorf("%w: %w", errUnreadable, f.Err)
	} else {
		err = h.react(m.Context(), f.Fact)
	}
	if err != nil {
		r.observe(h, outcomeFailed, time.Since(began))
		return fmt.Errorf("handler %s on %s %s: %w", h.name, m.Metadata.Get(typeHeader), m.Metadata.Get(streamHeader), err)
	}
	r.observe(h, outcomeDone, time.Since(began))
	return nil
}

// errOutage is wrapped by a failure during an outage of the read model.
var errOutage = errors.New("the read model does not answer")

// blame wraps a failure in errOutage when the read model does not answer after it.
func (r *Reactor) blame(h handler) message.HandlerMiddleware {
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			out, err := next(m)
			if err == nil || errors.Is(err, errUnreadable) {
				return out, err
			}
			at, _ := positionOf(m, h.family) // it has one
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
