// Package service assembles the service. It reads the settings, connects infra
// with the domain, and runs the configured roles until its context ends. It
// contains no domain logic.
package service

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Config has every setting of the service, with its environment variable in the
// tag. The defaults suit netsim-dev.
type Config struct {
	HTTP  string   `env:"NETSIM_HTTP" envDefault:"127.0.0.1:8080" form:"address"`
	Ops   string   `env:"NETSIM_OPS" envDefault:"127.0.0.1:8081" form:"address"`
	Roles []string `env:"NETSIM_ROLES" envDefault:"api,projector,reactor,worker,publisher,lake" form:"role"`

	Kafka            []string `env:"NETSIM_KAFKA,required" form:"address"`
	TopicPrefix      string   `env:"NETSIM_TOPIC_PREFIX" envDefault:"netsim." form:"name"`
	Partitions       int32    `env:"NETSIM_PARTITIONS" envDefault:"4" min:"1" max:"1000"` // partitions of new topics; cannot change later
	Replication      int      `env:"NETSIM_REPLICATION" min:"-1" max:"100"`               // replicas of new topics; 0 means 3, or in development -1, the brokers' default
	Development      bool     `env:"NETSIM_DATA_DEV"`                                     // accept topics that lose records when one broker fails; rebuild a read model of another release
	Postgres         string   `env:"NETSIM_POSTGRES,required" form:"postgres" secret:"true"`
	PostgresPoolSize int32    `env:"NETSIM_POSTGRES_POOL" envDefault:"24" min:"8" max:"10000"`

	WriterKeys string `env:"NETSIM_WRITER_KEYS" form:"writerKeys" secret:"true"` // the first key seals records, all keys verify seals; required outside development

	S3Endpoint  string `env:"NETSIM_S3_ENDPOINT,required" form:"url"`
	S3Region    string `env:"NETSIM_S3_REGION" envDefault:"us-east-1" form:"name"`
	S3Bucket    string `env:"NETSIM_S3_BUCKET" envDefault:"netsim" form:"name"`
	S3AccessKey string `env:"NETSIM_S3_ACCESS_KEY,required" secret:"true"`
	S3SecretKey string `env:"NETSIM_S3_SECRET_KEY,required" secret:"true"`

	MountRoot string `env:"NETSIM_LIBRARY_MOUNT" envDefault:"/mnt/libraries"` // where simulators mount the libraries; resolve returns paths below it

	Issuer       string        `env:"NETSIM_OIDC_ISSUER,required" form:"url"`
	JWKS         string        `env:"NETSIM_OIDC_JWKS_URL,required" form:"url"`
	KeysMaxAge   time.Duration `env:"NETSIM_OIDC_KEYS_MAX_AGE" envDefault:"10m" min:"1m"` // after this time a key that the issuer has withdrawn is refused
	Audience     string        `env:"NETSIM_OIDC_AUDIENCE" envDefault:"netsim" form:"name"`
	Algorithms   []string      `env:"NETSIM_OIDC_ALGORITHMS" form:"algorithm"` // default ES256, RS256
	ServiceClaim string        `env:"NETSIM_OIDC_SERVICE_CLAIM" envDefault:"token_use"`
	ServiceValue string        `env:"NETSIM_OIDC_SERVICE_VALUE" envDefault:"service"`

	Platform string `env:"NETSIM_PLATFORM" envDefault:"netsim" form:"name"`
	Account  string `env:"NETSIM_ACCOUNT" envDefault:"acct_0000000000e008000000000001"` // account of the deployment
	Prices   string `env:"NETSIM_PRICES" form:"file"`                                   // path of a price list; default: the embedded one
	Console  string `env:"NETSIM_CONSOLE_URL" form:"console"`                           // absolute URL; without it dashboardUrl is the URL of the simulation in the API
	AuditKey string `env:"NETSIM_AUDIT_KEY" form:"file"`                                // path of the key that signs log checkpoints; without it none are published

	BillingEndpoints bool `env:"NETSIM_ENABLE_BILLING_ENDPOINTS" envDefault:"true"`
	TraceRoutes      bool `env:"NETSIM_ENABLE_TRACE_ROUTES" envDefault:"true"`
	SimulationDelete bool `env:"NETSIM_ENABLE_SIMULATION_DELETE" envDefault:"true"`
	ResultsOwnership bool `env:"NETSIM_RESULTS_OWNERSHIP"` // restrict results to callers who may read the simulation

	EngineURLs     []string      `env:"NETSIM_ENGINE_URLS" form:"url"`                          // base URLs of remote engines (docs/engine-protocol.md)
	EngineToken    string        `env:"NETSIM_ENGINE_TOKEN" secret:"true"`                      // secret shared with the remote engines
	EnginePoll     time.Duration `env:"NETSIM_ENGINE_POLL" envDefault:"2s" min:"1ms"`           // interval between two polls of a run
	EngineTimeout  time.Duration `env:"NETSIM_ENGINE_TIMEOUT" envDefault:"10s" min:"1ms"`       // timeout of a call
	EnginePatience time.Duration `env:"NETSIM_ENGINE_PATIENCE" envDefault:"10m" min:"1ms"`      // time without a usable response after which a run fails
	EngineRuns     int           `env:"NETSIM_ENGINE_RUNS" envDefault:"16" min:"1" max:"10000"` // runs at remote engines that this process follows at a time

	MaxFiles       int           `env:"NETSIM_MAX_FILES_PER_UPLOAD" envDefault:"100" min:"1"`
	UploadLife     time.Duration `env:"NETSIM_UPLOAD_LIFE" envDefault:"24h" min:"1m"`              // lifetime of an upload session and its links
	UploadPatience time.Duration `env:"NETSIM_UPLOAD_PATIENCE" envDefault:"10s"`                   // how long to wait for another upload of the same content
	Workers        int           `env:"NETSIM_WORKERS" envDefault:"2" min:"1" max:"1000"`          // simulations at a time in this process
	RunFlows       int           `env:"NETSIM_RUN_FLOWS" envDefault:"4194304" min:"1"`             // transfers in flight in a run, about 300 bytes of memory each
	RunTraces      int64         `env:"NETSIM_RUN_TRACE_BYTES" envDefault:"2147483648" min:"1"`    // most bytes of memory for a run's traces
	RunResults     int64         `env:"NETSIM_RUN_RESULT_BYTES" envDefault:"100000000000" min:"1"` // most bytes of the result files of a run
	RunTime        time.Duration `env:"NETSIM_RUN_TIME" envDefault:"24h" min:"1s"`                 // most wall-clock time of a run
	RunCheckpoint  time.Duration `env:"NETSIM_RUN_CHECKPOINT"`                                     // overrides the simulations' snapshot interval; for tests
	StorePatience  time.Duration `env:"NETSIM_STORE_PATIENCE" envDefault:"10m"`                    // object store outage after which a run fails
	JobReconcile   time.Duration `env:"NETSIM_JOB_RECONCILE" envDefault:"5s" min:"1ms"`            // interval between two searches for jobs without a worker
	JobGrace       time.Duration `env:"NETSIM_JOB_GRACE" envDefault:"5s" min:"1ms"`                // time for a worker to begin a job that it took
	Retries        int           `env:"NETSIM_REACTION_RETRIES" envDefault:"10" min:"1" max:"30"`  // retries of a failed reaction, with growing pauses, before its fact becomes a dead letter
	MaxLag         int64         `env:"NETSIM_MAX_LAG" envDefault:"200000" min:"1"`                // lag in records above which writes are refused
	VerdictTimeout time.Duration `env:"NETSIM_VERDICT_TIMEOUT" envDefault:"10s" min:"100ms"`
	ReadTimeout    time.Duration `env:"NETSIM_READ_TIMEOUT" envDefault:"10s" min:"100ms"`
	Drain          time.Duration `env:"NETSIM_DRAIN" envDefault:"5s"`                 // time after SIGTERM while requests are still accepted
	Grace          time.Duration `env:"NETSIM_GRACE" envDefault:"10s"`                // time after that for requests in progress
	StreamLife     time.Duration `env:"NETSIM_STREAM_LIFE" envDefault:"15m" min:"1s"` // time after which a stream ends and clients have to reconnect
	RunStall       time.Duration `env:"NETSIM_RUN_STALL" envDefault:"5m" min:"1s"`    // time without simulated progress after which a run fails

	// Requests that this process serves at a time, for all accounts (docs/quotas.md).
	MaxReads    int              `env:"NETSIM_MAX_READS" envDefault:"1024" min:"1"`
	MaxWrites   int              `env:"NETSIM_MAX_WRITES" envDefault:"4096" min:"1"`
	MaxHeavy    int              `env:"NETSIM_MAX_HEAVY"`                                         // default: two per core
	MaxStreams  int              `env:"NETSIM_MAX_STREAMS" envDefault:"1000" min:"1"`             // clients that follow simulations or events
	MaxUploads  int              `env:"NETSIM_MAX_UPLOADS" envDefault:"64" min:"1"`               // requests that move or read files
	BodyTimeout time.Duration    `env:"NETSIM_BODY_TIMEOUT" envDefault:"30s" min:"100ms"`         // time for a request's body to arrive
	BodyMemory  int64            `env:"NETSIM_BODY_MEMORY" envDefault:"268435456" min:"67108864"` // bytes of all request bodies; one account may use a quarter
	Quotas      map[string]int64 `env:"NETSIM_QUOTAS" envKeyValSeparator:"="`                     // quotas of an account, such as streams.open=100,uploads.day=50

	// The lake (docs/lake.md).
	LakeEvery       time.Duration `env:"NETSIM_LAKE_EVERY" envDefault:"10s" min:"100ms" max:"1h"`                // interval between two snapshots while there are facts
	LakeBytes       int64         `env:"NETSIM_LAKE_BYTES" envDefault:"67108864" min:"1048576" max:"1073741824"` // bytes of a table's facts after which a snapshot is made earlier
	LakeMergeAfter  time.Duration `env:"NETSIM_LAKE_MERGE_AFTER" envDefault:"5m" min:"1s" max:"24h"`             // time after the end of an hour when its files are merged
	LakeDeleteAfter time.Duration `env:"NETSIM_LAKE_DELETE_AFTER" envDefault:"1h" min:"10m" max:"8760h"`         // time after which a file that no snapshot needs is deleted

	// The archive of the log (docs/recovery.md), which a process with the role archiver writes.
	Archive      string        `env:"NETSIM_ARCHIVE" form:"name"`                                 // a directory, or s3://bucket/prefix in the object store
	ArchiveEvery time.Duration `env:"NETSIM_ARCHIVE_EVERY" envDefault:"10s" min:"100ms" max:"1h"` // pause between two runs; a disaster loses the records since the last

	// The public topics (docs/public-topics.md).
	PublicPartitions   int32         `env:"NETSIM_PUBLIC_PARTITIONS" max:"10000"`                      // partitions of the public topics, a multiple of those of the log; 0 means as many
	PublicRetention    time.Duration `env:"NETSIM_PUBLIC_RETENTION" max:"876000h"`                     // age of a fact after which it is deleted from the public topic; 0 means never
	PublicEvery        time.Duration `env:"NETSIM_PUBLIC_EVERY" envDefault:"100ms" min:"1ms" max:"1m"` // least time between the begins of two transactions of a shard without a backlog
	PublicTransactions bool          `env:"NETSIM_PUBLIC_TRANSACTIONS" envDefault:"true"`              // use transactions if the brokers have them

	// The schema registry (docs/events.md). It has the schema of every event type.
	SchemaRegistry       string `env:"NETSIM_SCHEMA_REGISTRY" form:"url"`           // base URL of its Confluent API; without it none is used
	SchemaRegistryUser   string `env:"NETSIM_SCHEMA_REGISTRY_USER" form:"name"`     // for basic authentication
	SchemaRegistrySecret string `env:"NETSIM_SCHEMA_REGISTRY_SECRET" secret:"true"` // password of that user; without a user, a bearer token

	// The event feed (docs/feed.md).
	FeedHeartbeat time.Duration `env:"NETSIM_FEED_HEARTBEAT" envDefault:"15s" min:"10ms" max:"1m"`         // longest time without a message; a feed whose token is no longer accepted ends within it
	FeedBuffer    int           `env:"NETSIM_FEED_BUFFER" envDefault:"1048576" min:"65536" max:"67108864"` // bytes of events that wait for one client; a client that is slower is disconnected
	FeedCatchUps  int           `env:"NETSIM_FEED_CATCHUPS" envDefault:"4" min:"1" max:"1000"`             // reads of the log at a time for feeds that begin in the past
	FeedRate      int           `env:"NETSIM_FEED_RATE" envDefault:"20000" min:"1" max:"10000000"`         // records a second that these feeds read, all together

	Tracing

	LogFormat string     `env:"NETSIM_LOG_FORMAT" envDefault:"json" form:"logFormat"`
	LogLevel  slog.Level `env:"NETSIM_LOG_LEVEL" envDefault:"INFO" form:"logLevel"`
}

// The roles of a process.
const (
	RoleAPI       = "api"
	RoleProjector = "projector"
	RoleReactor   = "reactor"
	RoleWorker    = "worker"
	RoleLake      = "lake"
	RolePublisher = "publisher"
	RoleArchiver  = "archiver"
)

// FromEnvironment reads the settings from the environment.
func FromEnvironment() (Config, error) { return FromSettings(surroundings()) }

// FromSettings reads the settings from the given variables.
func FromSettings(environment map[string]string) (Config, error) {
	c, err := settings[Config](environment)
	if err == nil {
		err = errors.Join(c.check(), checkTracing(environment))
	}
	return c, err
}

// check refuses settings that contradict each other.
func (c *Config) check() error {
	switch {
	case len(c.Roles) == 0:
		return errors.New("NETSIM_ROLES names no role: it must name at least one of api, projector, reactor, worker, publisher, lake, archiver")
	case c.has(RoleAPI) && c.HTTP == c.Ops && !strings.HasSuffix(c.HTTP, ":0"):
		return fmt.Errorf("NETSIM_HTTP and NETSIM_OPS are both %q: they must be different", c.HTTP)
	case !c.Development && c.WriterKeys == "":
		return errNoWriterKeys
	case !c.Development && c.replication() < 3:
		return fmt.Errorf("NETSIM_REPLICATION is %q: it must be at least 3, so that the loss of one broker loses no event, unless NETSIM_DATA_DEV is true", fmt.Sprint(c.Replication))
	case strings.HasSuffix(c.TopicPrefix, "public."):
		return fmt.Errorf("NETSIM_TOPIC_PREFIX is %q: it must not end in public., because the topics of the log would look like public topics", c.TopicPrefix)
	case c.SchemaRegistryUser != "" && c.SchemaRegistrySecret == "":
		return fmt.Errorf("NETSIM_SCHEMA_REGISTRY_USER is %q: it must not be set without NETSIM_SCHEMA_REGISTRY_SECRET", c.SchemaRegistryUser)
	case 0 < c.EnginePatience && c.EnginePatience < c.EnginePoll:
		return fmt.Errorf("NETSIM_ENGINE_PATIENCE is %q: it must be at least NETSIM_ENGINE_POLL, which is %q", c.EnginePatience, c.EnginePoll)
	}
	if err := c.checkArchive(); err != nil {
		return err
	}
	_, err := c.quotas()
	return err
}

// replication returns the replication factor of new topics. -1 means the brokers'
// default.
func (c *Config) replication() int {
	switch {
	case c.Replication != 0:
		return c.Replication
	case c.Development:
		return -1
	}
	return 3
}

func (c *Config) has(role string) bool { return slices.Contains(c.Roles, role) }
