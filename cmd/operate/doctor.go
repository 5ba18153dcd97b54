package operate

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/cmd/connections"
	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/broker"
	"netsim/infra/doctor"
	"netsim/infra/eventlog"
	"netsim/infra/jobs"
	"netsim/infra/postgres"
	"netsim/infra/projector"
	"netsim/infra/reactor"
	"netsim/stream/publisher"
)

// Examine examines every component that a process with the settings depends on, each check
// for at most the timeout. now is this machine's clock. Secrets are not in the rows.
func Examine(ctx context.Context, c settings.Config, timeout time.Duration, now func() time.Time) ([]doctor.Row, error) {
	x := &examination{config: c, now: now}
	if err := x.open(ctx); err != nil {
		return nil, err
	}
	defer x.pool.Close()
	rows := doctor.Examine(ctx, x.checks(), timeout)
	for i := range rows {
		rows[i].Finding, rows[i].Advice = c.Redact(rows[i].Finding), c.Redact(rows[i].Advice)
	}
	return rows, nil
}

// examination has what the checks of the settings need. It connects to nothing by itself.
type examination struct {
	config    settings.Config
	now       func() time.Time
	pool      *pgxpool.Pool
	broker    *broker.Connector
	projector *projector.Projector
}

func (x *examination) open(ctx context.Context) (err error) {
	quiet := slog.New(slog.DiscardHandler)
	if x.pool, err = postgres.New(ctx, x.config.Postgres, projector.Live, 2, connections.Session()); err != nil {
		return err
	}
	if x.broker, err = x.config.Connector(quiet); err != nil {
		x.pool.Close()
		return err
	}
	x.projector = projector.New(projector.Config{Pool: x.pool, Projections: connections.Projections(), Logger: quiet})
	return nil
}

// checks returns the checks that concern the roles of the process.
func (x *examination) checks() []doctor.Check {
	c := &x.config
	checks := slices.Concat(x.settingsChecks(), x.keyChecks(), x.kafka().Checks(), x.postgres().Checks(),
		[]doctor.Check{{Component: "postgres", Name: "level", Run: x.level}}, x.objects().Checks())
	if c.Has(settings.RoleAPI) {
		issuer := doctor.Issuer{Endpoint: x.endpoint("issuer", c.JWKS), Issuer: c.Issuer, Algorithms: c.Algorithms}
		checks = append(append(checks, issuer.Checks()...), x.consoleChecks()...)
	}
	if c.Has(settings.RoleAPI) || c.Has(settings.RoleWorker) {
		checks = append(checks, x.engineChecks()...)
	}
	if c.Has(settings.RoleArchiver) {
		checks = append(checks, doctor.Check{Component: "archive", Name: "readable", Run: x.archive})
	}
	if c.Has(settings.RoleLake) {
		checks = append(checks, doctor.Check{Component: "lake", Name: "log", Run: x.lake})
	}
	if c.Has(settings.RolePublisher) && c.SchemaRegistry != "" {
		checks = append(checks, x.registryChecks()...)
	}
	if to := c.TracesURL(); to != "" {
		collector := x.endpoint("collector", to)
		checks = append(append(checks, collector.Reachable(nil)), collector.Certificate()...)
	}
	return append(checks, x.machine().Checks()...)
}

func (x *examination) endpoint(component, url string) doctor.Endpoint {
	return doctor.Endpoint{Component: component, URL: url, Now: x.now}
}

func (x *examination) kafka() doctor.Kafka {
	c := &x.config
	k := doctor.Kafka{
		Config: connections.EventLogConfig(c, x.broker), Partitions: int(c.Partitions), Internal: []string{reactor.DeadLetterTopic(c.TopicPrefix)},
		Needed: neededInKafka(c), Recognize: x.recognize, Now: x.now,
	}
	if c.Has(settings.RolePublisher) {
		k.Transactional = c.PublicTransactions
		for _, family := range events.Families() {
			k.Public = append(k.Public, publisher.Topic(c.TopicPrefix, family))
		}
	}
	return k
}

// neededInKafka returns what the process does in Kafka: the rights of its roles, without
// those that other settings make needless.
func neededInKafka(c *settings.Config) (needed []doctor.KafkaRight) {
	groups := slices.Sorted(maps.Keys(service.ReactionGroups(c.TopicPrefix)))
	for _, r := range KafkaRights(c.TopicPrefix) {
		names := []string{r.Name}
		switch {
		case !c.Has(r.User):
			continue
		case r.Resource == doctor.KafkaGroup && r.Prefixed:
			names = groups
		case r.Resource == doctor.KafkaTransactional && !c.PublicTransactions:
			continue
		case r.Resource == doctor.KafkaTransactional:
			names = []string{r.Name + "doctor"} // of no publisher
		case c.ReadOnly:
			r.Operations = slices.DeleteFunc(slices.Clone(r.Operations), func(name string) bool { return name == opWrite })
		}
		for _, name := range names {
			needed = append(needed, doctor.KafkaRight{Resource: r.Resource, Name: name, Operations: r.Operations})
		}
	}
	return needed
}

// recognize refuses a log from which the read model was not built.
func (x *examination) recognize(ctx context.Context, log eventlog.Description) error {
	exists, err := x.projector.Exists(ctx)
	if err != nil || !exists {
		return nil //nolint:nilerr // the checks of PostgreSQL report it
	}
	return x.projector.Recognize(ctx, log)
}

func (x *examination) postgres() doctor.Postgres {
	c := &x.config
	return doctor.Postgres{
		URL: c.Postgres, Sessions: service.Sessions(c), Schemas: []string{projector.Live, postgres.Schema, jobs.Schema, "facts", "lake", "webhooks"}, Now: x.now,
		Owner: c.Migrate, ReadModel: x.projector.Exists, Missing: x.projector.AddIndexes,
	}
}

func (x *examination) objects() doctor.Objects {
	return doctor.Objects{Endpoint: x.endpoint("object store", x.config.S3Endpoint), Store: connections.Objects(&x.config, connections.Observer{}), Bucket: x.config.S3Bucket}
}

// machine estimates what the process may need at most.
func (x *examination) machine() doctor.Machine {
	c := &x.config
	m := doctor.Machine{Files: 200, Memory: 256 << 20}
	if c.Has(settings.RoleAPI) {
		m.Files += int64(c.MaxReads + c.MaxWrites + c.MaxStreams + c.MaxUploads + c.MaxContent)
		m.Memory += c.BodyMemory + int64(c.MaxStreams)*int64(c.FeedBuffer)
	}
	if c.Has(settings.RoleWorker) {
		m.Memory += int64(c.RunFlows)*flowBytes + int64(c.Workers)*c.RunTraces
		m.Temporary = 1 << 30
	}
	if c.Has(settings.RoleLake) {
		m.Memory += c.LakeBytes
	}
	for _, s := range settings.All() {
		if path := os.Getenv(s.Variable + settings.FileSuffix); s.Secret && path != "" {
			m.Secrets = append(m.Secrets, doctor.File{Variable: s.Variable + settings.FileSuffix, Path: path})
		}
	}
	for variable, path := range map[string]string{"NETSIM_AUDIT_KEY": c.AuditKey, "NETSIM_KAFKA_KEY": c.KafkaKey, "NETSIM_KAFKA_OAUTH_TOKEN_FILE": c.KafkaTokenFile} {
		if path != "" {
			m.Secrets = append(m.Secrets, doctor.File{Variable: variable, Path: path})
		}
	}
	return m
}

// flowBytes is the memory of a transfer in flight, in bytes (docs/engine.md).
const flowBytes = 250

// ExamineSettings returns the rows of settings with which nothing else can be examined.
func ExamineSettings(err error) []doctor.Row {
	var rows []doctor.Row
	for _, sentence := range settings.Sentences(err) {
		rows = append(rows, doctor.Row{Component: "settings", Check: "values", Status: doctor.Fail, Finding: sentence, Advice: "correct it; 'netsim serve --help' lists the settings"})
	}
	return rows
}
