package connections

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/projector"
	"netsim/infra/writelog"
)

// Writer decides commands, appends their events to the log, and waits for their verdicts.
type Writer struct {
	Handler    *handle.Handler
	Log        *writelog.Log
	Watcher    *projector.Watcher
	Partitions map[events.Family]int32 // number of partitions of each family's topic
}

// OpenWriter returns a writer. It fails while no projector has recorded the partitions of
// the log. Commands read streams from the pool. The watcher must run.
func (s *Connections) OpenWriter(ctx context.Context, pool *pgxpool.Pool, watcher *projector.Watcher) (*Writer, error) {
	if err := s.Level.Read(ctx); err != nil { // the projector may have raised it since the start
		return nil, err
	}
	partitions, err := writelog.LoadPartitions(ctx, s.Pool)
	if err != nil {
		return nil, err
	}
	log := writelog.New(writelog.Config{Pool: pool, EventLog: s.EventLog, Watcher: watcher, Partitions: partitions, Refuse: s.Config.Refusal()})
	return &Writer{
		Log: log, Watcher: watcher, Partitions: partitions,
		Handler: &handle.Handler{Log: log, Now: time.Now, Timeout: s.Config.VerdictTimeout, Keys: s.Keys, Held: s.Level.Holds, Turn: s.turn},
	}, nil
}

// Seal demands seals in every partition from now on, and returns the number of
// partitions that changed. With the same first key again it changes nothing. With
// another first key it retires the previous one.
func (w *Writer) Seal(ctx context.Context) (sealed int, err error) {
	for _, family := range events.Families() {
		count := w.Partitions[family]
		for partition := range count {
			stream := events.SealStream(family, partition, count)
			result, err := handle.Command(ctx, w.Handler, handle.Target{Stream: stream, PartitionKey: stream},
				handle.System(), commands.SealLog{KeyID: w.Handler.Keys.Signer()})
			if err != nil {
				return sealed, fmt.Errorf("seal partition %d of %s: %w", partition, family, err)
			}
			if result.Event != nil {
				sealed++
			}
		}
	}
	return sealed, nil
}

// CatchUp waits until the projector, in this or another process, has judged every record
// that the log has now.
func (s *Connections) CatchUp(ctx context.Context, watcher *projector.Watcher) error {
	log, err := s.EventLog.Describe(ctx)
	if err != nil {
		return err
	}
	for _, topic := range log.Topics {
		for i, part := range topic.Partitions {
			if part.End == 0 {
				continue
			}
			last := events.Position{Family: topic.Family, Partition: int32(i), Offset: part.End - 1}
			if _, err := watcher.Verdict(ctx, last); err != nil {
				return fmt.Errorf("catch up with the log: %w", err)
			}
		}
	}
	return nil
}
