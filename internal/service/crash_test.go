package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/infra/devissuer"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestKills kills the service, the broker and PostgreSQL at random points under load.
// Afterwards the read model has every acknowledged write exactly once and every
// unacknowledged write at most once, and it equals a replay from zero.
//
// NETSIM_TEST_KILLS sets the number of kills, and NETSIM_TEST_SEED the random seed.
func TestKills(t *testing.T) {
	kills, seed := number(t, "NETSIM_TEST_KILLS", 50), number(t, "NETSIM_TEST_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	d := newDeployment(t)
	d.start()

	writers := startWriters(t, d.url, 16)
	victims := []struct {
		name string
		hit  func()
	}{
		{"service", func() { d.kill(); d.start() }},
		{"broker", func() { d.broker.Kill(); d.broker.Restart() }},
		{"postgres", func() { d.postgres.Kill(); d.postgres.Restart() }},
	}
	hits := map[string]int{}
	for range kills {
		writers.progress(1 + random.IntN(40))
		victim := victims[random.IntN(len(victims))]
		victim.hit()
		hits[victim.name]++
	}
	writers.progress(50)
	acknowledged, abandoned := writers.stop()
	t.Logf("kills: %v; acknowledged: %d; abandoned without an answer: %d", hits, len(acknowledged), len(abandoned))

	waitUntilQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)
	found := d.workspaces()
	for name, id := range acknowledged {
		if ids := found[name]; len(ids) != 1 || ids[0] != id {
			t.Errorf("%s was acknowledged with the id %s, but the read model has %v", name, id, ids)
		}
	}
	for _, name := range abandoned {
		if len(found[name]) > 1 {
			t.Errorf("the read model has the unacknowledged %s %d times, want at most once", name, len(found[name]))
		}
	}
	d.billed()
	d.kill() // nothing may change while the replay is compared
	d.tool("readmodel", "rebuild", "--once", "replayed")
	d.tool("readmodel", "diff", "replayed")
}

// billed waits until every workspace of an account has a billing item, and fails the
// test when a resource has two.
func (d *deployment) billed() {
	d.t.Helper()
	testworld.Await(d.t, func() (all bool) {
		d.query(`SELECT NOT EXISTS (SELECT FROM readmodel.workspaces w WHERE account_id <> '' AND NOT EXISTS
			(SELECT FROM readmodel.billing_items i WHERE i.resource_id = w.id))`, &all)
		return all
	})
	var twice int
	d.query(`SELECT count(*) FROM (SELECT FROM readmodel.billing_items GROUP BY resource_type, resource_id HAVING count(*) > 1) i`, &twice)
	if twice > 0 {
		d.t.Errorf("%d workspaces are billed twice", twice)
	}
}

func number(t *testing.T, name string, standard int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// deployment is the service in its own process, on servers that can be killed.
type deployment struct {
	t        *testing.T
	binary   string
	env      []string
	url, ops string
	log      *os.File

	broker, postgres *teststack.Process
	logDir, dataDir  string        // the data of the broker and of PostgreSQL
	child            *exec.Cmd     // nil while the service does not run
	ended            chan struct{} // closed when the child has ended
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{t: t, binary: filepath.Join(t.TempDir(), "netsim")}
	build := exec.Command("go", "build", "-o", d.binary, "netsim/cmd/netsim")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the service: %v\n%s", err, out)
	}
	broker := teststack.BrokerPart()
	d.logDir = t.TempDir()
	d.broker = teststack.Start(t, broker, d.logDir)
	d.dataDir = t.TempDir()
	d.postgres = teststack.Start(t, "postgres", d.dataDir)
	store, issuer := teststack.Objects(t), teststack.Issuer(t)
	http, ops := teststack.FreeAddress(t), teststack.FreeAddress(t)
	d.url, d.ops = "http://"+http, "http://"+ops
	d.env = append(os.Environ(),
		"NETSIM_HTTP="+http, "NETSIM_OPS="+ops, "NETSIM_DATA_DEV=true", "NETSIM_PARTITIONS=2",
		"NETSIM_KAFKA="+d.broker.Addr, "NETSIM_POSTGRES="+d.postgres.URL,
		"NETSIM_S3_ENDPOINT="+store.Endpoint, "NETSIM_S3_REGION="+store.Region, "NETSIM_S3_BUCKET="+store.Bucket,
		"NETSIM_S3_ACCESS_KEY="+store.AccessKey, "NETSIM_S3_SECRET_KEY="+store.SecretKey,
		"NETSIM_OIDC_ISSUER="+issuer.URL, "NETSIM_OIDC_JWKS_URL="+issuer.JWKSURL, "NETSIM_OIDC_AUDIENCE="+issuer.Audience,
		"NETSIM_LOG_LEVEL=ERROR",
	)
	var err error
	if d.log, err = os.Create(filepath.Join(t.TempDir(), "service.log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.kill()
		if t.Failed() {
			text, _ := os.ReadFile(d.log.Name())
			t.Logf("the log of the service ends with:\n%s", text[max(0, len(text)-8000):])
		}
	})
	return d
}

// start starts the service and returns when it is ready.
func (d *deployment) start() {
	d.t.Helper()
	d.launch()
	d.awaitReady()
}

// launch starts the service.
func (d *deployment) launch() {
	d.t.Helper()
	d.child = exec.Command(d.binary, "serve")
	d.child.Env = d.env
	d.child.Stdout, d.child.Stderr = d.log, d.log
	d.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := d.child.Start(); err != nil {
		d.t.Fatal(err)
	}
	child, ended := d.child, make(chan struct{})
	d.ended = ended
	go func() {
		defer close(ended)
		child.Wait() //nolint:errcheck // the service's log has the error
	}()
}

// awaitReady waits until the service that was launched is ready.
func (d *deployment) awaitReady() {
	d.t.Helper()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	var said []byte
	for {
		if resp, err := http.Get(d.ops + "/readyz"); err == nil {
			said, _ = io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-every.C:
		case <-d.ended:
			d.t.Fatal("the service ended while it started")
		case <-deadline.C:
			d.t.Fatalf("the service is not ready after a minute: %s", said)
		}
	}
}

// kill ends the service with SIGKILL and waits until it has ended.
func (d *deployment) kill() {
	if d.child != nil {
		d.child.Process.Kill() //nolint:errcheck // the process may have ended
		testwait.Receive(d.t, d.ended, "the killed service to be gone")
		d.child = nil
	}
}

func (d *deployment) query(sql string, into any) {
	d.t.Helper()
	conn, err := pgx.Connect(d.t.Context(), d.postgres.URL)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(d.t.Context(), sql).Scan(into); err != nil {
		d.t.Fatal(err)
	}
}

// workspaces returns the ids of all workspaces, by name.
func (d *deployment) workspaces() map[string][]string {
	d.t.Helper()
	var text string
	d.query(`SELECT json_object_agg(name, ids) FROM (SELECT name, json_agg(id) AS ids FROM readmodel.workspaces GROUP BY name) w`, &text)
	found := map[string][]string{}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		d.t.Fatal(err)
	}
	return found
}

// tool runs a netsim command that must succeed.
func (d *deployment) tool(args ...string) {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), d.binary, args...)
	cmd.Env = d.env
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Errorf("netsim %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// writers create workspaces, each with an idempotency key. They repeat a request until
// it succeeds, and abandon some of the requests that do not.
type writers struct {
	t     *testing.T
	url   string
	token string
	done  chan struct{}
	all   sync.WaitGroup
	acks  atomic.Int64

	mu           sync.Mutex
	acknowledged map[string]string // id, by name
	abandoned    []string
}

func startWriters(t *testing.T, url string, count int) *writers {
	return startNamedWriters(t, url, count, "workspace")
}

// startNamedWriters starts writers of workspaces whose names begin with a prefix.
func startNamedWriters(t *testing.T, url string, count int, prefix string) *writers {
	w := &writers{t: t, url: url, done: make(chan struct{}), acknowledged: map[string]string{}}
	w.token = teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})
	for n := range count {
		w.all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-w.done:
					return
				default:
					// Every fifth create is abandoned if its first request does not succeed.
					w.create(fmt.Sprintf("%s %d of %d", prefix, i, n), i%5 == 0)
				}
			}
		})
	}
	return w
}

func (w *writers) create(name string, abandon bool) {
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for {
		id, status := w.send(name)
		if status == http.StatusCreated {
			w.acks.Add(1)
			w.mu.Lock()
			w.acknowledged[name] = id
			w.mu.Unlock()
			return
		}
		if status != 0 && status < 500 {
			w.t.Errorf("%s: status %d, want 201, 5xx or no answer", name, status)
			return
		}
		select {
		case <-w.done:
			abandon = true
		case <-pause.C:
		}
		if abandon {
			w.mu.Lock()
			w.abandoned = append(w.abandoned, name)
			w.mu.Unlock()
			return
		}
	}
}

// send creates a workspace and returns its id. Without an answer the status is 0.
func (w *writers) send(name string) (id string, status int) {
	body, _ := json.Marshal(map[string]string{"name": name})
	req, err := http.NewRequest("POST", w.url+"/api/v1/workspaces", bytes.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return "", http.StatusTeapot
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", strings.ReplaceAll(name, " ", "-"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", 0
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	var made struct{ ID string }
	if err != nil || resp.StatusCode == http.StatusCreated && json.Unmarshal(answer, &made) != nil {
		return "", 0
	}
	return made.ID, resp.StatusCode
}

// progress waits until n more writes are acknowledged.
func (w *writers) progress(n int) {
	w.t.Helper()
	want := w.acks.Load() + int64(n)
	every := time.NewTicker(time.Millisecond)
	defer every.Stop()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	for w.acks.Load() < want {
		select {
		case <-every.C:
		case <-deadline.C:
			w.t.Fatalf("fewer than %d writes were acknowledged within a minute", n)
		}
	}
}

func (w *writers) stop() (acknowledged map[string]string, abandoned []string) {
	close(w.done)
	testwait.Group(w.t, &w.all, "the writers")
	return w.acknowledged, w.abandoned
}
