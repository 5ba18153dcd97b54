package host_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"netsim/execution"
	"netsim/simulator/blueprint"
	"netsim/simulator/collective"
	"netsim/simulator/design"
	"netsim/simulator/topology"
)

const token = "a secret of both"

// TestProtocolOfNetsim holds "netsim engine serve" to docs/engine-protocol.md.
func TestProtocolOfNetsim(t *testing.T) {
	t.Parallel()
	conforms(t, serveNetsim(t).url)
}

// TestProtocolOfTheWrapper holds the wrapper of docs/engine-protocol.md to the
// tables above it. The simulator that it wraps is a script.
func TestProtocolOfTheWrapper(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/engine-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(doc)
	if code == nil {
		t.Fatal("docs/engine-protocol.md has no wrapper")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "wrap.py"), string(code[1]))
	write(t, filepath.Join(dir, "simulator.sh"), `
echo "simulates $(ls | tr '\n' ' ')"
echo partial > results/a.csv
grep -q endless order.json && exec sleep 1000
test -s workload.simple.json || exit 3
echo progress 5000 7
cp workload.simple.json results/b.json`)
	conforms(t, start(t, dir, "python3", "wrap.py", "0", "sh", filepath.Join(dir, "simulator.sh")).url)
}

// conforms holds an engine to the protocol.
func conforms(t *testing.T, url string) {
	t.Helper()
	e := engineAt{t, url, token}
	if about := e.call("GET", "/capabilities", nil).want(200); about["protocol"] != "1" || about["engine"] == "" || about["version"] == "" || fmt.Sprint(about["capabilities"]) != "[terminate]" {
		t.Errorf("capabilities %v", about)
	}
	e.strangers()
	e.refusals()

	o := e.order("a-run", small())
	run := e.start(o)
	if again := e.start(o); again != run {
		t.Errorf("ordered again it is run %s, before it was %s", again, run)
	}
	status := e.ended(run)
	if status["state"] != "completed" || status["simulatedTimeNs"].(float64) <= 0 || status["eventsProcessed"].(float64) <= 0 {
		t.Errorf("status %v", status)
	}
	if after := e.start(o); after != run {
		t.Errorf("ordered after its end it is run %s, before it was %s", after, run)
	}
	e.logs(run)
	if files := e.results(run); len(files) < 2 {
		t.Errorf("results %v", files)
	}
	e.call("GET", "/runs/"+run+"/results/nothing.csv", nil).want(404)
	e.call("POST", "/runs/"+run+"/terminate", nil).want(409)

	e.stopped()
	wrong := e.order("wrong", small())
	wrong.Traceset.Files[0].Hash = execution.Hash("another")
	if s := e.ended(e.start(wrong)); s["state"] != "failed" || !strings.Contains(s["failureReason"].(string), "does not match its hash") || strings.Contains(fmt.Sprint(s), "secret") {
		t.Errorf("of another input: %v", s)
	}

	e.call("DELETE", "/runs/"+run, nil).want(204)
	e.unknown(run)
	if anew := e.start(o); anew == run {
		t.Errorf("ordered again after it was freed it is run %s still", anew)
	}
}

// strangers are refused, whatever they ask for.
func (e engineAt) strangers() {
	e.t.Helper()
	for _, secret := range []string{"", "another"} {
		stranger := engineAt{e.t, e.url, secret}
		for _, path := range []string{"GET /capabilities", "POST /runs", "GET /runs/x", "GET /runs/x/results", "DELETE /runs/x"} {
			method, path, _ := strings.Cut(path, " ")
			stranger.call(method, path, nil).want(401)
		}
	}
}

// refusals are of what is no order.
func (e engineAt) refusals() {
	e.t.Helper()
	for _, body := range []string{"", "{", "[]", "{}", `{"simulationId":"sim_1"}`} {
		if r := e.call("POST", "/runs", []byte(body)); r.status != 400 && r.status != 422 {
			e.t.Errorf("POST /runs %s: %d %s", body, r.status, r.body)
		}
	}
	e.unknown("unknown")
}

// unknown is what calls about a run are answered that is not there.
func (e engineAt) unknown(run string) {
	e.t.Helper()
	for _, call := range []string{"GET ", "GET /logs", "GET /results", "GET /results/a.csv", "POST /terminate", "DELETE "} {
		method, path, _ := strings.Cut(call, " ")
		e.call(method, "/runs/"+run+path, nil).want(404)
	}
}

// stopped is a run that is terminated: it keeps its partial results.
func (e engineAt) stopped() {
	e.t.Helper()
	run := e.start(e.order("endless", endless()))
	e.until("the run has begun", func() bool {
		return len(e.call("GET", "/runs/"+run+"/logs", nil).want(200)["logs"].([]any)) > 0
	})
	if s := e.call("GET", "/runs/"+run, nil).want(200); s["state"] != "running" {
		e.t.Errorf("status %v", s)
	}
	e.call("GET", "/runs/"+run+"/results", nil).want(409)
	e.call("GET", "/runs/"+run+"/results/summary.json", nil).want(409)
	if r := e.call("POST", "/runs/"+run+"/terminate", nil); r.status/100 != 2 {
		e.t.Errorf("terminate: %d %s", r.status, r.body)
	}
	if s := e.ended(run); s["state"] != "terminated" {
		e.t.Errorf("status %v", s)
	}
	if files := e.results(run); len(files) == 0 {
		e.t.Error("a terminated run has no partial results")
	}
}

// logs reads a log page by page.
func (e engineAt) logs(run string) {
	e.t.Helper()
	var all struct {
		Logs []struct {
			Number                    int
			Timestamp                 time.Time
			Level, Component, Message string
		}
	}
	whole := e.call("GET", "/runs/"+run+"/logs?after=0", nil)
	whole.want(200)
	if err := json.Unmarshal(whole.body, &all); err != nil || len(all.Logs) < 2 || len(all.Logs) > 1000 {
		e.t.Fatalf("logs: %v: %s", err, whole.body)
	}
	for i, l := range all.Logs {
		if l.Number != i+1 || time.Since(l.Timestamp).Abs() > time.Hour || l.Message == "" || !strings.Contains("debug info warn error", l.Level) {
			e.t.Errorf("log entry %+v is the %dth", l, i+1)
		}
	}
	last := e.call("GET", fmt.Sprintf("/runs/%s/logs?after=%d", run, len(all.Logs)-1), nil).want(200)["logs"].([]any)
	if len(last) != 1 || last[0].(map[string]any)["number"] != float64(len(all.Logs)) {
		e.t.Errorf("the last entry: %v", last)
	}
}

// results downloads what is listed.
func (e engineAt) results(run string) map[string]string {
	e.t.Helper()
	var list struct {
		Files []struct {
			Name, Checksum string
			Size           int
		}
	}
	r := e.call("GET", "/runs/"+run+"/results", nil)
	r.want(200)
	if err := json.Unmarshal(r.body, &list); err != nil {
		e.t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range list.Files {
		content := e.call("GET", "/runs/"+run+"/results/"+f.Name, nil)
		sum := sha256.Sum256(content.body)
		if content.status != 200 || len(content.body) != f.Size || f.Checksum != "sha256:"+hex.EncodeToString(sum[:]) {
			e.t.Errorf("%s is not what the list says: %d", f.Name, content.status)
		}
		files[f.Name] = string(content.body)
	}
	return files
}

// engineAt is an engine as a service calls it.
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

// want fails the test unless the status is this one and an error's body is one.
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
			r.t.Errorf("%s: no error: %s", r.call, r.body)
		}
	}
	return body
}

func (e engineAt) start(o *execution.Order) string {
	e.t.Helper()
	body := e.call("POST", "/runs", encoded(e.t, o)).want(201)
	id, _ := body["runId"].(string)
	if !regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,127}$`).MatchString(id) {
		e.t.Fatalf("run id %q", id)
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

// ended waits for the end of a run and returns its status.
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
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for !is() {
		select {
		case <-every.C:
		case <-deadline.C:
			e.t.Fatalf("it is not so yet that %s", what)
		}
	}
}

// order makes the order of a simple submission, whose file a server has.
func (e engineAt) order(name string, w collective.Workload) *execution.Order {
	e.t.Helper()
	s, _, err := blueprint.NewSimple(&topology.Constraints{}, &w, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	d, err := s.Document()
	if err != nil {
		e.t.Fatal(err)
	}
	text, err := design.Canonical(d)
	if err != nil {
		e.t.Fatal(err)
	}
	content, err := blueprint.WorkloadContent(s.Groups)
	if err != nil {
		e.t.Fatal(err)
	}
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, content) })) //nolint:errcheck // the engine tells
	e.t.Cleanup(store.Close)
	return &execution.Order{
		SimulationID: "sim_" + name, Name: name, StartedAt: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
		ConfigurationID: "cfg_1", ConfigurationVersion: 1, Document: text, DocumentHash: execution.Hash(text),
		DurationNs: int64(time.Hour), Seed: 1,
		Traceset: &execution.Traceset{ID: "ts_1", Format: "simple_v1", Layout: "cas", Files: []execution.File{{
			Name: blueprint.WorkloadFile, Role: "primary", Hash: execution.Hash(content), Size: int64(len(content)), URL: store.URL + "/secret",
		}}},
	}
}

// small is a workload that is over at once.
func small() collective.Workload {
	return collective.Workload{Ranks: 8, Phases: []collective.Phase{{OperationType: collective.AllToAll, DataSize: 1 << 16}}}
}

// endless is one that takes longer than any test.
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

// process is an engine in a process of its own.
type process struct {
	cmd *exec.Cmd
	url string
}

// serveNetsim starts "netsim engine serve" with more flags.
func serveNetsim(t *testing.T, flags ...string) process {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "netsim")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "netsim/cmd/netsim").CombinedOutput(); err != nil {
		t.Fatalf("build netsim: %v\n%s", err, out)
	}
	return start(t, dir, binary, append([]string{"engine", "serve", "--listen", "127.0.0.1:0", "--data", "data"}, flags...)...)
}

// start starts an engine, which says where it listens.
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
		p.cmd.Wait()                          //nolint:errcheck // how it ends is another test's
		if t.Failed() {
			t.Logf("%s said:\n%s", command, said.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	_, p.url, _ = strings.Cut(strings.TrimSpace(line), " on ")
	if err != nil || p.url == "" {
		t.Fatalf("%s said %q: %v: %s", command, line, err, said.String())
	}
	return p
}
