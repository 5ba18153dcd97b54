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

// maxReason bounds the reason for accepting a loss, in bytes.
const maxReason = 1000

// acceptLoss records in the log that the log has lost records, and the operator's reason
// for accepting the loss. It does nothing when no reason is given or nothing is lost. It
// does not use a command, because no read model judges such a log before the loss is
// accepted.
func (s *core) acceptLoss(ctx context.Context, p *projector.Projector, reason string) error {
	reason = strings.TrimSpace(reason)
	if reason == "" {
		return nil
	}
	if err := s.config.refusal(); err != nil {
		return err
	}
	if len(reason) > maxReason {
		return fmt.Errorf("the reason has %d bytes, want at most %d", len(reason), maxReason)
	}
	lost, err := p.Losses(ctx)
	if err != nil || len(lost) == 0 {
		return err
	}
	log, err := auditLog(ctx, s.eventLog, s.keys)
	if err != nil {
		return err
	}
	stream := commands.CheckpointStream(s.config.Platform)
	_, head, err := log.Losses(ctx, stream)
	if err != nil {
		return err
	}
	accepted := events.LogLossAccepted{Reason: reason, Lost: lost}
	value, err := events.Encode(accepted)
	if err != nil {
		return err
	}
	frame := events.Frame{
		ID: events.DerivedUUID("accepted loss", stream, head.Hash.String()).String(), Type: accepted.EventType(), Stream: stream, PartitionKey: stream,
		Sequence: head.Sequence + 1, PreviousHash: head.Hash, Time: time.Now().UTC().Truncate(time.Millisecond),
		Actor: events.System, DataVersion: 1,
	}
	message, hash := frame.Message(value)
	message = s.keys.Seal(events.Checkpoints, hash, message)
	for _, topic := range log.Topics {
		if topic.Family != events.Checkpoints {
			continue
		}
		partition := events.PartitionOf(stream, int32(len(topic.Ends)))
		if _, err := s.eventLog.Append(topic.Name, partition, message).Wait(ctx); err != nil {
			return fmt.Errorf("record the accepted loss: %w", err)
		}
	}
	lost, err = p.Losses(ctx)
	if err == nil && len(lost) > 0 {
		err = errors.New("the accepted loss was not recorded as a fact: another record came before it; repeat the command")
	}
	return err
}
