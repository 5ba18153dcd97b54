package projector

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"netsim/events"
)

// Raise stores in a transaction that the deployment is at least at a level.
type Raise func(ctx context.Context, tx pgx.Tx, level int) error

// begin returns the level of the deployment whose read model the transaction makes. It
// raises the level of a new deployment to that of this release: no process of an older
// release can be using it, because each needs the live read model, and refuses the one that
// the transaction makes.
func (p *Projector) begin(ctx context.Context, tx pgx.Tx) (level int, err error) {
	level = p.Level()
	if p.Raise == nil || !p.isLive() || level >= events.Level {
		return level, nil
	}
	log, err := p.Log.Describe(ctx)
	if err != nil {
		return 0, fmt.Errorf("describe the log: %w", err)
	}
	if !log.Empty() {
		return level, nil
	}
	return events.Level, p.Raise(ctx, tx, events.Level)
}

// prove raises the level of the deployment to that of the facts in the batch: a fact of a
// later level proves that the deployment has reached it. The level can be lower only in a
// database that was lost or restored from a backup.
func (p *Projector) prove(ctx context.Context, batch []chunk) error {
	known := max(p.Level(), p.raised)
	if p.Raise == nil || known >= events.Level {
		return nil
	}
	level := known
	for _, part := range batch {
		for i := range part.items {
			if it := &part.items[i]; it.verdict == events.Accepted {
				level = max(level, events.LevelOf(it.frame.Type))
			}
		}
	}
	if level == known {
		return nil
	}
	err := pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error { return p.Raise(ctx, tx, level) })
	if err == nil {
		p.raised = level
	}
	return err
}
