package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/events"
)

// Parked is a fact that is not applied.
type Parked struct {
	Stream    string        `json:"stream"`
	Sequence  int64         `json:"sequence"`
	Type      string        `json:"type"`
	Family    events.Family `json:"family"`
	Partition int32         `json:"partition"`
	Offset    int64         `json:"offset"`
	Reason    string        `json:"reason"`
}

// ReadParked returns what is parked in the read model of a schema, "" for the one that the
// session serves, of one stream or of all
// (""), in the order of streams and sequences.
func ReadParked(ctx context.Context, db Querier, schema, stream string) ([]Parked, error) {
	rows, err := db.Query(ctx, `
		SELECT stream, sequence, event_type, family, partition, "offset", reason FROM `+tableIn(schema, "parked")+`
		WHERE $1 = '' OR stream = $1 ORDER BY stream, sequence`, stream)
	if err != nil {
		return nil, fmt.Errorf("read what is parked: %w", err)
	}
	parked, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Parked])
	if err != nil {
		return nil, fmt.Errorf("read what is parked: %w", err)
	}
	return parked, nil
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

// retryTimeout bounds how long RetryParked waits for the projector's retry.
const retryTimeout = 30 * time.Second

// RetryParked asks the projector of the live read model to retry a stream, or all
// (""), and returns what is still parked. Facts are applied in order, all of a
// stream or none.
func RetryParked(ctx context.Context, pool *pgxpool.Pool, stream string) ([]Parked, error) {
	live := pgx.Identifier{Live}.Sanitize()
	tag, err := pool.Exec(ctx, `UPDATE `+live+`.parked SET retry = true WHERE $1 = '' OR stream = $1`, stream)
	if err != nil {
		return nil, fmt.Errorf("ask for another try: %w", err)
	}
	if tag.RowsAffected() == 0 && stream != "" {
		return nil, fmt.Errorf("stream %s is not parked", stream)
	}
	within, cancel := context.WithTimeout(ctx, retryTimeout)
	defer cancel()
	err = poll(within, func() (answered bool, err error) {
		err = pool.QueryRow(within, `SELECT NOT EXISTS (SELECT FROM `+live+`.parked WHERE retry AND ($1 = '' OR stream = $1))`, stream).Scan(&answered)
		return answered, err
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, errors.New("no projector answers; the next one that starts tries again")
	}
	if err != nil {
		return nil, fmt.Errorf("wait for another try: %w", err)
	}
	return ReadParked(ctx, pool, Live, stream)
}
