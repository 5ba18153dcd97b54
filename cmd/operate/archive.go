package operate

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/audit"
	"netsim/cmd/connections"
	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/stream/archive"
)

// openLog opens the log at some brokers, as the same user of Kafka, with all topics that
// are archived.
func openLog(ctx context.Context, c *settings.Archive, brokers []string) (*eventlog.Kafka, error) {
	connect, err := c.Connector(slog.Default())
	if err != nil {
		return nil, err
	}
	all := c.Config(brokers)
	return eventlog.Open(ctx, connections.EventLogConfig(&all, connect))
}

// archiveTarget returns the target of an archive: a directory, or s3://bucket/prefix in
// the object store of the settings.
func archiveTarget(c *settings.Offline, to string) (archive.Target, error) {
	all := c.Config()
	return connections.ArchiveTarget(&all, to, connections.Observer{})
}

// ArchiveLog archives the log, once or with an interval until ctx ends. An archive that
// was signed by another key is continued if trusted has its public key. It calls done
// after each run.
func ArchiveLog(ctx context.Context, c settings.Archive, to string, trusted []string, every time.Duration, done func(archive.Report)) error {
	if c.Key == "" {
		return errNoAuditKey
	}
	key, err := audit.ReadKey(c.Key)
	if err != nil {
		return err
	}
	target, err := archiveTarget(&c.Offline, to)
	if err != nil {
		return err
	}
	log, err := openLog(ctx, &c, c.Kafka)
	if err != nil {
		return err
	}
	defer log.Close()
	a := &archive.Archiver{
		Log: log, Target: target, Key: key, Keys: append(trusted, key.Verifier), Groups: service.ReactionGroups(c.TopicPrefix),
		Done: done,
	}
	if every == 0 {
		return a.Run(ctx)
	}
	a.Follow(ctx, every)
	return nil
}

// openArchive opens an archive, whose last note one of the keys must have signed.
func openArchive(ctx context.Context, c *settings.Offline, from string, keys []string) (*archive.Archive, []archive.Damage, error) {
	target, err := archiveTarget(c, from)
	if err != nil {
		return nil, nil, err
	}
	return archive.Open(ctx, target, keys)
}

// SweepArchive removes, or only lists, the files of an archive that no note names.
func SweepArchive(ctx context.Context, c settings.Offline, from, verifier string, remove bool) (archive.Swept, error) {
	target, err := archiveTarget(&c, from)
	if err != nil {
		return archive.Swept{}, err
	}
	return archive.Sweep(ctx, target, []string{verifier}, remove)
}

// RestoreLog appends the log in an archive to empty topics, or goes on with that, and
// returns the partitions. It calls report with the number of records that it appended.
func RestoreLog(ctx context.Context, c settings.Archive, from, verifier string, report func(int64)) ([]archive.Copied, error) {
	a, damage, err := openArchive(ctx, &c.Offline, from, []string{verifier})
	if err != nil {
		return nil, err
	}
	if len(damage) > 0 {
		return nil, fmt.Errorf("%w: %s", archive.ErrDamaged, damage[0])
	}
	return copyLog(ctx, &c, a, true, report)
}

// MirrorLog appends what the log at other brokers has and the topics do not have. With
// finish it then compares both, and makes the copy a log. The other log must not be
// written to meanwhile.
func MirrorLog(ctx context.Context, c settings.Archive, brokers []string, finish bool, report func(int64)) ([]archive.Copied, error) {
	from, err := openLog(ctx, &c, brokers)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return copyLog(ctx, &c, archive.Cluster{Log: from, GroupsOf: service.ReactionGroups(c.TopicPrefix)}, finish, report)
}

func copyLog(ctx context.Context, c *settings.Archive, from archive.Source, finish bool, report func(int64)) ([]archive.Copied, error) {
	to, err := openLog(ctx, c, c.Kafka)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	one := archive.Copy{From: from, To: to, Report: report}
	if finish {
		return one.Finish(ctx)
	}
	_, err = one.Append(ctx)
	return nil, err
}

// Adoption says what AdoptLog found and did.
type Adoption struct {
	Move    *events.LogMoved     // nil: the log is the one that was seen
	Lost    []events.LostRecords // seen, and not in this log
	Events  []audit.LostEvents   // what is lost, by stream
	Adopted bool                 // the read model goes on with this log
}

// AdoptLog compares the log with the one from which the live read model was built. With
// a reason it records in the log that the log has moved, and the live read model goes on
// with it unless records are lost: then it has to be rebuilt.
func (t *Tools) AdoptLog(ctx context.Context, reason string) (a Adoption, err error) {
	reason, err = checkReason(reason)
	if err != nil {
		return a, err
	}
	log, err := t.conn.EventLog.Describe(ctx)
	if err == nil {
		err = t.conn.EventLog.Check(log)
	}
	if err != nil {
		return a, err
	}
	err = t.readModel(ctx, projector.Live, func(p *projector.Projector) error {
		if a.Move, a.Lost, err = p.Moved(ctx); err != nil {
			return err
		}
		if len(a.Lost) > 0 {
			if a.Events, err = t.missing(ctx); err != nil {
				return err
			}
		}
		if reason == "" {
			return nil
		}
		if a.Move != nil {
			running, err := t.Upgrade(ctx)
			if err == nil {
				err = older(running)
			}
			if err != nil {
				return err
			}
			moved := *a.Move
			moved.Reason = reason
			if err := t.recordInLog(ctx, moved); err != nil {
				return fmt.Errorf("record the move: %w", err)
			}
		}
		if len(a.Lost) > 0 {
			return nil
		}
		err := p.Adopt(ctx)
		a.Adopted = err == nil
		return err
	})
	return a, err
}

// missing returns the streams of which the live read model has events that the log does
// not have.
func (t *Tools) missing(ctx context.Context) ([]audit.LostEvents, error) {
	log, err := t.conn.AuditLog(ctx)
	if err != nil {
		return nil, err
	}
	var there bool
	if err := t.conn.Pool.QueryRow(ctx, `SELECT to_regclass('streams') IS NOT NULL`).Scan(&there); err != nil || !there {
		return nil, err
	}
	return log.Missing(ctx, func(yield func(audit.StreamHead) error) error {
		rows, err := t.conn.Pool.Query(ctx, `SELECT stream, family, partition, sequence FROM streams`)
		if err != nil {
			return fmt.Errorf("read the heads of the read model: %w", err)
		}
		var h audit.StreamHead
		_, err = pgx.ForEachRow(rows, []any{&h.Stream, &h.Family, &h.Partition, &h.Sequence}, func() error { return yield(h) })
		return err
	})
}

// OpenArchiveAudit returns an auditor of the log in an archive. The damage is what is
// wrong with its files; the log of a damaged archive is not verified.
func OpenArchiveAudit(ctx context.Context, c settings.Offline, from string, keys []string) (*Auditor, []archive.Damage, error) {
	a, damage, err := openArchive(ctx, &c, from, keys)
	if err == nil && len(damage) == 0 {
		damage, err = a.Verify(ctx)
	}
	if err != nil || len(damage) > 0 {
		return nil, damage, err
	}
	auditor := &Auditor{config: c}
	if auditor.keys, err = settings.ParseWriterKeys(c.WriterKeys); err != nil {
		return nil, nil, err
	}
	topics, err := a.Topics(ctx)
	if err != nil {
		return nil, nil, err
	}
	log := &audit.Log{Reader: archive.Reader{Archive: a, Prefix: c.TopicPrefix}, Cluster: a.Cluster(), Keys: auditor.keys}
	for _, t := range topics {
		if t.Family == events.Family(reactor.DeadLetterTopic(c.TopicPrefix)[len(c.TopicPrefix):]) {
			continue
		}
		log.Topics = append(log.Topics, audit.Topic{Family: t.Family, Name: c.TopicPrefix + string(t.Family), ID: t.ID, Ends: t.Ends})
	}
	auditor.archived = log
	return auditor, nil, nil
}
