package host_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/runs/execution"
	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

// engineAt is a client of an engine, with the calls of the service.
type engineAt struct {
	t          *testing.T
	url, token string
}

type reply struct {
	t      *testing.T
	call   string
	status int
	body   []byte
}

func (e engineAt) call(method, path string, body []byte) reply {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.url+path, bytes.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+e.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it is read whole
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return reply{e.t, method + " " + path, answer.StatusCode, got}
}

// want fails the test unless the reply has the status and, for an error, the body of
// an error. It returns the body.
func (r reply) want(status int) (body map[string]any) {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: %d, want %d: %s", r.call, r.status, status, r.body)
	}
	if len(r.body) > 0 {
		if err := json.Unmarshal(r.body, &body); err != nil {
			r.t.Fatalf("%s: %v: %s", r.call, err, r.body)
		}
	}
	if status >= 400 {
		if e, _ := body["error"].(map[string]any); e["code"] == nil || e["message"] == "" {
			r.t.Errorf("%s: the body has no error: %s", r.call, r.body)
		}
	}
	return body
}

func (e engineAt) start(o *execution.Order) string {
	e.t.Helper()
	body := e.call("POST", "/runs", encoded(e.t, o)).want(201)
	id, _ := body["runId"].(string)
	if !regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,127}$`).MatchString(id) {
		e.t.Fatalf("got the run id %q", id)
	}
	return id
}

func encoded(t *testing.T, o *execution.Order) []byte {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ended waits for the end of a run, and returns its status.
func (e engineAt) ended(run string) (status map[string]any) {
	e.t.Helper()
	e.until("the run has ended", func() bool {
		status = e.call("GET", "/runs/"+run, nil).want(200)
		return status["state"] != "running"
	})
	return status
}

func (e engineAt) until(what string, is func() bool) {
	e.t.Helper()
	deadline := time.NewTimer(testwait.Limit(e.t))
	defer deadline.Stop()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for !is() {
		select {
		case <-every.C:
		case <-deadline.C:
			e.t.Fatalf("timeout: waited until %s", what)
		}
	}
}

// order returns the order of a simple submission, and serves its file.
func (e engineAt) order(name string, w collective.Workload) *execution.Order {
	e.t.Helper()
	s, _, err := presets.NewSimple(&topology.Constraints{}, &w, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	d, err := s.Document()
	if err != nil {
		e.t.Fatal(err)
	}
	text, err := document.Canonical(d)
	if err != nil {
		e.t.Fatal(err)
	}
	content, err := presets.WorkloadContent(s.Groups)
	if err != nil {
		e.t.Fatal(err)
	}
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, content) })) //nolint:errcheck // the engine reports a short file
	e.t.Cleanup(store.Close)
	return &execution.Order{
		SimulationID: "sim_" + name, Name: name, StartedAt: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		ConfigurationID: "cfg_1", ConfigurationVersion: 1, Document: text, DocumentHash: execution.Hash(text),
		DurationNs: int64(time.Hour), Seed: 1,
		Traceset: &execution.Traceset{ID: "ts_1", Format: "simple_v1", Layout: "cas", Files: []execution.File{{
			Name: presets.WorkloadFile, Role: "primary", Hash: execution.Hash(content), Size: int64(len(content)), URL: store.URL + "/secret",
		}}},
	}
}

// small returns a workload that completes at once.
func small() collective.Workload {
	return collective.Workload{Ranks: 8, Phases: []collective.Phase{{OperationType: collective.AllToAll, DataSize: 1 << 16}}}
}

// endless returns a workload that takes longer than any test.
func endless() collective.Workload {
	w := collective.Workload{Ranks: 256, Phases: make([]collective.Phase, collective.MaxPhases)}
	for i := range w.Phases {
		w.Phases[i] = collective.Phase{OperationType: collective.AllToAll, DataSize: 1 << 20}
	}
	return w
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// process is an engine that runs in its own process.
type process struct {
	cmd *exec.Cmd
	url string
}

// serveNetsim starts "netsim engine serve" with more flags.
func serveNetsim(t *testing.T, flags ...string) process {
	t.Helper()
	return start(t, t.TempDir(), teststack.Netsim(t), append([]string{"engine", "serve", "--listen", "127.0.0.1:0", "--data", "data"}, flags...)...)
}

// start starts an engine, which prints its address on a line of standard output.
func start(t *testing.T, dir, command string, args ...string) process {
	t.Helper()
	p := process{cmd: exec.Command(command, args...)}
	p.cmd.Dir = dir
	p.cmd.Env = []string{"NETSIM_ENGINE_TOKEN=" + token, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said bytes.Buffer
	p.cmd.Stderr = &said
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
		p.cmd.Wait()                          //nolint:errcheck // another test checks how it ends
		if t.Failed() {
			t.Logf("%s said:\n%s", command, said.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	_, p.url, _ = strings.Cut(strings.TrimSpace(line), " on ")
	if err != nil || p.url == "" {
		t.Fatalf("%s printed %q, %v, want its address; stderr: %s", command, line, err, said.String())
	}
	return p
}
