//go:build deploy

package deploy

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/audit"
	"netsim/infra/devissuer"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

// plan is a process as a deployment describes it.
type plan struct {
	name           string
	args           []string
	environment    map[string]string
	files          map[string]string // by path, the key in site.secrets
	started, ready string            // paths of its probes
}

// site has the servers of a deployment, and its processes.
type site struct {
	binary, dir, token string
	settings           map[string]string // in place of those that the deployment gives for the servers
	secrets            map[string]string
	processes          []*process
}

// binary builds netsim as the container file does, once. NETSIM_BIN can name another one.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("NETSIM_BIN"); path != "" {
		return path, nil
	}
	text, err := os.ReadFile(filepath.Join("container", "Containerfile"))
	if err != nil {
		return "", err
	}
	build := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*) -o /out/netsim (.*)$`).FindStringSubmatch(string(text))
	if build == nil {
		return "", fmt.Errorf("the container file does not build netsim")
	}
	dir, err := os.MkdirTemp("", "netsim-deploy-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "netsim")
	cmd := exec.Command("sh", "-c", build[1]+" -buildvcs=false -o "+path+" "+build[2])
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build netsim as the container file does: %w: %s", err, out)
	}
	return path, nil
})

// brokers are those of TestRuns.
var brokers []string

func newSite(t *testing.T, name string) *site {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "netsim-site-") // other users can search it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // it is temporary
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	key, err := audit.NewKey("test")
	if err != nil {
		t.Fatal(err)
	}
	owner, member := databases(t)
	store, issuer := teststack.Objects(t), teststack.Issuer(t)
	w := &site{
		binary: path, dir: dir, token: issuer.Token(devissuer.Options{Service: true}),
		settings: map[string]string{
			"NETSIM_KAFKA": strings.Join(brokers, ","), "NETSIM_TOPIC_PREFIX": name + ".",
			"NETSIM_S3_ENDPOINT": store.Endpoint, "NETSIM_S3_REGION": store.Region, "NETSIM_S3_BUCKET": store.Bucket,
			"NETSIM_ARCHIVE":     "s3://" + store.Bucket + "/archive",
			"NETSIM_OIDC_ISSUER": issuer.URL, "NETSIM_OIDC_JWKS_URL": issuer.JWKSURL,
		},
		secrets: map[string]string{
			"netsim-owner/postgres": owner, "netsim/postgres": member,
			"netsim/writer-keys": strings.Repeat("5e", 32), "netsim/audit-key": key,
			"netsim/s3-access-key": store.AccessKey, "netsim/s3-secret-key": store.SecretKey,
		},
	}
	return w
}

// databases applies roles.sql to a new database, with names of its own, and returns its
// URLs for the owner and for processes.
func databases(t *testing.T) (owner, member string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("postgresql", "roles.sql"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(teststack.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // the statements have ended
	sql := strings.NewReplacer("DATABASE netsim", "DATABASE "+name, "netsim_owner", name+"_owner", "netsim", name+"_member").Replace(string(text))
	if _, err := conn.Exec(t.Context(), sql+"ALTER ROLE "+name+"_owner PASSWORD 'secret'; ALTER ROLE "+name+"_member PASSWORD 'secret'"); err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name+"_owner", "secret")
	owner = u.String()
	u.User = url.UserPassword(name+"_member", "secret")
	return owner, u.String()
}

// process is a running process.
type process struct {
	plan
	http, ops string
	cmd       *exec.Cmd
	log       *bytes.Buffer
	exited    chan error
}

// prepare writes the files of a plan and returns its command.
func (w *site) prepare(t *testing.T, p plan) *process {
	t.Helper()
	root := filepath.Join(w.dir, p.name)
	environment := maps.Clone(p.environment)
	for path, secret := range p.files {
		value, known := w.secrets[secret]
		if !known {
			t.Fatalf("%s needs the secret %s, which the guide does not name", p.name, secret)
		}
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(value+"\n"), 0o440); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			if err := os.Chown(file, 0, user); err != nil {
				t.Fatal(err)
			}
		}
		for name, value := range environment {
			if value == path {
				environment[name] = file
			}
		}
	}
	maps.Copy(environment, w.settings)
	running := &process{plan: p, log: &bytes.Buffer{}, exited: make(chan error, 1)}
	if strings.Contains(","+environment["NETSIM_ROLES"]+",", ",api,") && environment["NETSIM_HTTP"] != "" {
		running.http = w.free(t)
		environment["NETSIM_HTTP"] = running.http
	} else {
		environment["NETSIM_HTTP"] = "127.0.0.1:8080" // not used
	}
	running.ops = w.free(t)
	environment["NETSIM_OPS"] = running.ops
	cmd := exec.Command(w.binary, p.args...)
	cmd.Dir, cmd.SysProcAttr = "/", credential()
	cmd.Stdout, cmd.Stderr = running.log, running.log
	cmd.Env = []string{} // as in a container: nothing but the settings
	for name, value := range environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	running.cmd = cmd
	return running
}

// free returns a free address that no process of the site has.
func (w *site) free(t *testing.T) string {
	t.Helper()
	for {
		address, taken := teststack.FreeAddress(t), false
		for _, p := range w.processes {
			taken = taken || p.http == address || p.ops == address
		}
		if !taken {
			return address
		}
	}
}

// run runs a process to its end.
func (w *site) run(t *testing.T, p plan) {
	t.Helper()
	job := w.prepare(t, p)
	if err := job.cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s", p.name, err, job.log)
	}
}

// start starts a process.
func (w *site) start(t *testing.T, p plan) *process {
	t.Helper()
	running := w.prepare(t, p)
	if err := running.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd := running.cmd // end forgets it
	go func() { running.exited <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it has ended unless the test failed
	w.processes = append(w.processes, running)
	return running
}

// answers reports whether a probe succeeds.
func (p *process) answers(path string) bool {
	client := http.Client{Timeout: 3 * time.Second}
	reply, err := client.Get("http://" + p.ops + path)
	if err != nil {
		return false
	}
	reply.Body.Close() //nolint:errcheck // only the status counts
	return reply.StatusCode == http.StatusOK
}

// awaitReady waits until the probes of all processes succeed.
func (w *site) awaitReady(t *testing.T) {
	t.Helper()
	for _, p := range w.processes {
		for _, path := range []string{p.started, p.ready} {
			deadline := time.NewTimer(3 * time.Minute)
			for every := time.NewTicker(100 * time.Millisecond); !p.answers(path); {
				select {
				case err := <-p.exited:
					t.Fatalf("%s ended: %v: %s", p.name, err, p.log)
				case <-deadline.C:
					p.cmd.Process.Signal(syscall.SIGQUIT) //nolint:errcheck // it may have ended; it prints its goroutines
					testwait.Receive(t, p.exited, p.name+" to end")
					t.Fatalf("%s does not answer its probe %s: %s", p.name, path, p.log)
				case <-every.C:
				}
			}
			deadline.Stop()
		}
	}
}

// end ends the process in order.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := testwait.Receive(t, p.exited, p.name+" to end"); err != nil {
		t.Errorf("%s ended with %v: %s", p.name, err, p.log)
	}
	p.cmd = nil
}

// end ends all processes that run.
func (w *site) end(t *testing.T) {
	t.Helper()
	for _, p := range w.processes {
		if p.cmd != nil {
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range w.processes {
		if p.cmd == nil {
			continue
		}
		if err := testwait.Receive(t, p.exited, p.name+" to end"); err != nil {
			t.Errorf("%s ended with %v: %s", p.name, err, p.log)
		}
		for line := range strings.Lines(p.log.String()) {
			if strings.Contains(line, `"level":"ERROR"`) {
				t.Errorf("%s logged an error: %s", p.name, line)
			}
		}
	}
}

// send sends a request and returns the status of its answer.
func (w *site) send(to *process, method, path, body string) (int, error) {
	status, _, err := w.exchange(to, method, path, body)
	return status, err
}

func (w *site) exchange(to *process, method, path, body string) (int, string, error) {
	req, err := http.NewRequest(method, "http://"+to.http+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer reply.Body.Close() //nolint:errcheck // the body is read completely
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, string(text), err
}

// workload runs a simulation through one process of the API, and reads it and its
// billing item through another.
func (w *site) workload(t *testing.T, one, other *process) {
	t.Helper()
	if status, text, err := w.exchange(one, http.MethodPost, "/api/v1/workspaces", `{"name": "deployed"}`); err != nil || status != http.StatusCreated {
		t.Fatalf("create a workspace: status %d, %v: %s", status, err, text)
	}
	status, text, err := w.exchange(one, http.MethodPost, "/api/v1/simple/simulations",
		`{"name": "deployed", "workload": {"ranks": 64, "phases": [{"operationType": "allReduce", "dataSize": 1048576}]}}`)
	id := regexp.MustCompile(`sim_[0-9a-z]+`).FindString(text)
	if err != nil || status/100 != 2 || id == "" {
		t.Fatalf("submit a simulation: status %d, %v: %s", status, err, text)
	}
	w.eventually(t, other, "/api/v1/simulations/"+id, `"status":"completed"`)
	w.eventually(t, other, "/api/v1/billing/items?eventType=cluster&status=closed", id)
}

// eventually repeats a GET until the answer has the text.
func (w *site) eventually(t *testing.T, p *process, path, want string) {
	t.Helper()
	deadline := time.NewTimer(3 * time.Minute)
	defer deadline.Stop()
	for every := time.NewTicker(100 * time.Millisecond); ; {
		status, text, err := w.exchange(p, http.MethodGet, path, "")
		if err == nil && status == http.StatusOK && strings.Contains(text, want) {
			return
		}
		select {
		case <-every.C:
		case <-deadline.C:
			t.Fatalf("GET %s answers %d %s (%v), want %s", path, status, text, err, want)
		}
	}
}
