package writelog

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/fault"
)

// loadKey identifies a load. Concurrent loads share queries.
type loadKey struct {
	stream    string
	family    events.Family
	commandID string
}

// Load implements handle.Log.
func (l *Log) Load(ctx context.Context, stream, commandID string) (events.Snapshot, error) {
	family, err := events.FamilyOf(stream)
	if err != nil {
		return events.Snapshot{}, err
	}
	s, _, err := l.loads.Get(ctx, loadKey{stream, family, commandID})
	if err != nil {
		return s, unread(stream, err)
	}
	return s, nil
}

// load reads the streams that exist.
func (l *Log) load(ctx context.Context, keys []loadKey) (map[loadKey]events.Snapshot, error) {
	streams, families, commands := make([]string, len(keys)), make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		streams[i], families[i], commands[i] = k.stream, string(k.family), k.commandID
	}
	rows, err := l.Pool.Query(ctx, `
		SELECT k.stream, k.family, k.command_id, s.sequence, s.hash, s.state, s.parked, c.sequence, c.digest
		FROM unnest($1::text[], $2::text[], $3::text[]) AS k (stream, family, command_id)
		JOIN streams s ON s.stream = k.stream AND s.family = k.family
		LEFT JOIN command_ids c ON c.stream = k.stream AND c.command_id = k.command_id AND k.command_id <> ''`,
		streams, families, commands)
	if err != nil {
		return nil, err
	}
	found := make(map[loadKey]events.Snapshot, len(keys))
	for rows.Next() {
		key, s, err := scanSnapshot(rows)
		if err != nil {
			return nil, err
		}
		found[key] = s
	}
	return found, rows.Err()
}

func scanSnapshot(row pgx.Rows) (key loadKey, s events.Snapshot, err error) {
	var hash []byte
	var sequence *int64
	var digest *string
	err = row.Scan(&key.stream, &key.family, &key.commandID, &s.Head.Sequence, &hash, &s.State, &s.Parked, &sequence, &digest)
	copy(s.Head.Hash[:], hash)
	if sequence != nil {
		s.Prior = &events.Prior{Sequence: *sequence, Digest: *digest}
	}
	return key, s, err
}

// priors is a look-up for each command. With "command_id = ANY($2)", PostgreSQL would plan
// without the values after a few executions, take the stream for one of few commands, and
// read all of them.
const priors = `
	SELECT c.command_id, c.sequence, c.digest FROM unnest($2::text[]) AS k (command_id)
	CROSS JOIN LATERAL (SELECT * FROM command_ids WHERE stream = $1 AND command_id = k.command_id LIMIT 1) AS c`

// Priors implements handle.Priors.
func (l *Log) Priors(ctx context.Context, stream string, commandIDs []string) (map[string]events.Prior, error) {
	rows, err := l.Pool.Query(ctx, priors, stream, commandIDs)
	if err != nil {
		return nil, unread(stream, err)
	}
	found := map[string]events.Prior{}
	var id string
	var prior events.Prior
	_, err = pgx.ForEachRow(rows, []any{&id, &prior.Sequence, &prior.Digest}, func() error {
		found[id] = prior
		return nil
	})
	if err != nil {
		return nil, unread(stream, err)
	}
	return found, nil
}

func unread(stream string, err error) error {
	return &fault.Fault{
		Code: fault.Unavailable, Message: "the read store does not answer; nothing was changed",
		RetryAfter: time.Second, Cause: fmt.Errorf("load stream %s: %w", stream, err),
	}
}
