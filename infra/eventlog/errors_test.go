package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
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
