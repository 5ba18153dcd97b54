package eventlog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"netsim/fault"
	"netsim/infra/broker"
	"netsim/infra/wait"
)

// The errors of an append.
var (
	// ErrUnknown means that the record may be in the log, now or later.
	ErrUnknown = errors.New("not known whether the record was written")
	// ErrNotWritten means that the record is not in the log and never will be.
	ErrNotWritten = errors.New("the record was not written")
)

// The errors of Read.
var (
	// ErrOutOfRange means that the offset lies before the partition's first record
	// or after its end.
	ErrOutOfRange = errors.New("the log does not reach this offset")
	// ErrNoTopic means that the topic or partition does not exist.
	ErrNoTopic = errors.New("the topic or partition does not exist")
)

func unknown(topic string, partition int32, cause error) error {
	return fault.Unknown(fmt.Errorf("append to %s/%d: %w: %w", topic, partition, ErrUnknown, cause))
}

func notWritten(topic string, partition int32, cause error) error {
	return &fault.Fault{
		Code:       fault.Unavailable,
		Message:    "the log takes no writes at the moment; nothing was written",
		RetryAfter: time.Second,
		Cause:      fmt.Errorf("append to %s/%d: %w: %w", topic, partition, ErrNotWritten, cause),
	}
}

// IsUnavailable reports whether an error of a cluster that does not answer, or elects
// leaders, may go away with the same settings. It is not known for an error that has neither
// a code of Kafka nor a refusal, such as that of a broken connection.
func IsUnavailable(err error) (unavailable, known bool) {
	if broker.Refused(err) {
		return false, true
	}
	code, ok := errors.AsType[kafka.Error](err)
	if other, is := errors.AsType[sarama.KError](err); is {
		code, ok = kafka.Error(other), true // both have the numbers of the protocol
	}
	if ok { // kafka-go returns Unknown for a broken connection, too
		return code.Temporary() || code == kafka.Unknown || code == kafka.BrokerNotAvailable, true
	}
	for _, cause := range []error{ErrNoLeader, protocol.ErrNoLeader, protocol.ErrNoPartition, protocol.ErrNoTopic, sarama.ErrOutOfBrokers} {
		if errors.Is(err, cause) {
			return true, true
		}
	}
	return false, false
}

// effect is the effect of a failed try on the log.
type effect int

const (
	doubtful effect = iota // the batch may be written, now or later
	undone                 // the batch is not written; another try may succeed
	refused                // the batch is not written and no try can succeed
)

// unsentError is the error of a try that sent nothing.
type unsentError struct{ cause error }

func (e unsentError) Error() string { return e.cause.Error() }
func (e unsentError) Unwrap() error { return e.cause }

// effectOf classifies the error of a produce request. The effect of an unknown
// error is doubtful.
func effectOf(err error) effect {
	if _, ok := errors.AsType[unsentError](err); ok {
		return undone
	}
	if code, ok := errors.AsType[kafka.Error](err); ok {
		return effectOfCode(code)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return undone
	}
	// The client found no leader to send the request to.
	if errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition) || errors.Is(err, protocol.ErrNoLeader) {
		return undone
	}
	return doubtful
}

func effectOfCode(code kafka.Error) effect {
	switch code {
	case kafka.InvalidMessage, kafka.UnknownTopicOrPartition, kafka.LeaderNotAvailable,
		kafka.NotLeaderForPartition, kafka.BrokerNotAvailable, kafka.NotEnoughReplicas,
		kafka.FencedLeaderEpoch,
		// These end a connection before the batch is sent.
		kafka.SASLAuthenticationFailed, kafka.UnsupportedSASLMechanism, kafka.IllegalSASLState:
		return undone
	case kafka.MessageSizeTooLarge, kafka.RecordListTooLarge, kafka.InvalidTopic,
		kafka.InvalidRequiredAcks, kafka.TopicAuthorizationFailed, kafka.ClusterAuthorizationFailed,
		kafka.InvalidTimestamp, kafka.UnsupportedForMessageFormat, kafka.PolicyViolation,
		kafka.InvalidRecord:
		return refused
	}
	return doubtful
}

// retries returns a function that pauses before the next try, longer each time. It
// returns false if ctx ends first.
func retries() func(ctx context.Context) bool {
	pauses := wait.Doubling(10*time.Millisecond, 500*time.Millisecond)
	return func(ctx context.Context) bool { return wait.For(ctx, pauses.NextBackOff()) == nil }
}
