package host_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netsim/runs/execution"
	"netsim/runs/execution/host"
	"netsim/simulator/collective"
)

// newHost starts a host in the test's process.
func newHost(t *testing.T, c host.Config) engineAt {
	t.Helper()
	c.Token, c.Dir = token, t.TempDir()
	h, err := host.New(c)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(c.Dir); err != nil || len(left) != 1 { // the lock
			t.Errorf("the closed host has left %v, %v, want only the lock", left, err)
		}
	})
	return engineAt{t, server.URL, token}
}

// TestSameBytes: a host and a run without a host write the same result files.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	e := newHost(t, host.Config{})
	o := e.order("same", small())
	run := e.start(o)
	status := e.ended(run)

	dir := t.TempDir()
	for _, f := range o.Inputs() {
		write(t, filepath.Join(dir, f.Name), string(get(t, f.URL)))
	}
	end, _ := status["end"].(map[string]any)
	receipt := execution.NewReceipt(*o, execution.Name, "1.1.0", execution.End{State: end["state"].(string), TimePs: int64(end["timePs"].(float64))}, nil)
	for name, content := range e.results(run) {
		receipt.Results = append(receipt.Results, execution.Result{Name: name, Hash: execution.Hash(content), Size: int64(len(content))})
	}
	if equal, err := execution.Reproduce(t.Context(), receipt, dir, "", true); err != nil || equal < 8 {
		t.Errorf("%d files are equal, %v", equal, err)
	}
}

func get(t *testing.T, link string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it is read whole
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestBusy: a host with as many runs as it may have refuses another one.
func TestBusy(t *testing.T) {
	t.Parallel()
	e := newHost(t, host.Config{Runs: 1})
	first := e.start(e.order("endless", endless()))
	second := encoded(t, e.order("second", small()))
	if said := message(e.call("POST", "/runs", second).want(503)); said != "the engine is busy" {
		t.Errorf("got the message %q, want that the engine is busy", said)
	}
	e.call("DELETE", "/runs/"+first, nil).want(204)
	e.until("there is room", func() bool { return e.call("POST", "/runs", second).status == 201 })
}

// TestKept: the oldest ended runs are removed when there are too many, when they are
// too old, and when they use too much space.
func TestKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]host.Config{
		"number": {Runs: 1, Kept: 1},
		"size":   {Runs: 1, RunBytes: 1_000_000, TotalBytes: 1_010_000},
		"age":    {Runs: 1, KeptFor: 20 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newHost(t, c)
			var runs []string
			for _, simulation := range []string{"a", "b", "c"} {
				o := encoded(t, e.order(simulation, small()))
				var r reply
				e.until("there is room", func() bool { r = e.call("POST", "/runs", o); return r.status == 201 })
				id := r.want(201)["runId"].(string)
				e.until("the run has ended", func() bool {
					s := e.call("GET", "/runs/"+id, nil)
					return s.status == 404 || s.want(200)["state"] != "running"
				})
				runs = append(runs, id)
			}
			e.until("the first run is removed", func() bool { return e.call("GET", "/runs/"+runs[0], nil).status == 404 })
			if name == "number" {
				e.call("GET", "/runs/"+runs[1], nil).want(200)
			}
		})
	}
}

// TestTooLong: a run that takes longer than Config.Within fails.
func TestTooLong(t *testing.T) {
	t.Parallel()
	e := newHost(t, host.Config{Within: 300 * time.Millisecond})
	run := e.start(e.order("endless", endless()))
	s := e.ended(run)
	if reason, _ := s["failureReason"].(string); s["state"] != "failed" || !strings.HasPrefix(reason, "the run took longer than 300ms; the last finished collective is ") && reason != "the run takes too long" {
		t.Errorf("got the status %v, want failed after 300ms", s)
	}
}

// TestRefusesOrders: an order that can never run is refused at once, with a reason.
func TestRefusesOrders(t *testing.T) {
	t.Parallel()
	e := newHost(t, host.Config{OrderBytes: 60_000, RunBytes: 1_000_000})
	for name, c := range map[string]struct {
		change func(*execution.Order)
		status int
		want   string
	}{
		"too large":       {func(o *execution.Order) { o.Document += strings.Repeat(" ", 60_000) }, 422, "the order has more than 60000 bytes"},
		"no simulation":   {func(o *execution.Order) { o.SimulationID = "" }, 422, "simulationId must have 1 to 128 characters"},
		"a path as name":  {func(o *execution.Order) { o.Name = "../../x" }, 422, "name must be a simulation's"},
		"no start":        {func(o *execution.Order) { o.StartedAt = time.Time{} }, 422, "startedAt is missing"},
		"no duration":     {func(o *execution.Order) { o.DurationNs = 0 }, 422, "durationNs must be above 0"},
		"another text":    {func(o *execution.Order) { o.Document += " " }, 422, "documentHash is not that of document"},
		"no document":     {func(o *execution.Order) { o.Document = "x"; o.DocumentHash = execution.Hash("x") }, 422, "document: "},
		"a file's scheme": {func(o *execution.Order) { o.Traceset.Files[0].URL = "file:///etc/passwd" }, 422, "file workload.simple.json: the url is no http or https link"},
		"no link":         {func(o *execution.Order) { o.Traceset.Files[0].URL = "" }, 422, "file workload.simple.json: the url is no http or https link"},
		"a file's name":   {func(o *execution.Order) { o.Traceset.Files[0].Name = "../x" }, 422, `file "../x": the name is none of a file`},
		"a file twice": {func(o *execution.Order) { o.MappingFile = &execution.MappingFile{File: o.Traceset.Files[0]} }, 422,
			"file workload.simple.json is there twice"},
		"a negative size": {func(o *execution.Order) { o.Traceset.Files[0].Size = -1 }, 422, "the size is -1"},
		"large files":     {func(o *execution.Order) { o.Traceset.Files[0].Size = 1_000_001 }, 422, "the files have more than the 1000000 bytes that a run may have here"},
	} {
		o := e.order("refused", small())
		c.change(o)
		if said := message(e.call("POST", "/runs", encoded(t, o)).want(c.status)); !strings.Contains(said, c.want) {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
	e.call("GET", "/runs/x/logs/y", nil).want(404)
}

// TestInputsThatDoNotCome: if an input cannot be fetched, the run fails, and the
// reason does not show the link. A run with too large results fails, too.
func TestInputsThatDoNotCome(t *testing.T) {
	t.Parallel()
	e := newHost(t, host.Config{Runs: 10, RunBytes: 100_000})
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/gone":
			w.WriteHeader(http.StatusForbidden)
		case "/flaky":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			io.WriteString(w, "another content") //nolint:errcheck // the engine reports a short file
		}
	}))
	t.Cleanup(store.Close)
	for path, want := range map[string]string{
		"/moved": "its store answers 302", "/gone": "its store answers 403", "/flaky": "its store answers 500", "/short": "does not have the ",
	} {
		o := e.order(strings.TrimPrefix(path, "/"), small())
		o.Traceset.Files[0].URL = store.URL + path
		s := e.ended(e.start(o))
		reason, _ := s["failureReason"].(string)
		about := strings.HasPrefix(reason, "inputs could not be staged: file workload.simple.json")
		if s["state"] != "failed" || !about || !strings.Contains(reason, want) || strings.Contains(reason, store.URL) {
			t.Errorf("%s: got the status %v, want failed because of %q", path, s, want)
		}
	}
	many := collective.Workload{Ranks: 64, Phases: []collective.Phase{{OperationType: collective.AllToAll, DataSize: 1 << 16}}}
	large := e.ended(e.start(e.order("large", many)))
	if reason, _ := large["failureReason"].(string); large["state"] != "failed" || !strings.Contains(reason, "the result files have more than the ") {
		t.Errorf("too large results: got the status %v, want failed", large)
	}
}

func message(body map[string]any) string {
	said, _ := body["error"].(map[string]any)["message"].(string)
	return said
}
