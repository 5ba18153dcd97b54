package projections

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/fault"
)

// StreamHead is what the projector keeps of a stream.
type StreamHead struct {
	Stream    string
	Family    string
	Partition int32
	Sequence  int64  // of the last fact
	Parked    *int64 // sequence of the first fact that cannot be applied; nil if all are
}

// FindStream reads the head of a stream. It returns NotFound for one without facts.
func FindStream(ctx context.Context, db Reader, stream string) (StreamHead, error) {
	family, err := events.FamilyOf(stream)
	if err != nil {
		return StreamHead{}, fault.Missing("stream", stream)
	}
	rows, err := db.Query(ctx, `
		SELECT stream, family, partition, sequence, CASE WHEN parked THEN (
			SELECT min(p.sequence) FROM parked p
			WHERE p.stream = s.stream AND p.family = s.family AND p.partition = s.partition) END AS parked
		FROM streams s WHERE stream = $1 AND family = $2 ORDER BY partition LIMIT 1`, stream, string(family))
	found, err := collect(rows, err, pgx.RowToStructByName[StreamHead])
	switch {
	case err != nil:
		return StreamHead{}, fmt.Errorf("read the head of stream %s: %w", stream, err)
	case len(found) == 0:
		return StreamHead{}, fault.Missing("stream", stream)
	}
	return found[0], nil
}

// FactAt is where a fact is in its stream and in the log.
type FactAt struct {
	Stream    string
	Family    string
	Partition int32
	Sequence  int64
	Offset    int64
	Bytes     int32 // of its data
}

// errLacking says that the read model lacks the position of a fact.
var errLacking = errors.New("the read model lacks the positions of facts")

// StreamFacts reads where the facts of a stream are, from one sequence to another, both
// inclusive.
func StreamFacts(ctx context.Context, db Reader, of StreamHead, from, to int64) ([]FactAt, error) {
	rows, err := db.Query(ctx, `
		SELECT stream, family, partition, sequence, "offset", bytes FROM facts
		WHERE stream = $1 AND family = $2 AND partition = $3 AND sequence BETWEEN $4 AND $5 ORDER BY sequence`,
		of.Stream, of.Family, of.Partition, from, to)
	found, err := collect(rows, err, pgx.RowToStructByName[FactAt])
	if err == nil && int64(len(found)) != max(0, to-from+1) {
		err = errLacking
	}
	if err != nil {
		return nil, fmt.Errorf("read where the facts %d to %d of stream %s are: %w", from, to, of.Stream, err)
	}
	return found, nil
}

// CausedFact is a fact that a request led to.
type CausedFact struct {
	FactAt
	HappenedAt time.Time
	Before     *int64 // offset of the fact before it in its stream, if the request led to that too
}

// ListCaused returns a page of the facts that a request led to, in the order of their
// times, and the position of the next page. A page ends early when its facts have more
// than most bytes of data.
func ListCaused(ctx context.Context, db Reader, correlationID string, page Page, most int64) ([]CausedFact, []string, error) {
	keys := []sortKey{{"f.happened_at", "timestamptz", false}, {"f.stream", "text", false}, {"f.sequence", "bigint", false}}
	if err := page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("f.correlation_id = ? AND f.correlation_id <> ''", correlationID)
	c.after(keys, page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`
		SELECT f.stream, f.family, f.partition, f.sequence, f."offset", f.bytes, f.happened_at, b."offset" AS before
		FROM facts f LEFT JOIN facts b ON b.stream = f.stream AND b.family = f.family AND b.partition = f.partition
			AND b.sequence = f.sequence - 1 AND b.correlation_id = f.correlation_id
		WHERE %s ORDER BY %s LIMIT %s`, c.where(), orderBy(keys), strconv.Itoa(page.Limit+1)), c.args...)
	found, err := collect(rows, err, pgx.RowToStructByName[CausedFact])
	if err != nil {
		return nil, nil, fmt.Errorf("list the facts that request %s led to: %w", correlationID, err)
	}
	bytes, fit := int64(0), 0
	for fit < min(len(found), page.Limit) && (fit == 0 || bytes+int64(found[fit].Bytes) <= most) {
		bytes += int64(found[fit].Bytes)
		fit++
	}
	found, next := cut(found, max(fit, 1), func(f *CausedFact) []any { return []any{f.HappenedAt, f.Stream, f.Sequence} })
	return found, next, nil
}
