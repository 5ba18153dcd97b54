package projector

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/facts"
)

// Status is how far a read model has come.
type Status struct {
	Schema        string
	ThisRelease   bool    // its tables are those of this release
	Projector     string  // the processes that project into it with their shards, or the session that rebuilds it; "" for none
	Facts         int64   // applied or parked
	LagRecords    int64   // in the log and not judged
	LagSeconds    float64 // since the log took the oldest of them
	ParkedStreams int64
	// Obstacles are what a promotion waits for or is refused for, in words; empty
	// for the live read model.
	Obstacles  []string
	Partitions []PartitionStatus
}

// PartitionStatus is how far a read model has come in a partition.
type PartitionStatus struct {
	Family     events.Family
	Partition  int32
	Next       int64 // the first offset that is not judged
	End        int64 // the offset of the next record of the log
	LagRecords int64
	LagSeconds float64
	Parked     int64 // facts
}

// ReadModels returns the schemas of all read models, the live one first.
func ReadModels(ctx context.Context, db Querier) ([]string, error) {
	rows, err := db.Query(ctx, `
		SELECT schemaname::text FROM pg_tables WHERE tablename IN ('offsets', 'streams', 'parked')
		GROUP BY schemaname HAVING count(*) = 3 ORDER BY schemaname <> $1, schemaname`, Live)
	if err != nil {
		return nil, fmt.Errorf("list the read models: %w", err)
	}
	schemas, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("list the read models: %w", err)
	}
	return schemas, nil
}

// Status returns how far the read model has come in the log, at the given time.
func (p *Projector) Status(ctx context.Context, log eventlog.Description, now time.Time) (Status, error) {
	s := Status{Schema: p.name(), Obstacles: []string{}}
	exists, err := p.check(ctx, p.Pool)
	if s.ThisRelease = err == nil; !s.ThisRelease && !isOtherRelease(err) {
		return s, err
	}
	if !exists {
		return s, fmt.Errorf("there is no read model %s", p.name())
	}
	if s.Projector, err = p.holder(ctx); err != nil {
		return s, err
	}
	if err := p.readStatus(ctx, &s); err != nil {
		return s, err
	}
	ends := endOf(log)
	var reads errgroup.Group
	reads.SetLimit(8)
	for i := range s.Partitions {
		part := &s.Partitions[i]
		part.End = ends[partitionKey{part.Family, part.Partition}]
		if part.LagRecords = max(part.End-part.Next, 0); part.LagRecords > 0 {
			reads.Go(func() error {
				age, err := eventlog.Age(ctx, p.Log, log.TopicName(part.Family), part.Partition, part.Next, now)
				part.LagSeconds = age.Seconds()
				return err
			})
		}
	}
	if err := reads.Wait(); err != nil {
		return s, err
	}
	for _, part := range s.Partitions {
		s.LagRecords += part.LagRecords
		s.LagSeconds = max(s.LagSeconds, part.LagSeconds)
	}
	if !p.isLive() {
		s.Obstacles, err = p.obstacles(ctx, &s)
	}
	return s, err
}

// holder names the processes that the shards are leased to, or for a read model that was
// never live the session that holds the projecting lock; "" for none.
func (p *Projector) holder(ctx context.Context) (name string, err error) {
	if p.isLive() || isName(p.Schema) {
		var comment string
		err := p.Pool.QueryRow(ctx, `SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = $1`, p.name()).Scan(&comment)
		if err != nil {
			return "", fmt.Errorf("read the mark of %s: %w", p.name(), err)
		}
		fingerprint, _ := ReadMark(comment)
		return facts.Holders(ctx, p.Pool, NameOf(fingerprint))
	}
	err = p.Pool.QueryRow(ctx, `
		SELECT coalesce(min(format('backend %s', a.pid) || coalesce(' of ' || host(a.client_addr), '')), '')
		FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND l.objid = (hashtext($1)::bigint & 4294967295)::oid`, p.lockName()).Scan(&name)
	if err != nil {
		return "", fmt.Errorf("look for the projector of %s: %w", p.Schema, err)
	}
	return name, nil
}

// readStatus reads what the read model's own tables say.
func (p *Projector) readStatus(ctx context.Context, s *Status) error {
	rows, err := p.Pool.Query(ctx, fmt.Sprintf(`
		SELECT o.family, o.partition, o.next, o.facts, coalesce(k.parked, 0)
		FROM %[1]s o
		LEFT JOIN (SELECT family, partition, count(*) AS parked FROM %[2]s GROUP BY family, partition) k USING (family, partition)
		ORDER BY o.family, o.partition`, p.table("offsets"), p.table("parked")))
	if err == nil {
		var part PartitionStatus
		var facts int64
		_, err = pgx.ForEachRow(rows, []any{&part.Family, &part.Partition, &part.Next, &facts, &part.Parked}, func() error {
			s.Partitions = append(s.Partitions, part)
			s.Facts += facts
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("read the position of %s: %w", p.Schema, err)
	}
	parked, err := ParkedStreams(ctx, p.Pool, p.Schema)
	for _, streams := range parked {
		s.ParkedStreams += streams
	}
	return err
}

// obstacles lists what a promotion would now wait for or be refused for.
func (p *Projector) obstacles(ctx context.Context, s *Status) ([]string, error) {
	found := []string{}
	for _, refuse := range []func(context.Context) error{p.promotable, p.refuseLosses} {
		if err := refuse(ctx); err != nil {
			found = append(found, err.Error())
		}
	}
	missing, err := p.MissingIndexes(ctx)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 && s.ThisRelease {
		found = append(found, fmt.Sprintf("%d indexes are missing: 'netsim readmodel rebuild %s' makes them", len(missing), p.Schema))
	}
	if s.LagRecords > 0 {
		found = append(found, fmt.Sprintf("%d records of the log are not judged", s.LagRecords))
	}
	began, err := p.databaseTime(ctx)
	if err != nil {
		return nil, err
	}
	in, err := p.olderTransaction(ctx, began.Add(-snapshotAge), 0)
	if err != nil {
		return nil, err
	}
	if in != "" {
		found = append(found, "a transaction of "+in+" is still reading")
	}
	return found, nil
}
