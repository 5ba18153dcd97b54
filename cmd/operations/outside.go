package operations

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/api"
	"netsim/audit"
	"netsim/cmd/checkpoints"
	"netsim/cmd/connections"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/facts"
	"netsim/stream/lake"
	"netsim/stream/publisher"
)

// Lake returns the status of the lake, or an error with lake.ErrMissing.
func (v *View) Lake(ctx context.Context) (api.LakeStatus, error) {
	live, err := v.live(ctx)
	if err != nil {
		return api.LakeStatus{}, err
	}
	judged := map[events.Family][]int64{}
	for _, part := range live.Partitions { // ordered by family and partition
		of := judged[part.Family]
		for int(part.Partition) >= len(of) {
			of = append(of, 0)
		}
		of[part.Partition] = part.Next
		judged[part.Family] = of
	}
	s, err := lake.ReadStatus(ctx, v.DB, v.log(), judged)
	return api.LakeStatus{
		Writer: s.Writer, Snapshot: s.Snapshot, CommittedAt: timestamp(s.CommittedAt), LagFacts: s.LagFacts, Facts: s.Facts,
		Files: s.Files, Bytes: s.Bytes, Waiting: s.Waiting, Path: s.Path, OtherLog: text(s.OtherLog),
	}, err
}

// PublicTopics returns how far each partition of the log is published, those that lag most
// first, at most limit; 0 is for all.
func (v *View) PublicTopics(ctx context.Context, limit int) (list api.PublicTopicList, err error) {
	live, err := v.live(ctx)
	if err != nil {
		return list, err
	}
	judged := make([]events.Position, len(live.Partitions))
	for i, part := range live.Partitions {
		judged[i] = events.Position{Family: part.Family, Partition: part.Partition, Offset: part.Next}
	}
	if list.Transactions, err = v.Transactional(); err != nil {
		return list, silent(ctx, err)
	}
	holders, err := facts.Holders(ctx, v.DB, connections.Publishers)
	if err != nil {
		return list, err
	}
	list.Publisher = text(holders)
	found, err := publisher.ReadStatus(ctx, v.log(), v.Conn.Config.TopicPrefix, judged, time.Now())
	if err != nil {
		return list, err
	}
	slices.SortStableFunc(found, func(a, b publisher.Status) int { return byLag(a.LagRecords, b.LagRecords) })
	found, list.Total = first(found, limit)
	list.Items = api.Each(found, func(s *publisher.Status) api.PublicTopicPartition {
		return api.PublicTopicPartition{
			Family: string(s.Family), Partition: int64(s.Partition), Topic: s.Topic, Next: s.Next,
			LagRecords: s.LagRecords, LagSeconds: s.LagSeconds,
		}
	})
	return list, nil
}

// LogCheckpoint returns the newest log checkpoint. Its signature is not verified.
func (v *View) LogCheckpoint(ctx context.Context) (s api.LogCheckpointStatus, err error) {
	s.Signs = v.Conn.Config.AuditKey != ""
	stream := commands.CheckpointStream(v.Conn.Config.Platform)
	err = pgx.BeginTxFunc(ctx, v.DB, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		last, err := checkpoints.ReadLast(ctx, tx, stream)
		if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT coalesce(sum(next), 0)::bigint FROM offsets`).Scan(&s.Since); err != nil {
			return err
		}
		if last.Note == "" {
			return nil
		}
		c, err := audit.ReadCheckpoint(last.Note)
		if err != nil {
			return err
		}
		s.Name, s.SignedAt = last.Name, timestampOf(&c.Time)
		for _, part := range c.Parts {
			s.Records += part.Next
		}
		s.Since = max(0, s.Since-s.Records)
		return nil
	})
	return s, err
}
