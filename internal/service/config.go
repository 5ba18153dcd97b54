// Package service assembles the service: it reads the settings, connects what
// infra offers with what the domain needs, and runs the roles asked for until
// its context ends. It holds no logic of its own.
package service

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Config is every setting of the service. Each has the environment variable in
// its tag; the defaults suit netsim-dev.
type Config struct {
	HTTP  string   `env:"NETSIM_HTTP" envDefault:"127.0.0.1:8080" form:"address"`
	Ops   string   `env:"NETSIM_OPS" envDefault:"127.0.0.1:8081" form:"address"`
	Roles []string `env:"NETSIM_ROLES" envDefault:"api,projector,reactor,worker" form:"role"`

	Kafka            []string `env:"NETSIM_KAFKA,required" form:"address"`
	TopicPrefix      string   `env:"NETSIM_TOPIC_PREFIX" envDefault:"netsim." form:"name"`
	Partitions       int32    `env:"NETSIM_PARTITIONS" envDefault:"4" min:"1" max:"1000"` // of topics that are made; fixed then
	Replication      int      `env:"NETSIM_REPLICATION" min:"-1" max:"100"`               // of topics that are made; 0 is 3, in development the brokers' own, which is -1
	Development      bool     `env:"NETSIM_DATA_DEV"`                                     // accept topics that one broker's death can lose; tell a read model of another release again
	Postgres         string   `env:"NETSIM_POSTGRES,required" form:"postgres" secret:"true"`
	PostgresPoolSize int32    `env:"NETSIM_POSTGRES_POOL" envDefault:"24" min:"8" max:"10000"`

	WriterKeys string `env:"NETSIM_WRITER_KEYS" form:"writerKeys" secret:"true"` // the first seals records, all verify; required outside development

	S3Endpoint  string `env:"NETSIM_S3_ENDPOINT,required" form:"url"`
	S3Region    string `env:"NETSIM_S3_REGION" envDefault:"us-east-1" form:"name"`
	S3Bucket    string `env:"NETSIM_S3_BUCKET" envDefault:"netsim" form:"name"`
	S3AccessKey string `env:"NETSIM_S3_ACCESS_KEY,required" secret:"true"`
	S3SecretKey string `env:"NETSIM_S3_SECRET_KEY,required" secret:"true"`

	MountRoot string `env:"NETSIM_LIBRARY_MOUNT" envDefault:"/mnt/libraries"` // where simulators have the libraries; told by resolve

	Issuer       string        `env:"NETSIM_OIDC_ISSUER,required" form:"url"`
	JWKS         string        `env:"NETSIM_OIDC_JWKS_URL,required" form:"url"`
	KeysMaxAge   time.Duration `env:"NETSIM_OIDC_KEYS_MAX_AGE" envDefault:"10m" min:"1m"` // a key that the issuer withdraws is refused after it at the latest
	Audience     string        `env:"NETSIM_OIDC_AUDIENCE" envDefault:"netsim" form:"name"`
	Algorithms   []string      `env:"NETSIM_OIDC_ALGORITHMS" form:"algorithm"` // default ES256, RS256
	ServiceClaim string        `env:"NETSIM_OIDC_SERVICE_CLAIM" envDefault:"token_use"`
	ServiceValue string        `env:"NETSIM_OIDC_SERVICE_VALUE" envDefault:"service"`

	Platform string `env:"NETSIM_PLATFORM" envDefault:"netsim" form:"name"`
	Account  string `env:"NETSIM_ACCOUNT" envDefault:"acct_0000000000e008000000000001"` // the deployment's own
	Prices   string `env:"NETSIM_PRICES" form:"file"`                                   // path of a price list; default the embedded one
	Console  string `env:"NETSIM_CONSOLE_URL" form:"console"`                           // absolute; without it dashboardUrl is that of the simulation in the API
	AuditKey string `env:"NETSIM_AUDIT_KEY" form:"file"`                                // path of the key that signs checkpoints; none are published without

	BillingEndpoints bool `env:"NETSIM_ENABLE_BILLING_ENDPOINTS" envDefault:"true"`
	TraceRoutes      bool `env:"NETSIM_ENABLE_TRACE_ROUTES" envDefault:"true"`
	SimulationDelete bool `env:"NETSIM_ENABLE_SIMULATION_DELETE" envDefault:"true"`
	ResultsOwnership bool `env:"NETSIM_RESULTS_OWNERSHIP"` // results only for those who may read the simulation, not for every user

	EngineURLs     []string      `env:"NETSIM_ENGINE_URLS" form:"url"`                          // base URLs of remote engines (docs/engine-protocol.md)
	EngineToken    string        `env:"NETSIM_ENGINE_TOKEN" secret:"true"`                      // a secret shared with them
	EnginePoll     time.Duration `env:"NETSIM_ENGINE_POLL" envDefault:"2s" min:"1ms"`           // between two looks at a run
	EngineTimeout  time.Duration `env:"NETSIM_ENGINE_TIMEOUT" envDefault:"10s" min:"1ms"`       // of a call
	EnginePatience time.Duration `env:"NETSIM_ENGINE_PATIENCE" envDefault:"10m" min:"1ms"`      // without a usable answer, until a run fails
	EngineRuns     int           `env:"NETSIM_ENGINE_RUNS" envDefault:"16" min:"1" max:"10000"` // at remote engines, looked after at a time by this process

	MaxFiles       int           `env:"NETSIM_MAX_FILES_PER_UPLOAD" envDefault:"100" min:"1"`
	UploadLife     time.Duration `env:"NETSIM_UPLOAD_LIFE" envDefault:"24h" min:"1m"`              // of an upload session and its links
	UploadPatience time.Duration `env:"NETSIM_UPLOAD_PATIENCE" envDefault:"10s"`                   // for another upload of the same content
	Workers        int           `env:"NETSIM_WORKERS" envDefault:"2" min:"1" max:"1000"`          // simulations at a time in this process
	RunFlows       int           `env:"NETSIM_RUN_FLOWS" envDefault:"4194304" min:"1"`             // transfers in flight at once in a run, some 300 bytes of memory each
	RunTraces      int64         `env:"NETSIM_RUN_TRACE_BYTES" envDefault:"2147483648" min:"1"`    // memory of the traces of a run
	RunResults     int64         `env:"NETSIM_RUN_RESULT_BYTES" envDefault:"100000000000" min:"1"` // of the result files of a run
	RunTime        time.Duration `env:"NETSIM_RUN_TIME" envDefault:"24h" min:"1s"`                 // wall-clock time of a run
	RunCheckpoint  time.Duration `env:"NETSIM_RUN_CHECKPOINT"`                                     // instead of what simulations ask for, in tests
	StorePatience  time.Duration `env:"NETSIM_STORE_PATIENCE" envDefault:"10m"`                    // for an object store that is down, until the run that needs it fails
	JobReconcile   time.Duration `env:"NETSIM_JOB_RECONCILE" envDefault:"5s" min:"1ms"`            // between two looks for jobs whose worker is gone
	JobGrace       time.Duration `env:"NETSIM_JOB_GRACE" envDefault:"5s" min:"1ms"`                // that a worker has to begin a job
	Retries        int           `env:"NETSIM_REACTION_RETRIES" envDefault:"10" min:"1" max:"30"`  // of a reaction that fails, with growing pauses, until its fact is a dead letter
	MaxLag         int64         `env:"NETSIM_MAX_LAG" envDefault:"200000" min:"1"`                // records the projector may lag before writes are shed
	VerdictTimeout time.Duration `env:"NETSIM_VERDICT_TIMEOUT" envDefault:"10s" min:"100ms"`
	ReadTimeout    time.Duration `env:"NETSIM_READ_TIMEOUT" envDefault:"10s" min:"100ms"`
	Drain          time.Duration `env:"NETSIM_DRAIN" envDefault:"5s"`                 // after SIGTERM, that requests are still taken: until routers have noticed
	Grace          time.Duration `env:"NETSIM_GRACE" envDefault:"10s"`                // after that, for requests which have begun
	StreamLife     time.Duration `env:"NETSIM_STREAM_LIFE" envDefault:"15m" min:"1s"` // after which they have to ask again
	RunStall       time.Duration `env:"NETSIM_RUN_STALL" envDefault:"5m" min:"1s"`    // without simulated progress, after which a run fails

	// What this process serves at a time, of all accounts (docs/quotas.md).
	MaxReads    int              `env:"NETSIM_MAX_READS" envDefault:"1024" min:"1"`
	MaxWrites   int              `env:"NETSIM_MAX_WRITES" envDefault:"4096" min:"1"`
	MaxHeavy    int              `env:"NETSIM_MAX_HEAVY"`                                         // default two for each core
	MaxStreams  int              `env:"NETSIM_MAX_STREAMS" envDefault:"1000" min:"1"`             // clients that follow simulations
	MaxUploads  int              `env:"NETSIM_MAX_UPLOADS" envDefault:"64" min:"1"`               // requests that move or read files
	BodyTimeout time.Duration    `env:"NETSIM_BODY_TIMEOUT" envDefault:"30s" min:"100ms"`         // for a request's body to arrive
	BodyMemory  int64            `env:"NETSIM_BODY_MEMORY" envDefault:"268435456" min:"67108864"` // bytes of all requests' bodies; one account has a quarter
	Quotas      map[string]int64 `env:"NETSIM_QUOTAS" envKeyValSeparator:"="`                     // of each account, such as streams.open=100,uploads.day=50

	Tracing

	LogFormat string     `env:"NETSIM_LOG_FORMAT" envDefault:"json" form:"logFormat"`
	LogLevel  slog.Level `env:"NETSIM_LOG_LEVEL" envDefault:"INFO" form:"logLevel"`
}

// The roles that a process can have.
const (
	RoleAPI       = "api"
	RoleProjector = "projector"
	RoleReactor   = "reactor"
	RoleWorker    = "worker"
)

// FromEnvironment reads the settings.
func FromEnvironment() (Config, error) { return FromSettings(surroundings()) }

// FromSettings reads the settings from variables, as those of an environment.
func FromSettings(environment map[string]string) (Config, error) {
	c, err := settings[Config](environment)
	if err == nil {
		err = errors.Join(c.check(), checkTracing(environment))
	}
	return c, err
}

// check refuses settings that do not go together.
func (c *Config) check() error {
	switch {
	case len(c.Roles) == 0:
		return errors.New("NETSIM_ROLES names no role: it must name at least one of api, projector, reactor, worker")
	case c.has(RoleAPI) && c.HTTP == c.Ops && !strings.HasSuffix(c.HTTP, ":0"):
		return fmt.Errorf("NETSIM_HTTP and NETSIM_OPS are both %q: each must be an address of its own", c.HTTP)
	case !c.Development && c.WriterKeys == "":
		return errNoWriterKeys
	case !c.Development && c.replication() < 3:
		return fmt.Errorf("NETSIM_REPLICATION is %q: it must be at least 3, so that no broker's death loses an event, unless NETSIM_DATA_DEV is true", fmt.Sprint(c.Replication))
	case 0 < c.EnginePatience && c.EnginePatience < c.EnginePoll:
		return fmt.Errorf("NETSIM_ENGINE_PATIENCE is %q: it must be at least NETSIM_ENGINE_POLL, which is %q", c.EnginePatience, c.EnginePoll)
	}
	_, err := c.quotas()
	return err
}

// replication is how many brokers keep a topic that is made, -1 for their own
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
