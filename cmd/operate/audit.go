package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/audit"
	"netsim/cmd/checkpoints"
	"netsim/cmd/connections"
	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/eventlog"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/stream/publisher"
)

var errNoAuditKey = errors.New("NETSIM_AUDIT_KEY names no key: no checkpoint can be signed")

// Auditor verifies an event log, and optionally compares a read model with it.
type Auditor struct {
	config   settings.Offline
	kafka    []string // brokers of the event log
	broker   *broker.Connector
	keys     *events.WriterKeys // nil means that seals are not checked
	eventLog *eventlog.Kafka
	archived *audit.Log    // of an archive, in which case there is no event log
	pool     *pgxpool.Pool // nil without a database
	model    *snapshot     // nil means that the read model is not compared
	close    []func()
}

// OpenAudit connects to the log, and to the database when the settings name one.
func OpenAudit(ctx context.Context, c settings.Audit) (_ *Auditor, err error) {
	a := &Auditor{config: c.Offline, kafka: c.Kafka}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	if a.keys, err = settings.ParseWriterKeys(c.WriterKeys); err != nil {
		return nil, err
	}
	if a.broker, err = c.Connector(slog.Default()); err != nil {
		return nil, err
	}
	if a.eventLog, err = eventlog.Open(ctx, eventlog.Config{
		Brokers: c.Kafka, Connect: a.broker, Prefix: c.TopicPrefix, Beside: []string{reactor.DeadLetterTopic(c.TopicPrefix)},
	}); err != nil {
		return nil, err
	}
	a.close = append(a.close, a.eventLog.Close)
	if c.Postgres == "" {
		return a, nil
	}
	pool, err := postgres.Open(ctx, c.Postgres, projector.Live, 2, connections.Session())
	if err != nil {
		return nil, err
	}
	a.close, a.pool = append(a.close, pool.Close), pool
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("read the read model: %w", err)
	}
	a.close = append(a.close, func() { tx.Rollback(context.WithoutCancel(ctx)) }) //nolint:errcheck // the transaction only reads
	cut, err := projector.ReadCut(ctx, tx)
	a.model = &snapshot{tx, cut}
	return a, err
}

// Close ends the connections.
func (a *Auditor) Close() {
	for i := len(a.close) - 1; i >= 0; i-- {
		a.close[i]()
	}
}

// ChecksSeals reports whether the auditor has writer keys to detect forged records.
func (a *Auditor) ChecksSeals() bool { return a.keys != nil }

// log returns the current description of the event log.
func (a *Auditor) log(ctx context.Context) (*audit.Log, error) {
	if a.archived != nil {
		return a.archived, nil
	}
	return connections.AuditLog(ctx, a.eventLog, a.keys)
}

// Verifier returns the key that verifies signatures: the given one, or the
// public half of the key in a file, that of NETSIM_AUDIT_KEY.
func Verifier(given, file string) (string, error) {
	if given != "" {
		return given, nil
	}
	if file == "" {
		return "", errNoAuditKey
	}
	key, err := audit.ReadKey(file)
	if err != nil {
		return "", err
	}
	return key.Verifier, nil
}

// Verify verifies the whole log.
func (a *Auditor) Verify(ctx context.Context, verifier string) (audit.Report, error) {
	log, err := a.log(ctx)
	if err != nil {
		return audit.Report{}, err
	}
	return audit.Verify(ctx, log, verifier, a.expected())
}

// expected returns the position of the read model; nil if it is not compared.
func (a *Auditor) expected() []audit.Expected {
	if a.model == nil {
		return nil
	}
	return a.model.At()
}

// VerifyFrom verifies the log from a signed log checkpoint on. It reads the heads of the
// checkpoint from a directory; from the object store of the settings if it is "".
func (a *Auditor) VerifyFrom(ctx context.Context, verifier, note, directory string) (audit.Report, error) {
	heads, err := headsOf(&a.config, directory)
	if err != nil {
		return audit.Report{}, err
	}
	log, err := a.log(ctx)
	if err != nil {
		return audit.Report{}, err
	}
	return audit.VerifyFrom(ctx, log, verifier, a.expected(), note, heads)
}

// Held searches the log for the log checkpoints in notes, which the auditor holds.
func (a *Auditor) Held(ctx context.Context, verifier string, notes []string) ([]audit.Finding, error) {
	log, err := a.log(ctx)
	if err != nil {
		return nil, err
	}
	return audit.Held(ctx, log, verifier, notes)
}

// Public compares the public topics with the facts of the log.
func (a *Auditor) Public(ctx context.Context) (r audit.PublicReport, err error) {
	log, err := a.log(ctx)
	if err != nil {
		return r, err
	}
	topics, err := publisher.OpenCommitted(publisher.Config{Brokers: a.kafka, Connect: a.broker, Prefix: a.config.TopicPrefix, EventLog: a.eventLog})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, topics.Close()) }()
	return audit.ComparePublic(ctx, log, topics)
}

// DeadLetters returns the number of open dead letters; those of an archive are not read.
func (a *Auditor) DeadLetters(ctx context.Context) (int, error) {
	if a.archived != nil {
		return 0, nil
	}
	open, err := reactor.NewDeadLetters(a.eventLog, a.config.TopicPrefix).Open(ctx)
	return len(open), err
}

// Replay replays billing.
func (a *Auditor) Replay(ctx context.Context) (audit.Replayed, error) {
	log, err := a.log(ctx)
	if err != nil {
		return audit.Replayed{}, err
	}
	var model audit.ReadModel
	if a.model != nil {
		model = a.model
	}
	return audit.Replay(ctx, log, commands.PlatformStream(a.config.Platform), model, time.Now())
}

// Bundle writes the requested bundle for the platform in the settings.
func (a *Auditor) Bundle(ctx context.Context, r audit.Request, out io.Writer) error {
	if a.config.Key == "" {
		return errNoAuditKey
	}
	key, err := audit.ReadKey(a.config.Key)
	if err != nil {
		return err
	}
	log, err := a.log(ctx)
	if err != nil {
		return err
	}
	r.Platform = commands.PlatformStream(a.config.Platform)
	return audit.WriteBundle(ctx, log, r, key, out)
}

// Checkpoint publishes a log checkpoint with a name, by default the current time. It
// returns the name.
func (t *Tools) Checkpoint(ctx context.Context, name string) (string, error) {
	key, err := connections.ReadAuditKey(&t.conn.Config)
	if err != nil {
		return "", err
	}
	if key == nil {
		return "", errNoAuditKey
	}
	name = cmp.Or(name, time.Now().UTC().Format(events.TimeLayout))
	return name, t.writing(ctx, func(ctx context.Context, w *connections.Writer) error {
		if err := t.conn.CatchUp(ctx, w.Watcher); err != nil {
			return err
		}
		return t.checkpoints(w).Publish(ctx, key, name)
	})
}

// Succeed makes the key of the settings the successor of the old key in a file. The old
// key signs a log checkpoint that names the new key. Succeed needs a running service.
// It returns the new public key and the name of the checkpoint, which is the current
// time.
func (t *Tools) Succeed(ctx context.Context, oldFile string) (verifier, name string, err error) {
	key, err := connections.ReadAuditKey(&t.conn.Config)
	if err != nil {
		return "", "", err
	}
	if key == nil {
		return "", "", errNoAuditKey
	}
	old, err := audit.ReadKey(oldFile)
	if err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = t.writing(ctx, func(ctx context.Context, w *connections.Writer) error {
		if err := t.conn.CatchUp(ctx, w.Watcher); err != nil {
			return fmt.Errorf("a service must be running: %w", err)
		}
		name, err = t.checkpoints(w).Succeed(ctx, old, key, time.Now().UTC().Format(events.TimeLayout))
		return err
	})
	return key.Verifier, name, err
}

// checkpoints returns what publishes log checkpoints.
func (t *Tools) checkpoints(w *connections.Writer) *checkpoints.Publisher {
	return &checkpoints.Publisher{Connections: t.conn, Reads: t.conn.Pool, Commands: w.Handler}
}

// snapshot reads the live read model in one transaction.
type snapshot struct {
	tx  pgx.Tx
	cut projector.Cut
}

// At implements audit.ReadModel.
func (s *snapshot) At() []audit.Expected {
	var at []audit.Expected
	for _, p := range s.cut.Parts {
		at = append(at, audit.Expected{
			Family: p.Family, TopicID: p.TopicID, Partition: p.Partition, Next: p.Next, Facts: p.Facts, Digest: p.Digest,
		})
	}
	return at
}

// Rows implements audit.ReadModel.
func (s *snapshot) Rows(ctx context.Context, table audit.Table, yield func([]string) error) error {
	columns := make([]string, len(table.Columns))
	for i, c := range table.Columns {
		columns[i] = c.Name + "::text"
		if c.Time {
			columns[i] = fmt.Sprintf(`to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`, c.Name)
		}
		columns[i] = fmt.Sprintf("coalesce(%s, '')", columns[i])
	}
	rows, err := s.tx.Query(ctx, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), table.Name))
	if err != nil {
		return err
	}
	values := make([]string, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	_, err = pgx.ForEachRow(rows, into, func() error { return yield(values) })
	return err
}
