package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
)

// maxReason bounds the reason for accepting a loss, in bytes.
const maxReason = 1000

// acceptLoss records in the log that the log has lost records, and the operator's reason
// for accepting the loss. It does nothing when no reason is given or nothing is lost. It
// does not use a command, because no read model judges such a log before the loss is
// accepted.
func (t *Tools) acceptLoss(ctx context.Context, p *projector.Projector, reason string) error {
	reason, err := checkReason(reason)
	if reason == "" || err != nil {
		return err
	}
	if err := t.conn.Config.Refusal(); err != nil {
		return err
	}
	lost, err := p.Losses(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	if err := t.recordInLog(ctx, events.LogLossAccepted{Reason: reason, Lost: lost}); err != nil {
		return fmt.Errorf("record the accepted loss: %w", err)
	}
	lost, err = p.Losses(ctx)
	if err == nil && len(lost) > 0 {
		err = errors.New("the accepted loss was not recorded as a fact: another record came before it; repeat the command")
	}
	return err
}

// checkReason returns an operator's reason without the space around it.
func checkReason(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if len(reason) > maxReason {
		return "", fmt.Errorf("the reason has %d bytes, want at most %d", len(reason), maxReason)
	}
	return reason, nil
}

// recordInLog appends what an operator decided about the log to the stream of log
// checkpoints, at its head in the log. The caller reads the log to see whether it became
// a fact.
func (t *Tools) recordInLog(ctx context.Context, data events.Data) error {
	log, err := t.conn.AuditLog(ctx)
	if err != nil {
		return err
	}
	stream := commands.CheckpointStream(t.conn.Config.Platform)
	_, head, err := log.Losses(ctx, stream)
	if err != nil {
		return err
	}
	value, err := events.Encode(data)
	if err != nil {
		return err
	}
	frame := events.Frame{
		ID: events.DerivedUUID(data.EventType(), stream, head.Hash.String()).String(), Type: data.EventType(), Stream: stream, PartitionKey: stream,
		Sequence: head.Sequence + 1, PreviousHash: head.Hash, Time: time.Now().UTC().Truncate(time.Millisecond),
		Actor: t.conn.Config.OperatorID(), DataVersion: 1,
	}
	_, err = t.appendToLog(ctx, frame, value)
	return err
}

// appendToLog appends an event to a stream of the checkpoints without waiting for its
// verdict, and returns its hash. The caller knows the head of the stream.
func (t *Tools) appendToLog(ctx context.Context, frame events.Frame, value []byte) (events.Hash, error) {
	log, err := t.conn.EventLog.Describe(ctx)
	if err != nil {
		return events.Hash{}, err
	}
	message, hash := frame.Message(value)
	message = t.conn.Keys.Seal(events.Checkpoints, hash, message)
	for _, topic := range log.Topics {
		if topic.Family != events.Checkpoints {
			continue
		}
		partition := events.PartitionOf(frame.PartitionKey, int32(len(topic.Partitions)))
		_, err := t.conn.EventLog.Append(topic.Name, partition, message).Wait(ctx)
		return hash, err
	}
	return events.Hash{}, eventlog.ErrNoTopics
}
