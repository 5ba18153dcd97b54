// Package settings has the settings of the service and of the operators' tools: what each
// is, may be and is for, how it is read, and which do not go together. They come from
// environment variables, secrets also from files.
package settings

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"netsim/commands"
	"netsim/events"
	"netsim/fault"
)

// Config has every setting of the service. This struct and settings.md are the only place
// where a setting is described: 'netsim serve --help', docs/settings.md, the checks of
// values and 'netsim doctor' are made from them. A new setting needs a field here, an
// entry in settings.md, and 'go generate ./cmd/settings'.
//
// The tag of a field has what programs need:
//
//	env:"NETSIM_X"    its environment variable; NETSIM_X,required if it must be set
//	envDefault:"1"    its default. The package that uses the value has no default of its own
//	unset:"all"       what happens without a value, if that is not a constant
//	form:"url"        the required format, a key of forms; in a list it applies to each value
//	min:"1" max:"9"   bounds of a number or a duration; min is 0 if it is absent
//	unit:"bytes"      unit of a number. Durations are written with theirs, such as 90s
//	secret:"true"     its value is never shown; NETSIM_X_FILE may name a file with it
//	roles:"api,lake"  the roles that read it; every process, if it is absent
//
// An entry of settings.md has what people need, in two paragraphs: what the value means,
// and when to change it. The entries have the order of the fields. The comment above a
// group of fields is the heading above its entries.
type Config struct {
	// Processes
	Roles        []string      `env:"NETSIM_ROLES" envDefault:"api,projector,reactor,worker,publisher,lake" form:"role"`
	HTTP         string        `env:"NETSIM_HTTP" envDefault:"127.0.0.1:8080" form:"address" roles:"api"`
	Ops          string        `env:"NETSIM_OPS" envDefault:"127.0.0.1:8081" form:"address"`
	Profiles     bool          `env:"NETSIM_PROFILES"`
	StartTimeout time.Duration `env:"NETSIM_START_TIMEOUT" envDefault:"10m"`
	Drain        time.Duration `env:"NETSIM_DRAIN" envDefault:"5s" roles:"api"`
	Grace        time.Duration `env:"NETSIM_GRACE" envDefault:"10s" roles:"api"`
	Migrate      bool          `env:"NETSIM_MIGRATE" envDefault:"true"`
	Development  bool          `env:"NETSIM_DATA_DEV"`

	// Event log
	Kafka          []string      `env:"NETSIM_KAFKA,required" form:"address"`
	TopicPrefix    string        `env:"NETSIM_TOPIC_PREFIX" envDefault:"netsim." form:"name"`
	Partitions     int32         `env:"NETSIM_PARTITIONS" envDefault:"4" min:"1" max:"1000" unit:"partitions"`
	Replication    int           `env:"NETSIM_REPLICATION" min:"-1" max:"100" unset:"3; in development the default of the brokers" unit:"replicas"`
	WriterKeys     string        `env:"NETSIM_WRITER_KEYS" form:"writerKeys" secret:"true" unset:"none, which only development allows"`
	AuditKey       string        `env:"NETSIM_AUDIT_KEY" form:"file"`
	VerdictTimeout time.Duration `env:"NETSIM_VERDICT_TIMEOUT" envDefault:"10s" min:"100ms"`
	MaxLag         int64         `env:"NETSIM_MAX_LAG" envDefault:"200000" min:"1" unit:"records"`

	// Connections to Kafka
	KafkaAccess

	// Database
	Postgres         string `env:"NETSIM_POSTGRES,required" form:"postgres" secret:"true"`
	PostgresPoolSize int32  `env:"NETSIM_POSTGRES_POOL" envDefault:"24" min:"8" max:"10000" unit:"sessions"`

	// Several databases
	Standbys      string        `env:"NETSIM_POSTGRES_STANDBYS" form:"standbys" secret:"true" roles:"api"`
	StandbyMaxLag time.Duration `env:"NETSIM_STANDBY_MAX_LAG" envDefault:"5s" min:"500ms" max:"1h" roles:"api"`
	StandbyWait   time.Duration `env:"NETSIM_STANDBY_WAIT" envDefault:"20ms" max:"10s" roles:"api"`
	TokenTimeout  time.Duration `env:"NETSIM_TOKEN_TIMEOUT" envDefault:"2s" min:"10ms" max:"1m" roles:"api"`
	ReadOnly      bool          `env:"NETSIM_READ_ONLY" roles:"api,projector"`
	PrimaryURL    string        `env:"NETSIM_PRIMARY_URL" form:"url" roles:"api"`

	// Object store
	S3Endpoint   string        `env:"NETSIM_S3_ENDPOINT,required" form:"url"`
	S3Region     string        `env:"NETSIM_S3_REGION" envDefault:"us-east-1" form:"name"`
	S3Bucket     string        `env:"NETSIM_S3_BUCKET" envDefault:"netsim" form:"name"`
	S3AccessKey  string        `env:"NETSIM_S3_ACCESS_KEY" secret:"true" unset:"the role of the process"`
	S3SecretKey  string        `env:"NETSIM_S3_SECRET_KEY" secret:"true"`
	StoreTimeout time.Duration `env:"NETSIM_STORE_PATIENCE" envDefault:"10m" roles:"worker"`
	MountRoot    string        `env:"NETSIM_LIBRARY_MOUNT" envDefault:"/mnt/libraries" roles:"api"`

	// Tokens
	Issuer       string        `env:"NETSIM_OIDC_ISSUER,required" form:"url" roles:"api"`
	JWKS         string        `env:"NETSIM_OIDC_JWKS_URL,required" form:"url" roles:"api"`
	KeysMaxAge   time.Duration `env:"NETSIM_OIDC_KEYS_MAX_AGE" envDefault:"10m" min:"1m" roles:"api"`
	Audience     string        `env:"NETSIM_OIDC_AUDIENCE" envDefault:"netsim" form:"name" roles:"api"`
	Algorithms   []string      `env:"NETSIM_OIDC_ALGORITHMS" envDefault:"ES256,RS256" form:"algorithm" roles:"api"`
	ServiceClaim string        `env:"NETSIM_OIDC_SERVICE_CLAIM" envDefault:"token_use" roles:"api"`
	ServiceValue string        `env:"NETSIM_OIDC_SERVICE_VALUE" envDefault:"service" roles:"api"`
	RolesClaim   string        `env:"NETSIM_ROLES_CLAIM" envDefault:"roles" roles:"api"`

	// Platform
	Platform         string `env:"NETSIM_PLATFORM" envDefault:"netsim" form:"name"`
	Operator         string `env:"NETSIM_OPERATOR" unset:"the user of the operating system and the machine"`
	Account          string `env:"NETSIM_ACCOUNT" envDefault:"acct_0000000000e008000000000001"`
	Prices           string `env:"NETSIM_PRICES" form:"file" unset:"the list in billing/prices/default.yaml"`
	BillingEndpoints bool   `env:"NETSIM_ENABLE_BILLING_ENDPOINTS" envDefault:"true" roles:"api"`
	TraceRoutes      bool   `env:"NETSIM_ENABLE_TRACE_ROUTES" envDefault:"true" roles:"api"`
	SimulationDelete bool   `env:"NETSIM_ENABLE_SIMULATION_DELETE" envDefault:"true" roles:"api"`
	ResultsOwnership bool   `env:"NETSIM_RESULTS_OWNERSHIP" roles:"api"`

	// Console
	ConsoleAccess

	// Requests
	MaxReads          int              `env:"NETSIM_MAX_READS" envDefault:"1024" min:"1" unit:"requests" roles:"api"`
	MaxWrites         int              `env:"NETSIM_MAX_WRITES" envDefault:"4096" min:"1" unit:"requests" roles:"api"`
	MaxHeavy          int              `env:"NETSIM_MAX_HEAVY" unset:"two for each core" unit:"requests" roles:"api"`
	MaxStreams        int              `env:"NETSIM_MAX_STREAMS" envDefault:"1000" min:"1" unit:"clients" roles:"api"`
	MaxUploads        int              `env:"NETSIM_MAX_UPLOADS" envDefault:"64" min:"1" unit:"requests" roles:"api"`
	MaxContent        int              `env:"NETSIM_MAX_CONTENT" envDefault:"64" min:"1" unit:"requests" roles:"api"`
	MaxFiles          int              `env:"NETSIM_MAX_FILES_PER_UPLOAD" envDefault:"100" min:"1" unit:"files" roles:"api"`
	BodyTimeout       time.Duration    `env:"NETSIM_BODY_TIMEOUT" envDefault:"30s" min:"100ms" roles:"api"`
	BodyRate          int64            `env:"NETSIM_BODY_RATE" envDefault:"131072" min:"1024" unit:"bytes a second" roles:"api"`
	BodyMemory        int64            `env:"NETSIM_BODY_MEMORY" envDefault:"268435456" min:"67108864" unit:"bytes" roles:"api"`
	ReadTimeout       time.Duration    `env:"NETSIM_READ_TIMEOUT" envDefault:"10s" min:"100ms" roles:"api"`
	StreamLife        time.Duration    `env:"NETSIM_STREAM_LIFE" envDefault:"15m" min:"1s" roles:"api"`
	UploadLife        time.Duration    `env:"NETSIM_UPLOAD_LIFE" envDefault:"24h" min:"1m" roles:"api"`
	UploadLockTimeout time.Duration    `env:"NETSIM_UPLOAD_PATIENCE" envDefault:"10s" roles:"api"`
	Quotas            map[string]int64 `env:"NETSIM_QUOTAS" envKeyValSeparator:"=" unset:"those of docs/quotas.md" roles:"api,reactor,worker"`

	// Reactions and jobs
	Retries      int           `env:"NETSIM_REACTION_RETRIES" envDefault:"10" min:"1" max:"30" unit:"retries" roles:"reactor"`
	JobReconcile time.Duration `env:"NETSIM_JOB_RECONCILE" envDefault:"5s" min:"1ms" roles:"worker"`
	JobGrace     time.Duration `env:"NETSIM_JOB_GRACE" envDefault:"5s" min:"1ms" roles:"worker"`

	// Runs
	Workers       int           `env:"NETSIM_WORKERS" envDefault:"2" min:"1" max:"1000" unit:"simulations" roles:"worker"`
	ShortRuns     int           `env:"NETSIM_SHORT_RUNS" envDefault:"8" min:"0" max:"1000" unit:"simulations" roles:"worker"`
	RunFlows      int           `env:"NETSIM_RUN_FLOWS" envDefault:"16777216" min:"1" unit:"transfers" roles:"worker"`
	RunTraces     int64         `env:"NETSIM_RUN_TRACE_BYTES" envDefault:"2147483648" min:"1" unit:"bytes" roles:"worker"`
	RunResults    int64         `env:"NETSIM_RUN_RESULT_BYTES" envDefault:"100000000000" min:"1" unit:"bytes" roles:"worker"`
	RunTime       time.Duration `env:"NETSIM_RUN_TIME" envDefault:"24h" min:"1s" roles:"worker"`
	RunStall      time.Duration `env:"NETSIM_RUN_STALL" envDefault:"5m" min:"1s" roles:"worker"`
	RunTurn       time.Duration `env:"NETSIM_RUN_TURN" envDefault:"5s" min:"1ms" roles:"worker"`
	RunCheckpoint time.Duration `env:"NETSIM_RUN_CHECKPOINT" unset:"as the simulation asks" roles:"worker"`

	// Remote engines
	EngineURLs          []string      `env:"NETSIM_ENGINE_URLS" form:"url" roles:"api,worker"`
	EngineToken         string        `env:"NETSIM_ENGINE_TOKEN" secret:"true" roles:"api,worker"`
	EnginePoll          time.Duration `env:"NETSIM_ENGINE_POLL" envDefault:"2s" min:"1ms" roles:"worker"`
	EngineTimeout       time.Duration `env:"NETSIM_ENGINE_TIMEOUT" envDefault:"10s" min:"1ms" roles:"api,worker"`
	EngineOutageTimeout time.Duration `env:"NETSIM_ENGINE_PATIENCE" envDefault:"10m" min:"1ms" roles:"worker"`
	EngineRuns          int           `env:"NETSIM_ENGINE_RUNS" envDefault:"16" min:"1" max:"10000" unit:"runs" roles:"worker"`

	// Public topics
	PublicPartitions   int32         `env:"NETSIM_PUBLIC_PARTITIONS" max:"10000" unset:"as many as the log has" unit:"partitions" roles:"publisher"`
	PublicRetention    time.Duration `env:"NETSIM_PUBLIC_RETENTION" max:"876000h" roles:"publisher"`
	PublicTransactions bool          `env:"NETSIM_PUBLIC_TRANSACTIONS" envDefault:"true" roles:"publisher"`

	// Schema registry
	SchemaRegistry       string `env:"NETSIM_SCHEMA_REGISTRY" form:"url" roles:"publisher"`
	SchemaRegistryUser   string `env:"NETSIM_SCHEMA_REGISTRY_USER" form:"name" roles:"publisher"`
	SchemaRegistrySecret string `env:"NETSIM_SCHEMA_REGISTRY_SECRET" secret:"true" roles:"publisher"`

	// Lake
	LakeEvery       time.Duration `env:"NETSIM_LAKE_EVERY" envDefault:"10s" min:"100ms" max:"1h" roles:"lake"`
	LakeBytes       int64         `env:"NETSIM_LAKE_BYTES" envDefault:"67108864" min:"1048576" max:"1073741824" unit:"bytes" roles:"lake"`
	LakeDeleteAfter time.Duration `env:"NETSIM_LAKE_DELETE_AFTER" envDefault:"1h" min:"10m" max:"8760h" roles:"lake"`

	// Archive of the log
	Archive      string        `env:"NETSIM_ARCHIVE" form:"name" roles:"archiver"`
	ArchiveEvery time.Duration `env:"NETSIM_ARCHIVE_EVERY" envDefault:"10s" min:"100ms" max:"1h" roles:"archiver"`

	// Event feed
	FeedHeartbeat time.Duration `env:"NETSIM_FEED_HEARTBEAT" envDefault:"15s" min:"10ms" max:"1m" roles:"api"`
	FeedBuffer    int           `env:"NETSIM_FEED_BUFFER" envDefault:"1048576" min:"65536" max:"67108864" unit:"bytes" roles:"api"`
	FeedRate      int           `env:"NETSIM_FEED_RATE" envDefault:"20000" min:"1" max:"10000000" unit:"records a second" roles:"api"`

	// Webhooks
	WebhookKeys     string   `env:"NETSIM_WEBHOOK_KEYS" form:"webhookKeys" secret:"true" unset:"none: there are no webhooks" roles:"api,reactor"`
	WebhookNetworks []string `env:"NETSIM_WEBHOOK_NETWORKS" form:"network" unset:"none: public addresses only" roles:"api,reactor"`

	// Traces
	Tracing

	// Log lines
	LogFormat string     `env:"NETSIM_LOG_FORMAT" envDefault:"json" form:"logFormat"`
	LogLevel  slog.Level `env:"NETSIM_LOG_LEVEL" envDefault:"INFO" form:"logLevel"`

	ignored []string // variables that look like settings, but are none
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

// EveryRole returns all roles.
func EveryRole() []string {
	return []string{RoleAPI, RoleProjector, RoleReactor, RoleWorker, RolePublisher, RoleLake, RoleArchiver}
}

// FromEnvironment reads the settings from the environment.
func FromEnvironment() (Config, error) { return FromVariables(surroundings()) }

// FromVariables reads the settings from the given variables. The error has a line for each
// wrong one.
func FromVariables(environment map[string]string) (Config, error) {
	c, wrong := read[Config](environment)
	c.addContradictions(&wrong)
	c.ignored = addUnknown(environment, &wrong)
	return c, wrong.err()
}

// Check refuses settings that contradict each other.
func (c *Config) Check() error {
	var wrong wrongSettings
	c.addContradictions(&wrong)
	return wrong.err()
}

// Replicas returns the replication factor of new topics. -1 means the brokers'
// default.
func (c *Config) Replicas() int {
	switch {
	case c.Replication != 0:
		return c.Replication
	case c.Development:
		return -1
	}
	return 3
}

// Writes reports whether the process appends to the log. The others need no right to.
func (c *Config) Writes() bool {
	return !c.ReadOnly && (c.Has(RoleAPI) || c.Has(RoleReactor) || c.Has(RoleWorker))
}

// Has reports whether the process has a role.
func (c *Config) Has(role string) bool { return slices.Contains(c.Roles, role) }

// Ignored returns the variables that look like settings, but are none of this release.
func (c *Config) Ignored() []string { return c.ignored }

// Refusal returns the error for a write in a deployment that only reads; nil in any other.
func (c *Config) Refusal() error {
	switch {
	case !c.ReadOnly:
		return nil
	case c.PrimaryURL == "":
		return fault.New(fault.Forbidden, "this deployment only reads; send the request to the deployment that takes writes")
	}
	return fault.New(fault.Forbidden, "this deployment only reads; send the request to %s", c.PrimaryURL)
}

// QuotaLimits returns the limits of the settings, which apply to accounts without their own.
func (c *Config) QuotaLimits() (map[string]int64, error) {
	all := commands.DefaultQuotas()
	for name, limit := range c.Quotas {
		if err := commands.CheckQuota(name, limit); err != nil {
			return nil, fmt.Errorf("NETSIM_QUOTAS: %w", err)
		}
	}
	maps.Copy(all, c.Quotas)
	return all, nil
}

// OperatorID returns the opaque id of the operator who runs this process. It is derived
// from NETSIM_OPERATOR or, without it, from the user of the operating system and the
// machine.
func (c *Config) OperatorID() string {
	if c.Operator != "" {
		return events.DerivedID(events.OperatorPrefix, "setting", c.Operator)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return events.DerivedID(events.OperatorPrefix, "user", host, strconv.Itoa(os.Getuid()))
}
