package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"netsim/audit"
	"netsim/cmd/connections"
	"netsim/events"
)

// headsGrace is how long heads without a checkpoint are kept: those of a checkpoint that
// is being published, or whose process was killed before it was published.
const headsGrace = 48 * time.Hour

// Sweep deletes heads from the object store that no checkpoint needs: the heads of
// the newest checkpoints and of the first of every month stay (audit.KeptHeads), and so
// do heads that are new.
func Sweep(ctx context.Context, c *connections.Connections, key *audit.Key, now time.Time) error {
	release, err := c.Locks.Wait(ctx, checkpointLock, checkpointWait)
	if err != nil {
		return fmt.Errorf("delete old heads: %w", err)
	}
	defer release()
	log, err := c.AuditLog(ctx)
	if err != nil {
		return err
	}
	kept, err := log.KeptHeads(ctx, key.Verifier)
	if err != nil {
		return err
	}
	needed := map[string]bool{}
	for _, sum := range kept {
		if err := need(ctx, c, sum, needed); err != nil {
			return err
		}
	}
	deleted := 0
	for object, err := range c.Objects.List(ctx, headsPrefix) {
		if err != nil {
			return fmt.Errorf("delete old heads: %w", err)
		}
		if needed[object.Key] || now.Sub(object.Modified) < headsGrace {
			continue
		}
		if err := c.Objects.Delete(ctx, object.Key); err != nil {
			return fmt.Errorf("delete old heads: %w", err)
		}
		deleted++
	}
	if deleted > 0 {
		c.Log.InfoContext(ctx, "old heads of log checkpoints were deleted", "objects", deleted, "checkpoints_kept", len(kept))
	}
	return nil
}

// need adds the keys of the objects that belong to an index.
func need(ctx context.Context, c *connections.Connections, sum events.Hash, needed map[string]bool) error {
	needed[headsPrefix+indexName(sum)] = true
	file, err := storedHeads{c.Objects}.Index(ctx, sum)
	if errors.Is(err, fs.ErrNotExist) {
		c.Log.WarnContext(ctx, "the heads of a log checkpoint are missing in the object store", "index", indexName(sum))
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete old heads: %w", err)
	}
	text, err := io.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("delete old heads: read %s: %w", indexName(sum), err)
	}
	parts, err := events.ParseHeadsIndex(text)
	if err != nil {
		return fmt.Errorf("delete old heads: %s: %w", indexName(sum), err)
	}
	for _, p := range parts {
		needed[headsPrefix+headsName(p.Sum)] = true
	}
	return nil
}
