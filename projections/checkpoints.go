package projections

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/fault"
	"netsim/infra/columns"
)

// Checkpoint is a row of the signed checkpoints of the log.
type Checkpoint struct {
	ID          string
	Stream      string
	Sequence    int64
	Name        string
	PublishedAt time.Time
	Hash        string // SHA-256 of the note, hex: the next checkpoint names this one by it
	Note        string
}

// Checkpoints is the projection of the signed checkpoints. It does not verify them.
type Checkpoints struct{ table[Checkpoint] }

var checkpointColumns = columns.Of[Checkpoint]()

// NewCheckpoints returns the projection.
func NewCheckpoints() *Checkpoints {
	return &Checkpoints{table[Checkpoint]{
		name: "checkpoints", file: "checkpoints.sql", columns: checkpointColumns,
		keyOf: func(f *events.Fact) string {
			if _, ok := f.Data.(events.CheckpointPublished); ok {
				return fmt.Sprintf("%s/%d", f.Stream, f.Sequence)
			}
			return ""
		},
		first: func(*events.Fact) bool { return true }, appends: true,
		fold: func(c *Checkpoint, f *events.Fact) {
			if d, ok := f.Data.(events.CheckpointPublished); ok {
				*c = Checkpoint{
					ID: fmt.Sprintf("%s/%d", f.Stream, f.Sequence), Stream: f.Stream, Sequence: f.Sequence, Name: d.Name,
					PublishedAt: f.Time, Hash: fmt.Sprintf("%x", sha256.Sum256([]byte(d.Note))), Note: d.Note,
				}
			}
		},
	}}
}

// ListCheckpoints returns one page of the checkpoints in a stream, the newest first and
// without their notes, and the position of the next page.
func ListCheckpoints(ctx context.Context, db Reader, stream string, page Page) ([]Checkpoint, []string, error) {
	keys := []sortKey{{"sequence", "bigint", true}}
	if err := page.fits(keys); err != nil {
		return nil, nil, err
	}
	var c conditions
	c.add("stream = ?", stream)
	c.after(keys, page.After)
	rows, err := db.Query(ctx, fmt.Sprintf(`SELECT sequence, name, published_at, hash FROM checkpoints WHERE %s ORDER BY %s LIMIT %s`,
		c.where(), orderBy(keys), c.arg(page.Limit+1)), c.args...)
	found, err := collect(rows, err, pgx.RowToStructByNameLax[Checkpoint])
	if err != nil {
		return nil, nil, fmt.Errorf("list the checkpoints: %w", err)
	}
	found, next := cut(found, page.Limit, func(c *Checkpoint) []any { return []any{c.Sequence} })
	return found, next, nil
}

// FindCheckpoint reads the newest checkpoint in a stream that has the name. It returns
// NotFound if there is none.
func FindCheckpoint(ctx context.Context, db Reader, stream, name string) (c Checkpoint, err error) {
	err = db.QueryRow(ctx, `SELECT `+checkpointColumns.List("")+` FROM checkpoints
		WHERE stream = $1 AND name = $2 ORDER BY sequence DESC LIMIT 1`, stream, name).Scan(checkpointColumns.Pointers(&c)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, fault.Missing("checkpoint", name)
	}
	if err != nil {
		return c, fmt.Errorf("read checkpoint %s: %w", name, err)
	}
	return c, nil
}
