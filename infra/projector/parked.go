package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
	"netsim/fault"
)

// Parked is a fact that is not applied.
type Parked struct {
	Stream    string
	Sequence  int64
	Type      string
	Family    events.Family
	Partition int32
	Offset    int64
	Reason    string
}

// ParkedQuery selects parked facts.
type ParkedQuery struct {
	Schema   string // of the read model; "" is the one that the session serves
	Stream   string // "" for all
	Sequence int64  // 0 for all
	Limit    int    // 0 for all
}

// ReadParked returns the parked facts that a query selects, in the order of streams and
// sequences, and how many there are without its limit.
func ReadParked(ctx context.Context, db Querier, q ParkedQuery) (all []Parked, total int64, err error) {
	rows, err := db.Query(ctx, `
		SELECT stream, sequence, event_type, family, partition, "offset", reason, count(*) OVER () FROM `+tableIn(q.Schema, "parked")+`
		WHERE ($1 = '' OR stream = $1) AND ($2::bigint = 0 OR sequence = $2) ORDER BY stream, sequence LIMIT nullif($3::bigint, 0)`,
		q.Stream, q.Sequence, q.Limit)
	if err != nil {
		return nil, 0, fmt.Errorf("read what is parked: %w", err)
	}
	var p Parked
	_, err = pgx.ForEachRow(rows, []any{&p.Stream, &p.Sequence, &p.Type, &p.Family, &p.Partition, &p.Offset, &p.Reason, &total}, func() error {
		all = append(all, p)
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read what is parked: %w", err)
	}
	return all, total, nil
}

// ParkedStreams returns how many streams of each family have parked facts in a
// read model.
func ParkedStreams(ctx context.Context, db Querier, schema string) (map[events.Family]int64, error) {
	rows, err := db.Query(ctx, `SELECT family, count(DISTINCT stream) FROM `+tableIn(schema, "parked")+` GROUP BY family`)
	if err != nil {
		return nil, fmt.Errorf("count the parked streams: %w", err)
	}
	counts := map[events.Family]int64{}
	var family events.Family
	var streams int64
	_, err = pgx.ForEachRow(rows, []any{&family, &streams}, func() error {
		counts[family] = streams
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("count the parked streams: %w", err)
	}
	return counts, nil
}

// RetryParked asks the projector of the live read model to retry a stream, or all
// (""), and waits at most for the timeout. Facts are applied in order, all of a stream or
// none. The error is NotFound when nothing of the stream is parked, and Unavailable when no
// projector has answered in time; the next one that starts tries again.
func RetryParked(ctx context.Context, pool *pgxpool.Pool, stream string, timeout time.Duration) error {
	live := pgx.Identifier{Live}.Sanitize()
	tag, err := pool.Exec(ctx, `UPDATE `+live+`.parked SET retry = true WHERE $1 = '' OR stream = $1`, stream)
	if err != nil {
		return fmt.Errorf("ask for another try: %w", err)
	}
	if tag.RowsAffected() == 0 && stream != "" {
		return fault.New(fault.NotFound, "stream %s is not parked", stream)
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = poll(within, func() (answered bool, err error) {
		err = pool.QueryRow(within, `SELECT NOT EXISTS (SELECT FROM `+live+`.parked WHERE retry AND ($1 = '' OR stream = $1))`, stream).Scan(&answered)
		return answered, err
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &fault.Fault{Code: fault.Unavailable, RetryAfter: time.Second, Message: "no projector answers; the next one that starts tries again"}
	}
	if err != nil {
		return fmt.Errorf("wait for another try: %w", err)
	}
	return nil
}
