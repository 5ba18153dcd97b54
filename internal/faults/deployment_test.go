package faults_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

type object = map[string]any

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
	d := &deployment{t: t, binary: teststack.Netsim(t)}
	broker := teststack.BrokerPart()
	d.logDir = t.TempDir()
	d.broker = teststack.Start(t, broker, d.logDir)
	d.dataDir = t.TempDir()
	d.postgres = teststack.Start(t, "postgres", d.dataDir)
	store, issuer := teststack.Objects(t), teststack.Issuer(t)
	http, ops := teststack.FreeAddress(t), teststack.FreeAddress(t)
	d.url, d.ops = "http://"+http, "http://"+ops
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NETSIM_BIN=") }) // the previous release does not know it
	d.env = append(own,
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
	deadline := time.NewTimer(testwait.Limit(d.t))
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
			d.t.Fatalf("the service did not become ready: %s", said)
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

// another starts one more process of the service with the roles. It returns the URL when
// the process is ready.
func (d *deployment) another(roles string) string { return d.beside(roles).url }

// beside starts one more process of the service with the roles, and returns it when it
// is ready.
func (d *deployment) beside(roles string) *deployment {
	d.t.Helper()
	other := d.launched(roles)
	other.awaitReady()
	return other
}

// launched starts one more process of the service with the roles.
func (d *deployment) launched(roles string) *deployment {
	d.t.Helper()
	http, ops := teststack.FreeAddress(d.t), teststack.FreeAddress(d.t)
	other := &deployment{
		t: d.t, binary: d.binary, log: d.log, url: "http://" + http, ops: "http://" + ops, broker: d.broker, postgres: d.postgres,
	}
	other.env = append(d.env[:len(d.env):len(d.env)], "NETSIM_HTTP="+http, "NETSIM_OPS="+ops, "NETSIM_ROLES="+roles)
	other.launch()
	d.t.Cleanup(other.kill)
	return other
}

// execute runs statements on the database.
func (d *deployment) execute(sql string) {
	d.t.Helper()
	conn, err := pgx.Connect(d.t.Context(), d.postgres.URL)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(d.t.Context())) //nolint:errcheck // the statement has ended
	if _, err := conn.Exec(d.t.Context(), sql); err != nil {
		d.t.Fatal(err)
	}
}

// signal sends a signal to the service.
func (d *deployment) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.child.Process.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// settings returns the settings of the deployment.
func (d *deployment) settings() settings.Config {
	d.t.Helper()
	variables := map[string]string{}
	for _, line := range d.env {
		if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, "NETSIM_") && !strings.HasPrefix(name, "NETSIM_DEV_") && !strings.HasPrefix(name, "NETSIM_TEST_") {
			variables[name] = value
		}
	}
	c, err := settings.FromVariables(variables)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// append appends a fact of a workspace to the log, without the service.
func (d *deployment) append(stream, eventType, data string) {
	d.t.Helper()
	j, err := eventlog.Open(d.t.Context(), eventlog.Config{Brokers: []string{d.broker.Addr}, Prefix: "netsim.", Relaxed: true})
	if err != nil {
		d.t.Fatal(err)
	}
	defer j.Close()
	var head struct {
		Sequence int64
		Hash     string
	}
	var text string
	d.query(`SELECT json_build_object('sequence', sequence, 'hash', encode(hash, 'hex')) FROM readmodel.streams WHERE stream = '`+stream+`'`, &text)
	if err := json.Unmarshal([]byte(text), &head); err != nil {
		d.t.Fatal(err)
	}
	f := events.Frame{
		ID: events.DerivedUUID(stream, head.Hash).String(), Type: eventType, Stream: stream, PartitionKey: stream, Sequence: head.Sequence + 1,
		Time: time.Now(), DataVersion: 1, Actor: "tester",
	}
	hash, err := hex.DecodeString(head.Hash)
	if err != nil {
		d.t.Fatal(err)
	}
	f.PreviousHash = events.Hash(hash)
	m, _ := f.Message([]byte(data))
	if _, err := j.Append(j.Topic(events.Workspaces), events.PartitionOf(stream, 2), m).Wait(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// get returns the body of the response from a URL.
func (d *deployment) get(url string) string {
	d.t.Helper()
	_, body := send(d.t, http.MethodGet, url, "")
	return body
}

// submit submits a simulation for the account of the deployment.
func (d *deployment) submit() (id string) {
	d.t.Helper()
	body, err := json.Marshal(servicetest.SimpleSubmission(8))
	if err != nil {
		d.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url+"/api/v1/simple/simulations", strings.NewReader(string(body)))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+teststack.Issuer(d.t).Token(devissuer.Options{User: "ada", Account: "acct_0000000000e008000000000001"}))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ SimulationID string }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.SimulationID == "" {
		d.t.Fatalf("the submission is answered with %d (%v), want 202", resp.StatusCode, err)
	}
	return answer.SimulationID
}

// as sends a request of the service of an account, and returns the object in the response.
func (d *deployment) as(method, path string, body object) (got object) {
	d.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(string(text)))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+teststack.Issuer(d.t).Token(devissuer.Options{Service: true, Account: "acct_0000000000e008000000000001"}))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode > 299 {
		d.t.Fatalf("%s %s is answered with %d %v (%v)", method, path, resp.StatusCode, got, err)
	}
	return got
}
