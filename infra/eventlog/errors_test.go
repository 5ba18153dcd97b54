package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"netsim/infra/broker"
)

func TestEffectOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want effect
	}{
		{io.ErrUnexpectedEOF, doubtful},
		{context.DeadlineExceeded, doubtful},
		{errors.New("anything"), doubtful},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, doubtful},
		{&net.OpError{Op: "write", Err: errors.New("broken pipe")}, doubtful},
		{kafka.Unknown, doubtful},
		{kafka.RequestTimedOut, doubtful},
		{kafka.NetworkException, doubtful},
		{kafka.KafkaStorageError, doubtful},
		{kafka.NotEnoughReplicasAfterAppend, doubtful},
		{kafka.Error(9999), doubtful},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, undone},
		{unsentError{context.Canceled}, undone},
		{protocol.NewErrNoTopic("t"), undone},
		{protocol.NewErrNoPartition("t", 0), undone},
		{protocol.NewErrNoLeader("t", 0), undone},
		{kafka.NotLeaderForPartition, undone},
		{kafka.NotEnoughReplicas, undone},
		{kafka.UnknownTopicOrPartition, undone},
		{kafka.MessageSizeTooLarge, refused},
		{kafka.RecordListTooLarge, refused},
		{kafka.TopicAuthorizationFailed, refused},
	} {
		if got := effectOf(fmt.Errorf("produce: %w", test.err)); got != test.want {
			t.Errorf("effectOf(%v) = %d, want %d", test.err, got, test.want)
		}
	}
}

// TestIsUnavailable: a cluster that elects leaders may answer later, and one that refuses the
// settings does not. A connection that breaks is no refusal.
func TestIsUnavailable(t *testing.T) {
	t.Parallel()
	var plain *broker.Connector // without TLS and SASL
	type answer struct{ unavailable, known bool }
	for _, test := range []struct {
		err  error
		want answer
	}{
		{kafka.NotLeaderForPartition, answer{true, true}},
		{kafka.GroupCoordinatorNotAvailable, answer{true, true}},
		{kafka.BrokerNotAvailable, answer{true, true}},
		{sarama.ErrLeaderNotAvailable, answer{true, true}},
		{sarama.ErrConsumerCoordinatorNotAvailable, answer{true, true}},
		{sarama.ErrTopicAuthorizationFailed, answer{false, true}},
		{protocol.NewErrNoLeader("t", 0), answer{true, true}},
		{ErrNoLeader, answer{true, true}},
		{plain.Explain(kafka.SASLAuthenticationFailed), answer{false, true}},
		{plain.Explain(io.EOF), answer{false, false}},
		{ErrFewBrokers, answer{false, false}},
		{nil, answer{false, false}},
	} {
		var got answer
		got.unavailable, got.known = IsUnavailable(test.err)
		if got != test.want {
			t.Errorf("IsUnavailable(%v) = %v, want %v", test.err, got, test.want)
		}
	}
}

func TestThrottledReturnsTheRemainingTime(t *testing.T) {
	t.Parallel()
	k := &Kafka{}
	if got := k.Throttled(); got != 0 {
		t.Errorf("Throttled before any throttle = %v, want 0", got)
	}
	k.noteThrottle(time.Hour)
	k.noteThrottle(0) // an answer without a throttle does not end the last one
	if got := k.Throttled(); got <= 0 || got > time.Hour {
		t.Errorf("Throttled = %v, want more than 0 and at most an hour", got)
	}
}
