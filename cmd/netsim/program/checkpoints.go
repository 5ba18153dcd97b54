package program

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/audit"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/projector"
)

// auditKey reads the key that signs checkpoints; nil when there is none.
func (c *Config) auditKey() (*audit.Key, error) {
	if c.AuditKey == "" {
		return nil, nil
	}
	key, err := audit.ReadKey(c.AuditKey)
	if err != nil {
		return nil, fmt.Errorf("NETSIM_AUDIT_KEY: %w", err)
	}
	return key, nil
}

// errNoAuditKey says what to set.
var errNoAuditKey = errors.New("NETSIM_AUDIT_KEY names no key: no checkpoint can be signed")

// checkpoint publishes the checkpoint of a name, once: to the log, and as
// checkpoints/<name>.note to the object store. It says what the read model has
// judged; whoever verifies judges the log anew.
func (s *core) checkpoint(ctx context.Context, key *audit.Key, name string) error {
	if !events.FrameText(name) || strings.Contains(name, "/") {
		return fmt.Errorf("checkpoint name %q: it is 1 to 512 printable characters without spaces and slashes", name)
	}
	stream := commands.CheckpointStream(s.config.Platform)
	made, chains, last, err := s.cut(ctx, stream)
	if err != nil {
		return err
	}
	if last.Name != name {
		made.Name, made.Time, made.Previous = name, time.Now().UTC().Truncate(time.Millisecond), audit.HashOf(last.Note)
		text, err := made.Sign(key, chains)
		if err != nil {
			return err
		}
		publish := commands.PublishCheckpoint{Checkpoint: events.CheckpointPublished{Name: name, Note: text}, Previous: last.Note}
		result, err := commands.Handle(ctx, s.handler, commands.Target{Stream: stream, PartitionKey: stream},
			commands.Origin{Actor: events.System, CommandID: "checkpoint:" + name}, publish)
		if err != nil {
			return fmt.Errorf("publish checkpoint %s: %w", name, err)
		}
		if result.Repeated {
			return nil // an older one than the last: it was stored before the last was made
		}
		last.Note = text
	}
	_, err = s.objects.Put(ctx, "checkpoints/"+name+".note", "text/plain; charset=utf-8", strings.NewReader(last.Note))
	if err != nil {
		return fmt.Errorf("store checkpoint %s: %w", name, err)
	}
	return nil
}

// cut reads, at one moment, where the read model stands, the chains of billing
// and the last checkpoint.
func (s *core) cut(ctx context.Context, stream string) (made audit.Checkpoint, chains []audit.Chain, last commands.Checkpoints, err error) {
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		cut, err := projector.ReadCut(ctx, tx)
		if err != nil {
			return err
		}
		made.Cluster = cut.ClusterID
		for _, p := range cut.Parts {
			made.Parts = append(made.Parts, audit.Part{
				Family: p.Family, TopicID: p.TopicID, Partition: p.Partition,
				Next: p.Next, Facts: p.Facts, Rejected: p.Next - p.Facts, Digest: p.Digest,
			})
		}
		heads, err := projector.ReadHeads(ctx, tx, events.Billing)
		if err != nil {
			return err
		}
		for _, h := range heads {
			chains = append(chains, audit.Chain(h))
		}
		stored, err := projector.ReadStored(ctx, tx, stream)
		if err != nil {
			return err
		}
		state, err := commands.ReadState(stream, stored)
		if err != nil {
			return err
		}
		if held, ok := state.(*commands.Checkpoints); ok {
			last = *held
		}
		for _, l := range last.Losses {
			made.Losses = append(made.Losses, audit.Loss(l))
		}
		return nil
	})
	return made, chains, last, err
}

// checkpointDay publishes the checkpoint of a day that is over, unless there
// is no key.
func (s *core) checkpointDay(ctx context.Context, day string) error {
	if s.auditKey == nil {
		return nil
	}
	return s.checkpoint(ctx, s.auditKey, day)
}
