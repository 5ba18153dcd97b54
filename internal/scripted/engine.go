package scripted

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Script says how an engine answers.
type Script struct {
	// Run is the status of every run that has not been terminated.
	Run   Run
	Logs  []string          // the log of every run
	Files map[string]string // contents of the result files, by name
	// Capabilities are the capabilities of runs that are ordered from now on.
	Capabilities []string
	// Answers replace the protocol's answers, by the name of the call: describe,
	// order, status, logs, results, file, terminate or free.
	Answers map[string]Answer
	// Lies are contents, by name, that are served instead of Files. The listed sizes
	// and checksums stay those of Files.
	Lies map[string]string
}

// Run is the status of a run.
type Run struct {
	State           string `json:"state"`
	SimulatedTimeNs int64  `json:"simulatedTimeNs"`
	EventsProcessed int64  `json:"eventsProcessed"`
	DeliveredBytes  int64  `json:"deliveredBytes,omitempty"`
	FinishedRanks   int64  `json:"finishedRanks,omitempty"`
	LastCollective  string `json:"lastCollective,omitempty"`

	TotalBytes          int64 `json:"totalBytes,omitempty"`
	FinishedCollectives int64 `json:"finishedCollectives,omitempty"`
	TotalCollectives    int64 `json:"totalCollectives,omitempty"`

	FailureReason string `json:"failureReason,omitempty"`

	End json.RawMessage `json:"end,omitempty"`
}

// Answer is the answer to a call.
type Answer struct {
	Status int // 0 sends the protocol's answer after Delay
	Body   string
	Header map[string]string
	Delay  time.Duration // ends early when a new script has no such answer
}

// Call is a request that the engine received.
type Call struct {
	Name       string // as in Script.Answers
	Simulation string // id in an order
	Run        string // id in the path
	Token      string // bearer token
}

// engine is the engine inside its own process.
type engine struct {
	mu      sync.Mutex
	script  Script
	changed chan struct{}     // closed when the script is replaced
	runs    map[string]string // run ids by simulation
	ended   map[string]bool   // terminated runs, by run id
	lost    int               // how often the runs were lost
	calls   []Call
}

func (e *engine) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /script", e.setScript)
	mux.HandleFunc("GET /calls", func(w http.ResponseWriter, _ *http.Request) { e.locked(func() { reply(w, 200, e.calls) }) })
	mux.HandleFunc("POST /lose", func(http.ResponseWriter, *http.Request) {
		e.locked(func() { e.runs, e.ended, e.lost = map[string]string{}, map[string]bool{}, e.lost+1 })
	})
	for pattern, name := range map[string]string{
		"GET /engine/capabilities": "describe", "POST /engine/runs": "order", "GET /engine/runs/{run}": "status",
		"GET /engine/runs/{run}/logs": "logs", "GET /engine/runs/{run}/results": "results",
		"GET /engine/runs/{run}/results/{file...}": "file", "POST /engine/runs/{run}/terminate": "terminate",
		"DELETE /engine/runs/{run}": "free",
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { e.call(w, r, name) })
	}
	return mux
}

func (e *engine) setScript(_ http.ResponseWriter, r *http.Request) {
	var s Script
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
		panic(err)
	}
	e.locked(func() {
		e.script = s
		close(e.changed)
		e.changed = make(chan struct{})
	})
}

func (e *engine) locked(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// call records a call and answers it, by the script or by the protocol.
func (e *engine) call(w http.ResponseWriter, r *http.Request, name string) {
	var order struct{ SimulationID string }
	if name == "order" {
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &order) // an order without an id is recorded without one
	}
	answer, scripted, changed := e.scripted(name)
	e.locked(func() {
		e.calls = append(e.calls, Call{name, order.SimulationID, r.PathValue("run"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")})
	})
	delay := time.NewTimer(answer.Delay)
	defer delay.Stop()
	for waiting := answer.Delay > 0; waiting && scripted; {
		select {
		case <-changed:
			answer, scripted, changed = e.scripted(name)
		case <-delay.C:
			waiting = false
		case <-r.Context().Done():
			return
		}
	}
	if scripted && answer.Status != 0 {
		for k, v := range answer.Header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(answer.Status)
		fmt.Fprint(w, answer.Body)
		return
	}
	e.locked(func() { e.answer(w, r, name, order.SimulationID) })
}

// scripted returns the script's answer to a call, if it has one, and a channel that
// is closed when the script is replaced.
func (e *engine) scripted(name string) (answer Answer, ok bool, changed <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	answer, ok = e.script.Answers[name]
	return answer, ok, e.changed
}

// answer sends the protocol's answer. The caller holds e.mu.
func (e *engine) answer(w http.ResponseWriter, r *http.Request, name, simulation string) {
	id := r.PathValue("run")
	switch name {
	case "describe":
		reply(w, 200, map[string]any{"protocol": "1", "engine": "scripted", "version": "0.1", "capabilities": e.script.Capabilities})
		return
	case "order":
		if e.runs[simulation] == "" {
			e.runs[simulation] = fmt.Sprintf("run-%d-%d", e.lost, len(e.runs)+1)
		}
		reply(w, 201, map[string]any{"runId": e.runs[simulation], "capabilities": e.script.Capabilities})
		return
	}
	if !e.knows(id) {
		reply(w, 404, map[string]any{"error": map[string]string{"code": "NOT_FOUND", "message": "no such run"}})
		return
	}
	run := e.script.Run
	if e.ended[id] {
		run.State = "terminated"
	}
	switch name {
	case "status":
		reply(w, 200, run)
	case "logs":
		e.logs(w, r)
	case "results":
		if run.State == "running" {
			reply(w, 409, map[string]any{"error": map[string]string{"code": "CONFLICT", "message": "the run has not ended"}})
			return
		}
		e.results(w)
	case "file":
		e.file(w, r.PathValue("file"))
	case "terminate":
		e.ended[id] = true
		reply(w, 202, map[string]any{})
	case "free":
		w.WriteHeader(204)
	}
}

func (e *engine) knows(id string) bool {
	for _, run := range e.runs {
		if run == id {
			return true
		}
	}
	return false
}

func (e *engine) logs(w http.ResponseWriter, r *http.Request) {
	var after int
	fmt.Sscan(r.URL.Query().Get("after"), &after)
	logs := []map[string]any{}
	for i, message := range e.script.Logs {
		if i+1 > after {
			logs = append(logs, map[string]any{"number": i + 1, "timestamp": "2026-11-21T00:00:00Z", "level": "info", "component": "engine", "message": message})
		}
	}
	reply(w, 200, map[string]any{"logs": logs})
}

func (e *engine) results(w http.ResponseWriter) {
	files := []map[string]any{}
	for name, content := range e.script.Files {
		sum := sha256.Sum256([]byte(content))
		files = append(files, map[string]any{"name": name, "size": len(content), "checksum": "sha256:" + hex.EncodeToString(sum[:])})
	}
	reply(w, 200, map[string]any{"files": files})
}

func (e *engine) file(w http.ResponseWriter, name string) {
	content, lie := e.script.Lies[name]
	if !lie {
		content = e.script.Files[name]
	}
	fmt.Fprint(w, content)
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body) //nolint:errcheck // the client may have left
}
