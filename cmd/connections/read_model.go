package connections

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/audit"
	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/eventlog"
	"netsim/infra/projector"
	"netsim/projections"
)

// Projections returns the projections of the read model.
func Projections() (all []projector.Projection) {
	for _, p := range projections.All() {
		all = append(all, p)
	}
	return all
}

// Fingerprint returns that of this release's read model.
func Fingerprint() string {
	return projector.New(projector.Config{Projections: Projections()}).Fingerprint()
}

// OwnModel returns the pool option that finds the read model of this release.
func OwnModel() func(*pgxpool.Config) { return projector.Serving(Fingerprint()) }

// ProjectorConfig returns the settings of a projector of a schema; "" is the one that this
// release serves.
func (s *Connections) ProjectorConfig(pool *pgxpool.Pool, schema string) projector.Config {
	return projector.Config{
		Pool: pool, Log: s.EventLog, Schema: schema, Keys: s.Keys, Projections: Projections(), Logger: s.Log,
		Witness: witness{s}, Level: s.Level.Current, Raise: s.Level.raise,
		ReadState: func(stream string, stored []byte) (projector.State, error) {
			return commands.ReadState(stream, stored)
		},
	}
}

// witness knows, without the database, how far the log once reached and which of its
// losses an operator has accepted. The first it takes from the signed checkpoints in the
// object store, the second from the log itself.
type witness struct{ *Connections }

// Seen implements projector.Witness with the last log checkpoint. It ignores checkpoints
// whose key is neither the audit key nor connected with it by successions.
func (w witness) Seen(ctx context.Context) (all []projector.Seen, err error) {
	key, err := ReadAuditKey(&w.Config)
	if err != nil || key == nil {
		return nil, err
	}
	var notes []string
	for info, err := range w.Objects.List(ctx, "checkpoints/") {
		if err != nil {
			return nil, err
		}
		body, _, err := w.Objects.Get(ctx, info.Key)
		if err != nil {
			return nil, err
		}
		note, err := io.ReadAll(body)
		body.Close() //nolint:errcheck // the body was only read
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", info.Key, err)
		}
		notes = append(notes, string(note))
	}
	last := audit.Latest(notes, key.Verifier)
	for _, p := range last.Parts {
		all = append(all, projector.Seen{Cluster: last.Cluster, TopicID: p.TopicID, Family: p.Family, Partition: p.Partition, Next: p.Next})
	}
	return all, nil
}

// Accepted implements projector.Witness.
func (w witness) Accepted(ctx context.Context) (all []events.LostRecords, err error) {
	log, err := w.AuditLog(ctx)
	if err != nil {
		return nil, err
	}
	losses, _, err := log.Losses(ctx, "")
	for _, l := range losses {
		all = append(all, l.Lost...)
	}
	return all, err
}

// Moves implements projector.Witness.
func (w witness) Moves(ctx context.Context) ([]events.LogMoved, error) {
	log, err := w.AuditLog(ctx)
	if err != nil {
		return nil, err
	}
	return log.Moves(ctx)
}

// AuditLog returns the log as an audit reads it, up to its current end.
func (s *Connections) AuditLog(ctx context.Context) (*audit.Log, error) {
	return AuditLog(ctx, s.EventLog, s.Keys)
}

// AuditLog returns a log as an audit reads it, up to its current end. keys may be nil.
func AuditLog(ctx context.Context, j *eventlog.Kafka, keys *events.WriterKeys) (*audit.Log, error) {
	d, err := j.Describe(ctx)
	if err != nil {
		return nil, err
	}
	log := &audit.Log{Reader: j, Cluster: d.ClusterID, Keys: keys}
	for _, t := range d.Topics {
		topic := audit.Topic{Family: t.Family, Name: t.Name, ID: t.ID}
		for _, p := range t.Partitions {
			topic.Ends = append(topic.Ends, p.End)
		}
		log.Topics = append(log.Topics, topic)
	}
	return log, nil
}

// ReadAuditKey reads the key that signs log checkpoints. It returns nil when none is set.
func ReadAuditKey(c *settings.Config) (*audit.Key, error) {
	if c.AuditKey == "" {
		return nil, nil
	}
	key, err := audit.ReadKey(c.AuditKey)
	if err != nil {
		return nil, fmt.Errorf("NETSIM_AUDIT_KEY: %w", err)
	}
	return key, nil
}
