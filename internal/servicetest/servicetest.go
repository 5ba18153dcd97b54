// Package servicetest runs the complete service for tests, on real servers: a Kafka
// broker, PostgreSQL, S3 and an OIDC issuer. Its clients check every response against
// the contract.
//
//	p := servicetest.Start(t)       // a service for this test only
//	p := servicetest.Shared(t)      // a service for the whole test process; use a new account
//	user := p.User(t, servicetest.NewAccount())
//	reply := user.Post("/api/v1/workspaces", map[string]any{"name": "w"})
package servicetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/api/contract/contracttest"
	"netsim/audit"
	"netsim/cmd/connections"
	"netsim/cmd/operate"
	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/infra/objects"
	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// Program is a running service.
type Program struct {
	URL    string // base URL of the API
	Ops    string // base URL of the operations listener
	Config settings.Config
}

// Start runs a service with its own log and database until the test ends. The options
// change its settings.
func Start(t testing.TB, options ...func(*settings.Config)) *Program {
	t.Helper()
	return StartLogged(t, failures(), options...)
}

// StartLogged is Start with a logger.
func StartLogged(t testing.TB, log *slog.Logger, options ...func(*settings.Config)) *Program {
	t.Helper()
	c := Config(t)
	for _, option := range options {
		option(&c)
	}
	p, stop := run(t, c, log)
	t.Cleanup(stop)
	return p
}

var shared struct {
	once    sync.Once
	program *Program
}

// Shared returns the service that all tests of this process share. It runs until the
// process ends.
func Shared(t testing.TB) *Program {
	t.Helper()
	shared.once.Do(func() {
		c := Config(keep{t})
		c.Workers = 8 // no account has all of them, and the tests' accounts wait for each other
		shared.program, _ = run(t, c, failures())
	})
	if shared.program == nil {
		t.Fatal("servicetest: the shared service did not start")
	}
	return shared.program
}

// keep is a testing.TB whose cleanups do not run, so everything that it creates lasts
// until the process ends.
type keep struct{ testing.TB }

func (keep) Cleanup(func()) {}

// Config returns settings with a new log and a new database.
func Config(t testing.TB) settings.Config {
	t.Helper()
	store := teststack.Objects(t)
	issuer := teststack.Issuer(t)
	c, err := settings.FromVariables(map[string]string{
		"NETSIM_HTTP": "127.0.0.1:0", "NETSIM_OPS": "127.0.0.1:0", "NETSIM_DATA_DEV": "true",
		"NETSIM_KAFKA": strings.Join(teststack.Broker(t), ","), "NETSIM_TOPIC_PREFIX": events.NewID("test") + ".", "NETSIM_PARTITIONS": "2",
		"NETSIM_POSTGRES": database(t), "NETSIM_POSTGRES_POOL": "16",
		"NETSIM_S3_ENDPOINT": store.Endpoint, "NETSIM_S3_REGION": store.Region, "NETSIM_S3_BUCKET": store.Bucket,
		"NETSIM_S3_ACCESS_KEY": store.AccessKey, "NETSIM_S3_SECRET_KEY": store.SecretKey,
		"NETSIM_OIDC_ISSUER": issuer.URL, "NETSIM_OIDC_JWKS_URL": issuer.JWKSURL, "NETSIM_OIDC_AUDIENCE": issuer.Audience,
		"NETSIM_AUDIT_KEY": auditKey(t), "NETSIM_WRITER_KEYS": strings.Repeat("a1", 32),
		"NETSIM_WEBHOOK_KEYS": "test:" + strings.Repeat("A", 43) + "=", "NETSIM_WEBHOOK_NETWORKS": "127.0.0.0/8",
		"NETSIM_WORKERS": "2", "NETSIM_MAX_STREAMS": "100", "NETSIM_DRAIN": "0s",
		// On a busy machine everything may take long, and no test is about these limits that
		// does not set them.
		"NETSIM_VERDICT_TIMEOUT": "2m", "NETSIM_READ_TIMEOUT": "2m", "NETSIM_TOKEN_TIMEOUT": "1m", "NETSIM_STREAM_LIFE": "1h",
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// database returns the URL of a new database as the first start of a service leaves it: with
// all tables, at the level of this release. It is a copy, so no test waits for migrations.
func database(t testing.TB) string {
	t.Helper()
	return teststack.PostgresLike(t, "service", func(url string) error {
		if err := testworld.CreateTables(t.Context(), url); err != nil {
			return err
		}
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return err
		}
		defer conn.Close(t.Context())
		return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if err := postgres.RaiseLevel(t.Context(), tx, events.Level); err != nil {
				return err
			}
			return connections.MarkReadModels(t.Context(), tx, events.Level)
		})
	})
}

// OnEmptyDatabase has a service create its tables by itself.
func OnEmptyDatabase(t testing.TB) func(*settings.Config) {
	return func(c *settings.Config) { c.Postgres = teststack.Postgres(t) }
}

// auditKey creates a key that signs log checkpoints. The key of the shared service is
// kept for other services that are started with its settings.
func auditKey(t testing.TB) string {
	t.Helper()
	text, err := audit.NewKey("test")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "netsim-audit-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) }) //nolint:errcheck // the folder is temporary
	path := filepath.Join(folder, "audit.key")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// failures returns a logger for errors only, or for everything with NETSIM_TEST_LOG.
func failures() *slog.Logger {
	level := slog.LevelError
	if os.Getenv("NETSIM_TEST_LOG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

// run starts the service and returns when it serves requests. The returned function ends
// the service.
func run(t testing.TB, c settings.Config, log *slog.Logger) (*Program, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	started, ended := make(chan service.Started, 1), make(chan error, 1)
	go func() { ended <- service.Run(ctx, c, log, func(s service.Started) { started <- s }) }()
	select {
	case at := <-started:
		return &Program{URL: "http://" + at.HTTP, Ops: "http://" + at.Ops, Config: c}, func() {
			cancel()
			if err := testwait.Receive(t, ended, "the service to end"); err != nil {
				t.Errorf("servicetest: the service ended with: %v", err)
			}
		}
	case err := <-ended:
		cancel()
		t.Fatalf("servicetest: the service did not start: %v", err)
		return nil, nil
	}
}

// Scrape reads the metrics of the operations listener with the base URL.
func Scrape(t testing.TB, ops string) string {
	t.Helper()
	reply, err := http.Get(ops + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("/metrics: %s %s %v", reply.Status, text, err)
	}
	return string(text)
}

// Beside connects another process to the program's servers, for commands that no
// operation of the API runs. The process has no projector and no reactor.
func (p *Program) Beside(t testing.TB) *testworld.World {
	t.Helper()
	c := &p.Config
	w := testworld.Servers{
		Log:      eventlog.Config{Brokers: c.Kafka, Prefix: c.TopicPrefix, Partitions: c.Partitions, Relaxed: true},
		Database: c.Postgres,
		Keys:     c.WriterKeys,
	}.Connect(t)
	w.Listen(t)
	w.Objects = objects.New(objects.Config{
		Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket, AccessKey: c.S3AccessKey, SecretKey: c.S3SecretKey,
	})
	return w
}

// NewAccount returns the id of a new account.
func NewAccount() string { return events.NewID(events.AccountPrefix) }

// Grant grants credit to an account, once for each amount.
func (p *Program) Grant(t testing.TB, account, amount string) {
	t.Helper()
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	_, err = tools.Grant(t.Context(), account, events.CreditGranted{Amount: amount, Currency: "CREDIT", Reference: "test-" + amount})
	if err != nil {
		t.Fatal(err)
	}
}

// Checkpoint publishes a checkpoint of the log as the operator's command does.
func (p *Program) Checkpoint(t testing.TB, name string) {
	t.Helper()
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	if _, err := tools.Checkpoint(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// SetQuotas sets quotas of an account as the operator's command does.
func (p *Program) SetQuotas(t testing.TB, account string, limits map[string]*int64) {
	t.Helper()
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	if err := tools.SetQuotas(t.Context(), account, limits); err != nil {
		t.Fatal(err)
	}
}

// SetQuota sets a quota of an account, and waits until the service applies it. To notice
// that, it changes the account's quota requests.read, too.
func (p *Program) SetQuota(t testing.TB, account, name string, limit int64) {
	t.Helper()
	sign := 1_000_000 + signs.Add(1)
	p.SetQuotas(t, account, map[string]*int64{name: &limit, "requests.read": &sign})
	p.User(t, account).Eventually("/api/v1/workspaces", func(r Reply) bool {
		return strings.Contains(r.Header.Get("RateLimit-Policy"), fmt.Sprintf("q=%d;", sign))
	})
}

var signs atomic.Int64

// User returns a client with a user token of the account, limited to the workspaces.
// Without workspaces the token is valid for all.
func (p *Program) User(t testing.TB, account string, workspaces ...string) *Client {
	t.Helper()
	return p.Client(t, devissuer.Options{User: "tester", Account: account, Workspaces: workspaces})
}

// Service returns a client with a service token of the account.
func (p *Program) Service(t testing.TB, account string) *Client {
	t.Helper()
	return p.Client(t, devissuer.Options{Service: true, User: "robot", Account: account})
}

// Person returns a client with a user token of the account, valid for all of its
// workspaces, that has the roles.
func (p *Program) Person(t testing.TB, account string, roles ...string) *Client {
	t.Helper()
	return p.Client(t, devissuer.Options{User: "tester", Account: account, Roles: roles})
}

// Client returns a client whose token has the options.
func (p *Program) Client(t testing.TB, o devissuer.Options) *Client {
	t.Helper()
	return p.Bearer(t, teststack.Issuer(t).Token(o))
}

// Bearer returns a client that sends the token, or no token for "".
func (p *Program) Bearer(t testing.TB, token string) *Client {
	t.Helper()
	return &Client{
		t: t, base: p.URL, token: token,
		http: &http.Client{Transport: contracttest.Transport(t, transport), CheckRedirect: noRedirect},
	}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// transport closes connections sooner than the service closes one on which no request has
// come: the transport may open one more than it needs, and does not repeat a request when a
// connection is cut at its first.
var transport = func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.IdleConnTimeout = 2 * time.Second
	return t
}()
