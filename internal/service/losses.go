package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"netsim/audit"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
)

// witness knows, without the database, how far the log once reached and which of its
// losses an operator has accepted. The first it takes from the signed checkpoints in the
// object store, the second from the log itself.
type witness struct{ *core }

// Seen implements projector.Witness with the last log checkpoint. It ignores checkpoints
// whose key is neither the audit key nor connected with it by successions.
func (w witness) Seen(ctx context.Context) (all []projector.Seen, err error) {
	key, err := w.config.auditKey()
	if err != nil || key == nil {
		return nil, err
	}
	var notes []string
	for info, err := range w.objects.List(ctx, "checkpoints/") {
		if err != nil {
			return nil, err
		}
		body, _, err := w.objects.Get(ctx, info.Key)
		if err != nil {
			return nil, err
		}
		note, err := io.ReadAll(body)
		body.Close() //nolint:errcheck // the body was only read
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", info.Key, err)
		}
		notes = append(notes, string(note))
	}
	last := audit.Latest(notes, key.Verifier)
	for _, p := range last.Parts {
		all = append(all, projector.Seen{Cluster: last.Cluster, TopicID: p.TopicID, Family: p.Family, Partition: p.Partition, Next: p.Next})
	}
	return all, nil
}

// Accepted implements projector.Witness.
func (w witness) Accepted(ctx context.Context) (all []events.LostRecords, err error) {
	log, err := auditLog(ctx, w.eventLog, w.keys)
	if err != nil {
		return nil, err
	}
	losses, _, err := log.Losses(ctx, "")
	for _, l := range losses {
		all = append(all, l.Lost...)
	}
	return all, err
}

// Moves implements projector.Witness.
func (w witness) Moves(ctx context.Context) ([]events.LogMoved, error) {
	log, err := auditLog(ctx, w.eventLog, w.keys)
	if err != nil {
		return nil, err
	}
	return log.Moves(ctx)
}

// maxReason bounds the reason for accepting a loss, in bytes.
const maxReason = 1000

// acceptLoss records in the log that the log has lost records, and the operator's reason
// for accepting the loss. It does nothing when no reason is given or nothing is lost. It
// does not use a command, because no read model judges such a log before the loss is
// accepted.
func (s *core) acceptLoss(ctx context.Context, p *projector.Projector, reason string) error {
	reason, err := checkReason(reason)
	if reason == "" || err != nil {
		return err
	}
	if err := s.config.refusal(); err != nil {
		return err
	}
	lost, err := p.Losses(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	if err := s.recordInLog(ctx, events.LogLossAccepted{Reason: reason, Lost: lost}); err != nil {
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
func (s *core) recordInLog(ctx context.Context, data events.Data) error {
	log, err := auditLog(ctx, s.eventLog, s.keys)
	if err != nil {
		return err
	}
	stream := commands.CheckpointStream(s.config.Platform)
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
		Actor: s.config.operator(), DataVersion: 1,
	}
	_, err = s.appendToLog(ctx, frame, value)
	return err
}

// appendToLog appends an event to a stream of the checkpoints without waiting for its
// verdict, and returns its hash. The caller knows the head of the stream.
func (s *core) appendToLog(ctx context.Context, frame events.Frame, value []byte) (events.Hash, error) {
	log, err := s.eventLog.Describe(ctx)
	if err != nil {
		return events.Hash{}, err
	}
	message, hash := frame.Message(value)
	message = s.keys.Seal(events.Checkpoints, hash, message)
	for _, topic := range log.Topics {
		if topic.Family != events.Checkpoints {
			continue
		}
		partition := events.PartitionOf(frame.PartitionKey, int32(len(topic.Partitions)))
		_, err := s.eventLog.Append(topic.Name, partition, message).Wait(ctx)
		return hash, err
	}
	return events.Hash{}, eventlog.ErrNoTopics
}
