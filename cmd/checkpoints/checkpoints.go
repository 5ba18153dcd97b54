// Package checkpoints signs and publishes the checkpoints of the log, and keeps the heads of
// all streams at their positions in the object store.
package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/audit"
	"netsim/cmd/connections"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/projector"
)

// Publisher publishes log checkpoints: to the log, and with the heads of all streams to
// the object store.
type Publisher struct {
	*connections.Connections
	Reads    *pgxpool.Pool // in which the read model is read
	Commands *handle.Handler
}

// checkpointLock is held while a log checkpoint is published and while heads are
// deleted, so that no heads are deleted between their upload and their checkpoint.
const checkpointLock = "log checkpoint"

const (
	checkpointWait    = 10 * time.Minute // for the lock
	checkpointTimeout = time.Hour        // for reading and storing the heads, and for publishing
)

// Publish publishes a log checkpoint once for each name, to the log and as
// checkpoints/<name>.note to the object store. The heads at its position are in the
// object store before the log has it. The checkpoint has the position of the
// read model. A verification does not rely on this position, but judges the log again.
func (p *Publisher) Publish(ctx context.Context, key *audit.Key, name string) error {
	_, err := p.publish(ctx, name, func(c audit.Checkpoint, chains []audit.Chain, last string) (string, error) {
		if err := continues(key, last); err != nil {
			return "", err
		}
		return c.Sign(key, chains)
	})
	return err
}

// Succeed publishes the log checkpoint in which the old key names its successor. If the
// log already has this checkpoint, Succeed only stores it again. It returns the name of
// the stored checkpoint.
func (p *Publisher) Succeed(ctx context.Context, old, key *audit.Key, name string) (string, error) {
	return p.publish(ctx, name, func(c audit.Checkpoint, chains []audit.Chain, last string) (string, error) {
		if last == "" {
			return "", errors.New("the log has no checkpoint yet: any key may sign the first one, so there is no key to succeed")
		}
		if key.Continues(last) == nil {
			return last, nil
		}
		if err := old.Continues(last); err != nil {
			return "", fmt.Errorf("the old key cannot name its successor: %w", err)
		}
		return c.Succeed(old, key, chains)
	})
}

// continues refuses a key that may not sign the next log checkpoint. The error
// names the command that makes it the successor.
func continues(key *audit.Key, last string) error {
	if err := key.Continues(last); err != nil {
		return fmt.Errorf("NETSIM_AUDIT_KEY: %w; start with the previous key, and while the service runs make the new key its successor: NETSIM_AUDIT_KEY=NEWKEYFILE netsim audit key --succeed OLDKEYFILE", err)
	}
	return nil
}

// Trust refuses an audit key that neither signed the newest checkpoint of the log nor
// succeeds the key that did.
func Trust(ctx context.Context, log *audit.Log, key *audit.Key) error {
	last, err := log.LastNote(ctx)
	if err != nil {
		return fmt.Errorf("read the newest checkpoint: %w", err)
	}
	return continues(key, last)
}

// publish signs, publishes and stores a log checkpoint with a name. If the last
// checkpoint has this name, publish only stores it. sign returns the note to publish,
// or the last note, which is then only stored.
func (p *Publisher) publish(ctx context.Context, name string, sign func(c audit.Checkpoint, chains []audit.Chain, last string) (string, error)) (string, error) {
	if !events.FrameText(name) || strings.Contains(name, "/") {
		return "", fmt.Errorf("checkpoint name %q: it must be 1 to 512 printable characters without spaces and slashes", name)
	}
	release, err := p.Locks.Wait(ctx, checkpointLock, checkpointWait)
	if err != nil {
		return "", fmt.Errorf("publish checkpoint %s: %w", name, err)
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, checkpointTimeout)
	defer cancel()
	stream := commands.CheckpointStream(p.Config.Platform)
	made, chains, last, heads, err := p.cut(ctx, stream, name)
	if err != nil {
		return "", err
	}
	if last.Name != name {
		defer heads.close() //nolint:errcheck // the file has no name, and goes with the process
		if made.Heads, err = heads.put(ctx, p.Objects); err != nil {
			return "", fmt.Errorf("publish checkpoint %s: %w", name, err)
		}
		made.Name, made.Time, made.Previous = name, time.Now().UTC().Truncate(time.Millisecond), audit.HashOf(last.Note)
		text, err := sign(made, chains, last.Note)
		if err != nil {
			return "", err
		}
		if text == last.Note {
			return last.Name, p.store(ctx, last.Name, text)
		}
		publish := commands.PublishCheckpoint{Checkpoint: events.CheckpointPublished{Name: name, Note: text}, Previous: last.Note}
		result, err := handle.Command(ctx, p.Commands, handle.Target{Stream: stream, PartitionKey: stream},
			handle.Origin{Actor: events.System, CommandID: "checkpoint:" + name}, publish)
		if err != nil {
			return "", fmt.Errorf("publish checkpoint %s: %w", name, err)
		}
		if result.Repeated {
			return name, nil // an earlier checkpoint has this name and is stored already
		}
		last.Note = text
	}
	return name, p.store(ctx, name, last.Note)
}

func (p *Publisher) store(ctx context.Context, name, note string) error {
	_, err := p.Objects.Put(ctx, "checkpoints/"+name+".note", "text/plain; charset=utf-8", strings.NewReader(note))
	if err != nil {
		return fmt.Errorf("store checkpoint %s: %w", name, err)
	}
	return nil
}

// cut reads the position of the read model, the billing chains and the last log
// checkpoint in one transaction. Unless the last checkpoint has the name, it also spools
// the heads of all streams.
func (p *Publisher) cut(ctx context.Context, stream, name string) (made audit.Checkpoint, chains []audit.Chain, last commands.Checkpoints, heads *spooled, err error) {
	err = pgx.BeginTxFunc(ctx, p.Reads, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		cut, err := projector.ReadCut(ctx, tx)
		if err != nil {
			return err
		}
		made.Cluster = cut.ClusterID
		for _, at := range cut.Parts {
			made.Parts = append(made.Parts, audit.Part{
				Family: at.Family, TopicID: at.TopicID, Partition: at.Partition,
				Next: at.Next, Facts: at.Facts, Rejected: at.Next - at.Facts, Digest: at.Digest,
			})
		}
		billing, err := projector.ReadHeads(ctx, tx, events.Billing)
		if err != nil {
			return err
		}
		for _, h := range billing {
			chains = append(chains, audit.Chain(h))
		}
		if last, err = ReadLast(ctx, tx, stream); err != nil {
			return err
		}
		for _, l := range last.Losses {
			made.Losses = append(made.Losses, audit.Loss(l))
		}
		if last.Name != name {
			heads, err = spool(ctx, tx, cut)
		}
		return err
	})
	if err != nil && heads != nil {
		err = errors.Join(err, heads.close())
	}
	return made, chains, last, heads, err
}

// ReadLast reads what decisions about log checkpoints need, with the newest one, in a stream
// of checkpoints. It is empty without a checkpoint.
func ReadLast(ctx context.Context, tx pgx.Tx, stream string) (last commands.Checkpoints, err error) {
	stored, err := projector.ReadStored(ctx, tx, stream)
	if err != nil {
		return last, err
	}
	state, err := commands.ReadState(stream, stored)
	if held, ok := state.(*commands.Checkpoints); ok && err == nil {
		last = *held
	}
	return last, err
}

// PublishCheckpoint is the job that publishes the log checkpoint of a day.
type PublishCheckpoint struct {
	Date string `json:"date"` // YYYY-MM-DD, UTC
}

// Kind returns the stored name.
func (PublishCheckpoint) Kind() string { return "publish_checkpoint" }
