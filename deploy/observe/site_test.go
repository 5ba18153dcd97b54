//go:build tools

package observe_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/infra/devissuer"
	"netsim/internal/scripted"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// site is a deployment with a process for each role, and Prometheus that watches it. The
// test can break each part.
type site struct {
	t       *testing.T
	binary  string
	program *servicetest.Program // with the settings of the processes
	env     []string             // of every process
	roles   []string
	process map[string]*process

	prometheus *prometheus
	postgres   *delay              // between the api process and PostgreSQL
	stores     map[string]*gateway // between a process and the object store, by role
	issuer     *secureIssuer
	registry   *registry
	engine     *scripted.Engine
	account    string
	unexpected func(format string, args ...any) // reports an alert that is not expected
}

// process is a running process of the service.
type process struct {
	ops   string
	env   []string
	child *exec.Cmd // nil while it is down
	ended chan struct{}
}

func newSite(t *testing.T) *site {
	t.Helper()
	c := servicetest.Config(t)
	s := &site{
		t: t, binary: teststack.Netsim(t), program: &servicetest.Program{Config: c},
		roles:   []string{"projector", "api", "reactor", "worker", "publisher", "lake", "archiver"},
		process: map[string]*process{}, stores: map[string]*gateway{}, account: servicetest.NewAccount(),
	}
	s.issuer = startIssuer(t, c.JWKS)
	s.registry = startRegistry(t)
	s.engine = scripted.Start(t, scripted.Script{Run: scripted.Run{State: "running"}})
	s.postgres = startDelay(t, c.Postgres)
	http := teststack.FreeAddress(t)
	s.program.URL = "http://" + http
	s.env = append(os.Environ(),
		"NETSIM_HTTP="+http, "NETSIM_DATA_DEV=true", "NETSIM_PARTITIONS=2", "NETSIM_KAFKA="+strings.Join(c.Kafka, ","), "NETSIM_TOPIC_PREFIX="+c.TopicPrefix,
		"NETSIM_POSTGRES="+c.Postgres, "NETSIM_POSTGRES_POOL=8", "NETSIM_WRITER_KEYS="+c.WriterKeys, "NETSIM_AUDIT_KEY="+c.AuditKey,
		"NETSIM_S3_ENDPOINT="+c.S3Endpoint, "NETSIM_S3_REGION="+c.S3Region, "NETSIM_S3_BUCKET="+c.S3Bucket,
		"NETSIM_S3_ACCESS_KEY="+c.S3AccessKey, "NETSIM_S3_SECRET_KEY="+c.S3SecretKey,
		"NETSIM_OIDC_ISSUER="+c.Issuer, "NETSIM_OIDC_JWKS_URL="+s.issuer.URL, "NETSIM_OIDC_AUDIENCE="+c.Audience, "NETSIM_OIDC_KEYS_MAX_AGE=1m",
		"SSL_CERT_FILE="+s.issuer.roots, "NETSIM_SCHEMA_REGISTRY="+s.registry.URL,
		"NETSIM_ENGINE_URLS="+s.engine.URL, "NETSIM_ENGINE_TOKEN=shared", "NETSIM_ENGINE_POLL=100ms", "NETSIM_ENGINE_RUNS=1", "NETSIM_RUN_STALL=2m",
		"NETSIM_WORKERS=1", "NETSIM_STORE_PATIENCE=1s", "NETSIM_JOB_RECONCILE=1s", "NETSIM_LAKE_EVERY=500ms", "NETSIM_ARCHIVE=s3://"+c.S3Bucket+"/archive", "NETSIM_ARCHIVE_EVERY=500ms", "NETSIM_DRAIN=0s",
		"NETSIM_VERDICT_TIMEOUT=5s", "NETSIM_READ_TIMEOUT=5s", "NETSIM_REACTION_RETRIES=1", "NETSIM_QUOTAS=requests.heavy=1", "NETSIM_LOG_LEVEL=WARN",
		"NETSIM_WEBHOOK_KEYS="+c.WebhookKeys, "NETSIM_WEBHOOK_NETWORKS="+strings.Join(c.WebhookNetworks, ","),
	)
	var targets []string
	for _, role := range s.roles {
		ops := teststack.FreeAddress(t)
		p := &process{ops: "http://" + ops, env: []string{"NETSIM_ROLES=" + role, "NETSIM_OPS=" + ops}}
		if role == "api" {
			p.env = append(p.env, "NETSIM_POSTGRES="+s.postgres.URL)
		}
		s.stores[role] = startGateway(t, c.S3Endpoint)
		p.env = append(p.env, "NETSIM_S3_ENDPOINT="+s.stores[role].URL)
		s.process[role] = p
		targets = append(targets, ops)
	}
	for _, role := range s.roles {
		s.start(role)
	}
	for _, role := range s.roles {
		s.awaitReady(role)
	}
	s.program.Grant(t, s.account, "1000000")
	s.prometheus = startPrometheus(t, targets)
	s.load()
	return s
}

// start starts the process of a role, with more variables of its environment.
func (s *site) start(role string, env ...string) {
	s.t.Helper()
	p := s.process[role]
	log, err := os.Create(filepath.Join(s.t.TempDir(), "log"))
	if err != nil {
		s.t.Fatal(err)
	}
	p.child = exec.Command(s.binary, "serve")
	p.child.Env = slices.Concat(s.env, p.env, env)
	p.child.Stdout, p.child.Stderr = log, log
	p.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.child.Start(); err != nil {
		s.t.Fatal(err)
	}
	child, ended := p.child, make(chan struct{})
	p.ended = ended
	go func() {
		defer close(ended)
		child.Wait() //nolint:errcheck // the log has the reason
	}()
	s.t.Cleanup(func() {
		child.Process.Kill() //nolint:errcheck // it may have ended
		testwait.Receive(s.t, ended, role+" to end")
		if text, _ := os.ReadFile(log.Name()); s.t.Failed() && len(text) > 0 { //nolint:errcheck // it is only shown
			s.t.Logf("the log of %s ends with:\n%s", role, text[max(0, len(text)-3000):])
		}
	})
}

func (s *site) awaitReady(role string) {
	s.t.Helper()
	testworld.Await(s.t, func() bool { return s.ready(role) })
}

func (s *site) ready(role string) bool {
	reply, err := http.Get(s.process[role].ops + "/readyz")
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return err == nil && reply.StatusCode == http.StatusOK && !strings.Contains(string(text), "starting")
}

// kill ends the process of a role with SIGKILL.
func (s *site) kill(role string) {
	s.t.Helper()
	p := s.process[role]
	p.child.Process.Kill() //nolint:errcheck // it may have ended
	testwait.Receive(s.t, p.ended, role+" to end")
}

// restart ends the process of a role and starts it again.
func (s *site) restart(role string, env ...string) {
	s.t.Helper()
	s.kill(role)
	s.start(role, env...)
	s.awaitReady(role)
}

func (s *site) signal(role string, number syscall.Signal) {
	s.t.Helper()
	if err := s.process[role].child.Process.Signal(number); err != nil {
		s.t.Fatal(err)
	}
}

// tool runs a command of the operator, which must succeed.
func (s *site) tool(args ...string) {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), s.binary, args...)
	command.Env = s.env
	if out, err := command.CombinedOutput(); err != nil {
		s.t.Fatalf("netsim %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// sql executes statements.
func (s *site) sql(statements string) {
	s.t.Helper()
	connection := s.connect()
	defer connection.Close(context.WithoutCancel(s.t.Context())) //nolint:errcheck // the statements have ended
	if _, err := connection.Exec(s.t.Context(), statements); err != nil {
		s.t.Fatalf("%s: %v", statements, err)
	}
}

func (s *site) connect() *pgx.Conn {
	s.t.Helper()
	connection, err := pgx.Connect(s.t.Context(), s.program.Config.Postgres)
	if err != nil {
		s.t.Fatal(err)
	}
	return connection
}

// lock takes a lock on a table and returns the function that releases it.
func (s *site) lock(table, mode string) (release func()) {
	s.t.Helper()
	holder := s.connect()
	if _, err := holder.Exec(s.t.Context(), "BEGIN; LOCK TABLE "+table+" IN "+mode+" MODE"); err != nil {
		s.t.Fatal(err)
	}
	return func() { holder.Close(context.WithoutCancel(s.t.Context())) } //nolint:errcheck // the session ends in any case
}

// user is a client of the site's account.
func (s *site) user() *servicetest.Client { return s.program.Service(s.t, s.account) }

// send sends a request of an account, and returns the status, 0 without an answer.
func (s *site) send(ctx context.Context, token, method, path, body string) int {
	r, err := http.NewRequestWithContext(ctx, method, s.program.URL+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer reply.Body.Close()
	io.Copy(io.Discard, reply.Body) //nolint:errcheck // only the status matters
	return reply.StatusCode
}

// repeat sends requests of a new account in some goroutines, each one about 10 a second,
// until the returned function is called.
func (s *site) repeat(goroutines int, method, path, body string) (stop func()) {
	s.t.Helper()
	token := teststack.Issuer(s.t).Token(devissuer.Options{Service: true, User: "load", Account: servicetest.NewAccount()})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{}, goroutines)
	for range goroutines {
		go func() {
			pace := newPace()
			defer pace.Stop()
			for ctx.Err() == nil {
				s.send(ctx, token, method, path, body)
				select {
				case <-pace.C:
				case <-ctx.Done():
				}
			}
			ended <- struct{}{}
		}()
	}
	return func() {
		cancel()
		for range goroutines {
			testwait.Receive(s.t, ended, "the requests to end")
		}
	}
}

// load writes and reads until the test ends.
func (s *site) load() {
	s.t.Helper()
	s.t.Cleanup(s.repeat(1, "POST", "/workspaces", `{"name":"load"}`))
	s.t.Cleanup(s.repeat(1, "GET", "/workspaces", ""))
}

// workspace creates a workspace and returns its id.
func (s *site) workspace(name string) string {
	s.t.Helper()
	return fmt.Sprint(s.user().Post("/api/v1/workspaces", map[string]any{"name": name}).Want(201).Object()["id"])
}

// hostOf returns the host:port of a URL, and the URL with another one.
func hostOf(t *testing.T, base, other string) (host, changed string) {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	host, u.Host = u.Host, other
	return host, u.String()
}
