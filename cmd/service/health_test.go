package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// proxied runs a process for each role, and one with all roles, on their own servers,
// which can be made to fail.
type proxied struct {
	t        *testing.T
	config   settings.Config
	database string // URL of the database without the proxy
	servers  map[string]*teststack.Proxy
	ops      map[string]string // base URL of the operations listener, by process
	apis     map[string]string // base URL of the API, by process that has it
	ended    map[string]chan error
}

var processes = map[string][]string{
	"api": {settings.RoleAPI}, "projector": {settings.RoleProjector},
	"reactor": {settings.RoleReactor}, "worker": {settings.RoleWorker}, "lake": {settings.RoleLake},
	"all": {settings.RoleAPI, settings.RoleProjector, settings.RoleReactor, settings.RoleWorker, settings.RoleLake},
}

// newProxied starts the servers behind proxies.
func newProxied(t *testing.T) *proxied {
	t.Helper()
	c := servicetest.Config(t)
	postgres := teststack.Start(t, "postgres", t.TempDir())
	d := &proxied{
		t: t, database: postgres.URL, servers: map[string]*teststack.Proxy{},
		ops: map[string]string{}, apis: map[string]string{}, ended: map[string]chan error{},
	}
	through := func(name, base string) string {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		d.servers[name] = teststack.NewProxy(t, u.Host)
		u.Host = d.servers[name].Addr
		return u.String()
	}
	c.Postgres, c.S3Endpoint, c.JWKS = through("postgres", postgres.URL), through("objects", c.S3Endpoint), through("issuer", c.JWKS)
	d.servers["broker"] = teststack.NewProxy(t, c.Kafka[0])
	c.Kafka = []string{d.servers["broker"].Addr}
	c.VerdictTimeout = 5 * time.Second
	d.config = c
	return d
}

// start runs a process until the test ends. It ignores the result, because the servers
// may be gone by then.
func (d *proxied) start(name string) {
	d.t.Helper()
	c := d.config
	c.Roles, c.Ops = processes[name], teststack.FreeAddress(d.t)
	started, ended := make(chan service.Started, 1), make(chan error, 1)
	ctx, end := context.WithCancel(context.WithoutCancel(d.t.Context()))
	log := slog.New(slog.DiscardHandler)
	go func() {
		ended <- service.Run(ctx, c, log, func(at service.Started) { started <- at })
		close(ended)
	}()
	d.t.Cleanup(func() {
		end()
		for range ended { //nolint:revive // waits until the process has ended
		}
	})
	d.ended[name] = ended
	select {
	case at := <-started:
		d.ops[name], d.apis[name] = "http://"+at.Ops, "http://"+at.HTTP
	case err := <-ended:
		d.t.Fatalf("%s ended: %v", name, err)
	case <-time.After(testwait.Limit(d.t)):
		d.t.Fatalf("%s does not start", name)
	}
}

// readiness returns the status, the failing checks and the body of /readyz.
func (d *proxied) readiness(name string) (status string, failing []string, body string) {
	d.t.Helper()
	client := http.Client{Timeout: 10 * time.Second} // /readyz promises 2 s, but the machine may be busy
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.ops[name]+"/readyz", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	reply, err := client.Do(r)
	if err != nil {
		return err.Error(), nil, ""
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	var said struct {
		Status string
		Checks []struct{ Name, Status string }
	}
	if err := json.Unmarshal(text, &said); err != nil {
		d.t.Fatalf("%v: %s", err, text)
	}
	if (reply.StatusCode == http.StatusServiceUnavailable) != (said.Status == "unavailable") {
		d.t.Errorf("%s: HTTP status %d does not match the status %s", name, reply.StatusCode, said.Status)
	}
	for _, check := range said.Checks {
		if check.Status == "fail" {
			failing = append(failing, check.Name)
		}
	}
	return said.Status, failing, string(text)
}

// await waits until the process has the status and the check fails. With an empty check
// no check may fail.
func (d *proxied) await(fault, name, want, check string) {
	d.t.Helper()
	d.until(name, fmt.Sprintf("%s: %s because of %q", fault, want, check), func(status string, failing []string, _ string) bool {
		return status == want && (check == "" && len(failing) == 0 || slices.Contains(failing, check))
	})
}

// until waits until the readiness of a process is as it should be.
func (d *proxied) until(name, want string, is func(status string, failing []string, body string) bool) {
	d.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(testwait.Limit(d.t)); ; <-tick.C {
		status, failing, body := d.readiness(name)
		if is(status, failing, body) {
			return
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("%s: got %s, want %s", name, body, want)
		}
	}
}

func (d *proxied) sql(statement string) {
	d.t.Helper()
	conn, err := pgx.Connect(d.t.Context(), d.database)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(d.t.Context())) //nolint:errcheck // the statements have ended
	if _, err := conn.Exec(d.t.Context(), statement); err != nil {
		d.t.Fatal(err)
	}
}

const isUnavailable, isDegraded, isReady = "unavailable", "degraded", "ready"

// unavailableEverywhere returns the statuses for a fault that stops every role.
func unavailableEverywhere() map[string]string {
	return map[string]string{"api": isUnavailable, "projector": isUnavailable, "reactor": isUnavailable, "worker": isUnavailable, "lake": isUnavailable, "all": isUnavailable}
}

// TestReadinessTellsTheTruth goes through the faults of docs/operating.md. During each
// fault, every process reports whether it can work and which check fails. After the
// fault it is ready.
func TestReadinessTellsTheTruth(t *testing.T) {
	t.Parallel()
	names := []string{"all", "api", "projector", "reactor", "worker", "lake"}
	d := newProxied(t)
	d.servers["issuer"].Refuse()
	for _, name := range names {
		d.start(name)
	}
	objects := map[string]string{"api": isDegraded, "projector": isReady, "reactor": isDegraded, "worker": isUnavailable, "lake": isUnavailable, "all": isDegraded}
	readOnly := func(on string) {
		d.sql("ALTER SYSTEM SET default_transaction_read_only = " + on)
		d.sql("SELECT pg_reload_conf()")
	}
	for _, fault := range []struct {
		name  string
		begin func()
		end   func()
		check string
		want  map[string]string
	}{
		{
			"issuer down at the start", func() {}, d.servers["issuer"].Heal, "issuerKeys",
			map[string]string{"api": isUnavailable, "projector": isReady, "reactor": isReady, "worker": isReady, "lake": isReady, "all": isUnavailable},
		},
		{"object store hangs", d.servers["objects"].Hang, d.servers["objects"].Heal, "objectStore", objects},
		{"object store down", d.servers["objects"].Refuse, d.servers["objects"].Heal, "objectStore", objects},
		{"broker hangs", d.servers["broker"].Hang, d.servers["broker"].Heal, "eventLog", unavailableEverywhere()},
		{"broker down", d.servers["broker"].Refuse, d.servers["broker"].Heal, "eventLog", unavailableEverywhere()},
		{"PostgreSQL hangs", d.servers["postgres"].Hang, d.servers["postgres"].Heal, "readStore", unavailableEverywhere()},
		{"PostgreSQL down", d.servers["postgres"].Refuse, d.servers["postgres"].Heal, "readStore", unavailableEverywhere()},
		{"PostgreSQL read-only", func() { readOnly("on") }, func() { readOnly("off") }, "readStore", unavailableEverywhere()},
	} {
		fault.begin()
		for _, name := range names {
			check := fault.check
			if fault.want[name] == isReady {
				check = ""
			}
			d.await(fault.name, name, fault.want[name], check)
		}
		fault.end()
		for _, name := range names {
			d.await(fault.name+", over", name, isReady, "")
		}
	}

	// The projector cannot write, as on a full disk.
	lock, err := pgx.Connect(t.Context(), d.database)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // the statements have ended
	if _, err := lock.Exec(t.Context(), "BEGIN; LOCK TABLE readmodel.offsets IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	testworld.Await(t, func() bool { // a busy broker may not take the first record in time
		d.client("api").Post("/api/v1/workspaces", map[string]any{"name": "w"}).Refused(503, "SERVICE_UNAVAILABLE")
		_, failing, _ := d.readiness("api")
		return slices.Contains(failing, "projections")
	})
	for _, name := range names {
		d.await("nothing is projected", name, isUnavailable, "projections")
	}
	if _, err := lock.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		d.await("nothing is projected, over", name, isReady, "")
	}

	d.sql("UPDATE readmodel.log SET cluster_id = 'another'")
	for _, name := range []string{"api", "reactor", "worker"} {
		d.await("log refused", name, isUnavailable, "eventLog")
	}
	for _, name := range []string{"all", "projector"} {
		select {
		case err := <-d.ended[name]:
			if err == nil || !strings.Contains(err.Error(), "cluster another") {
				t.Errorf("log refused: %s ended with %v", name, err)
			}
		case <-time.After(testwait.Limit(t)):
			t.Errorf("log refused: %s still runs", name)
		}
	}
}

// client returns a client of a process's API.
func (d *proxied) client(name string) *servicetest.Client {
	d.t.Helper()
	p := servicetest.Program{URL: d.apis[name], Config: d.config}
	return p.Service(d.t, devissuer.DefaultAccount)
}

// TestWipedReadModel: a read model that is dropped while the service runs is rebuilt from
// the log. Until it is complete, every read gets the same answer as before or 503, never
// 404 or 500.
func TestWipedReadModel(t *testing.T) {
	t.Parallel()
	d := newProxied(t)
	d.start("projector")
	d.start("api")
	client := d.client("api")
	var made struct{ ID string }
	client.PostOnce("/api/v1/workspaces", map[string]any{"name": "kept"}, "kept").Want(201).Into(&made)
	before := client.Get("/api/v1/workspaces/" + made.ID).Want(200).Object()

	// Another session holds the lock that creates the read model, so the read model stays
	// missing.
	hold, err := pgx.Connect(t.Context(), d.database)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // the statements have ended
	if _, err := hold.Exec(t.Context(), "SELECT pg_advisory_lock(hashtext('create readmodel'))"); err != nil {
		t.Fatal(err)
	}
	d.sql("DROP SCHEMA readmodel CASCADE")
	for _, name := range []string{"api", "projector"} {
		d.await("wiped", name, isUnavailable, "readStore")
	}
	for _, path := range []string{"/api/v1/workspaces/" + made.ID, "/api/v1/workspaces", "/api/v1/templates"} {
		if message := client.Get(path).Refused(503, "SERVICE_UNAVAILABLE"); !strings.Contains(message, "lost its tables") {
			t.Errorf("%s is refused with %q, want that the read model lost its tables", path, message)
		}
	}
	client.Post("/api/v1/workspaces", map[string]any{"name": "new"}).Refused(503, "SERVICE_UNAVAILABLE")

	if _, err := hold.Exec(t.Context(), "SELECT pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	after := client.Eventually("/api/v1/workspaces/"+made.ID, func(r servicetest.Reply) bool {
		if r.Status != 200 && r.Status != 503 {
			t.Fatalf("while it is rebuilt: %d %s", r.Status, r.Body)
		}
		return r.Status == 200
	}).Object()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the workspace (-before +after):\n%s", diff)
	}
	client.PostOnce("/api/v1/workspaces", map[string]any{"name": "new"}, "new").Want(201)
}

// TestWipedDatabase: when a whole database is dropped and created again, the running
// service rebuilds the read model. Only a restart creates the service's own tables
// again, and readiness reports this.
func TestWipedDatabase(t *testing.T) {
	t.Parallel()
	d := newProxied(t)
	d.start("all")
	client := d.client("all")
	var made struct{ ID string }
	client.PostOnce("/api/v1/workspaces", map[string]any{"name": "kept"}, "kept").Want(201).Into(&made)

	whole := d.database
	u, err := url.Parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path = "/template1"
	d.database = u.String()
	d.sql("DROP DATABASE " + pgx.Identifier{name}.Sanitize() + " WITH (FORCE)")
	d.sql("CREATE DATABASE " + pgx.Identifier{name}.Sanitize())
	d.database = whole

	d.await("wiped", "all", isUnavailable, "readStore")
	client.Eventually("/api/v1/workspaces/"+made.ID, func(r servicetest.Reply) bool {
		if r.Status != 200 && r.Status != 503 {
			t.Fatalf("while it is rebuilt: %d %s", r.Status, r.Body)
		}
		return r.Status == 200
	})
	d.until("all", "a request to restart the service", func(_ string, _ []string, body string) bool {
		return strings.Contains(body, "restart the service")
	})
	d.start("all")
	d.await("restarted", "all", isReady, "")
	d.client("all").Get("/api/v1/workspaces/" + made.ID).Want(200)
}
