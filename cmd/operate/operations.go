package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"netsim/cmd/operations"
	"netsim/events"
	"netsim/infra/projector"
)

// Operation is a command with which an operator changes the deployment.
type Operation = operations.Operation

// recordTimeout bounds how long an event of an operation may take.
const recordTimeout = 30 * time.Second

// Record runs an operation between two events in the log: that it began, and how it ended.
// When the first event cannot be appended, the operation is not run. An operation that is
// killed has no second event.
//
// Some deployments cannot have these events yet: see notRecorded. Then warn is called with
// the reason, and the operation is run. If it has removed the reason, as the end of an
// upgrade does, both events are appended after it.
func (t *Tools) Record(ctx context.Context, o Operation, warn func(reason string), run func() error) error {
	began := time.Now()
	reason, err := t.notRecorded(ctx)
	if err != nil {
		return fmt.Errorf("the command was not run, because it cannot be recorded: %w", err)
	}
	var first events.Frame
	var hash events.Hash
	if reason == "" {
		if first, hash, err = t.recordBegin(ctx, o, began); err != nil {
			return fmt.Errorf("the command was not run, because it cannot be recorded: %w", err)
		}
	}
	ran := run()
	ctx = context.WithoutCancel(ctx) // an operation that was interrupted has ended, too
	if reason != "" {
		still, err := t.notRecorded(ctx)
		if err != nil || still != "" {
			warn(reason)
			return ran
		}
		if first, hash, err = t.recordBegin(ctx, o, began); err != nil {
			return errors.Join(ran, fmt.Errorf("the command was run, but not recorded: %w", err))
		}
	}
	if err := t.recordEnd(ctx, first, hash, ran == nil); err != nil {
		return errors.Join(ran, fmt.Errorf("the end of the command was not recorded: %w", err))
	}
	return ran
}

// notRecorded returns why operations cannot be recorded in the log now, and "" if they can.
func (t *Tools) notRecorded(ctx context.Context) (reason string, err error) {
	if t.conn.Config.ReadOnly {
		return "this deployment writes nothing to the log", nil
	}
	if err := t.conn.Level.Read(ctx); err != nil {
		return "", err
	}
	if t.conn.Level.Holds(events.OperationBegun{}.EventType()) {
		return fmt.Sprintf("the deployment is at level %d, and older releases could not read the record; see netsim upgrade status", t.conn.Level.Current()), nil
	}
	log, err := t.conn.EventLog.Describe(ctx)
	if err != nil {
		return "", err
	}
	if log.Empty() {
		return "the log is empty; the service has to begin it", nil
	}
	live := projector.New(t.conn.ProjectorConfig(t.conn.Pool, ""))
	exists, err := live.Exists(ctx)
	if err != nil && !errors.Is(err, projector.ErrOtherSchema) || !exists {
		return "", err
	}
	err = live.Recognize(ctx, log)
	var lost []events.LostRecords
	if err == nil {
		if lost, err = live.Losses(ctx); err != nil { // without the object store, what the read model has seen is enough
			live.Witness = nil
			lost, err = live.Losses(ctx)
		}
	}
	if errors.Is(err, projector.ErrOtherLog) || len(lost) > 0 {
		return "the log is not as the read model has seen it; nothing is added to it before an operator decides", nil
	}
	return "", err
}

// recordBegin appends that an operation began, to a stream of its own. The event is a fact,
// because no other process knows the stream.
func (t *Tools) recordBegin(ctx context.Context, o Operation, at time.Time) (events.Frame, events.Hash, error) {
	stream := events.NewID(events.OperationPrefix)
	frame := events.Frame{
		Stream: stream, PartitionKey: stream, Sequence: 1, Time: at.UTC().Truncate(time.Millisecond),
		Actor: t.Operator(), DataVersion: 1,
	}
	hash, err := t.recordOperation(ctx, &frame, operations.Begun(t.conn, o))
	return frame, hash, err
}

// recordEnd appends how an operation ended.
func (t *Tools) recordEnd(ctx context.Context, begun events.Frame, previous events.Hash, succeeded bool) error {
	frame := begun
	frame.Sequence, frame.PreviousHash, frame.Time = 2, previous, time.Now().UTC().Truncate(time.Millisecond)
	ended := events.OperationEnded{Outcome: events.OperationFailed}
	if succeeded {
		ended.Outcome = events.OperationSucceeded
	}
	_, err := t.recordOperation(ctx, &frame, ended)
	return err
}

// recordOperation completes the frame of an event, and appends it.
func (t *Tools) recordOperation(ctx context.Context, frame *events.Frame, data events.Data) (events.Hash, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	value, err := events.Encode(data)
	if err != nil {
		return events.Hash{}, err
	}
	frame.ID, frame.Type = events.DerivedUUID(data.EventType(), frame.Stream).String(), data.EventType()
	return t.appendToLog(ctx, *frame, value)
}

// Operator returns the opaque id of the operator who runs this process.
func (t *Tools) Operator() string { return t.conn.Config.OperatorID() }
