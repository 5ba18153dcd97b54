package replicas

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/projector"
)

// model is what a database says at one moment about the read model that the session serves.
type model struct {
	standby  bool      // the server replays the log of another one
	started  time.Time // of the server
	form     string    // fingerprint of the read model's statements
	table    uint32    // oid of the offsets, which identifies the read model
	log      LogID
	position projector.Position
}

// errNoModel says that the database has no read model, or an empty one.
var errNoModel = errors.New("it has no read model")

// readModel reads what the database of the connection has.
func readModel(ctx context.Context, db querier) (m model, err error) {
	rows, err := db.Query(ctx, `
		SELECT pg_is_in_recovery(), pg_postmaster_start_time(),
			coalesce(obj_description(current_schema()::regnamespace, 'pg_namespace'), ''),
			o.tableoid, (SELECT cluster_id FROM log), o.family, o.partition, o.topic_id, o.next
		FROM offsets o ORDER BY o.family COLLATE "C", o.partition`)
	if err != nil {
		return m, fmt.Errorf("read the position: %w", err)
	}
	digest := sha256.New()
	var parts []events.Position
	var at events.Position
	var cluster, topic string
	_, err = pgx.ForEachRow(rows, []any{&m.standby, &m.started, &m.form, &m.table, &cluster, &at.Family, &at.Partition, &topic, &at.Offset}, func() error {
		if len(parts) == 0 {
			writeText(digest, cluster)
		}
		if at.Partition == 0 {
			writeText(digest, string(at.Family), topic)
		}
		parts = append(parts, at)
		return nil
	})
	m.form, _ = projector.ReadMark(m.form)
	if err == nil && len(parts) == 0 {
		err = errNoModel
	}
	if err != nil {
		return m, fmt.Errorf("read the position: %w", err)
	}
	m.log, m.position = LogID(digest.Sum(nil)), projector.PositionOf(parts...)
	return m, nil
}

// ReadLogID returns the log that the read model was built from.
func ReadLogID(ctx context.Context, db querier) (LogID, error) {
	m, err := readModel(ctx, db)
	return m.log, err
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func writeText(to interface{ Write([]byte) (int, error) }, texts ...string) {
	for _, text := range texts {
		_, _ = to.Write(binary.AppendUvarint(nil, uint64(len(text)))) // a hash takes every byte
		_, _ = to.Write([]byte(text))
	}
}
