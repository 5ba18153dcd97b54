package service_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/events"
	"netsim/internal/service"
	"netsim/internal/service/servicetest"
)

// gateway stands in front of the object store, and answers some requests
// itself.
type gateway struct {
	URL string

	mu     sync.Mutex
	answer func(*http.Request) (status int, code string) // 0 passes the request on
}

func startGateway(t *testing.T, store string) *gateway {
	t.Helper()
	target, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, code := g.of(r); status != 0 {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g
}

func (g *gateway) of(r *http.Request) (status int, code string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answer == nil {
		return 0, ""
	}
	return g.answer(r)
}

func (g *gateway) set(answer func(*http.Request) (int, string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = answer
}

// asked answers requests of a method whose key contains a text.
func asked(method, part string, status int, code string) func(*http.Request) (int, string) {
	return func(r *http.Request) (int, string) {
		if r.Method == method && strings.Contains(r.URL.Path, part) && !r.URL.Query().Has("delete") {
			return status, code
		}
		return 0, ""
	}
}

// storeWorld is a service behind a gateway, and an account in it.
type storeWorld struct {
	t       *testing.T
	p       *servicetest.Program
	g       *gateway
	account string
	user    *servicetest.Client
	service *servicetest.Client
}

func newStoreWorld(t *testing.T, patience time.Duration, options ...func(*service.Config)) *storeWorld {
	t.Helper()
	w := &storeWorld{t: t, account: servicetest.NewAccount()}
	w.p = servicetest.Start(t, append(options, func(c *service.Config) {
		w.g = startGateway(t, c.S3Endpoint)
		c.S3Endpoint, c.StorePatience = w.g.URL, patience
		c.RunCheckpoint = time.Millisecond // of runs that ask for engine snapshots
	})...)
	w.p.Grant(t, w.account, "100000")
	w.user, w.service = w.p.User(t, w.account), w.p.Service(t, w.account)
	return w
}

// submit asks for a run of some 100 ms that writes all kinds of files.
func (w *storeWorld) submit(name string) string {
	w.t.Helper()
	return text(w.t, w.user.Post("/api/v1/simple/simulations", object{"name": name, "workload": object{
		"ranks": 32, "phases": []object{{"operationType": "allToAll", "dataSize": 1 << 20}},
	}}).Want(202), "simulationId")
}

func (w *storeWorld) ended(id string) object {
	w.t.Helper()
	return w.user.Eventually("/api/v1/simulations/"+id, func(r servicetest.Reply) bool {
		status := r.Want(200).Object()["status"]
		return status != "validating" && status != "provisioning" && status != "running"
	}).Object()
}

// over checks that the run has failed for a reason, that its log says so, and
// that nothing of it costs any more: its item is closed at its end, and its hold
// is released.
func (w *storeWorld) over(id, reason string) {
	t := w.t
	t.Helper()
	s := w.ended(id)
	told, _ := s["failureReason"].(string)
	if s["status"] != "failed" || !strings.HasPrefix(told, reason) {
		t.Fatalf("it is %v: %v, want %s", s["status"], told, reason)
	}
	if log := w.user.Get("/api/v1/simulations/" + id + "/logs?level=error").Want(200); !strings.Contains(string(log.Body), reason) {
		t.Errorf("the log does not have the reason %s: %s", reason, log.Body)
	}
	w.service.Eventually("/api/v1/billing/items?limit=100", func(r servicetest.Reply) bool {
		var list struct {
			Items []struct {
				EndTimestamp *string
				Details      struct{ ResourceType, ResourceID string }
			}
		}
		r.Want(200).Into(&list)
		for _, item := range list.Items {
			if d := item.Details; d.ResourceType == "simulation" && d.ResourceID == id {
				return item.EndTimestamp != nil && *item.EndTimestamp == s["completedAt"]
			}
		}
		return s["startedAt"] == nil // one that has not run costs nothing
	})
	w.released(id)
}

// released waits until no credit is held for the simulation.
func (w *storeWorld) released(id string) {
	t := w.t
	t.Helper()
	awaitSQL(t, w.p.Config.Postgres, `SELECT released_at IS NOT NULL FROM readmodel.credit_holds WHERE simulation_id = $1`, id)
}

// TestAStoreRefusesARun: a run whose inputs, result files, snapshots or
// manifest the object store refuses fails with the reason, and stops costing.
func TestAStoreRefusesARun(t *testing.T) {
	t.Parallel()
	w := newStoreWorld(t, time.Minute)
	first := w.submit("first")
	if s := w.ended(first); s["status"] != "completed" {
		t.Fatalf("with a store that works it is %v: %v", s["status"], s["failureReason"])
	}
	start := func() string {
		return text(t, w.user.Post("/api/v1/simulations", object{
			"configurationId": events.DerivedID(events.ConfigurationPrefix, first), "name": "again", "duration": "10s",
			"checkpointing": object{"enabled": true, "interval": "10s"},
		}).Want(201), "id")
	}
	for _, c := range []struct {
		name   string
		answer func(*http.Request) (int, string)
		start  func() string
		reason string
	}{
		{"stage", asked("GET", "/libraries/", 403, "AccessDenied"), func() string { return w.submit("stage") },
			"inputs could not be staged: the object store refuses it (AccessDenied), 5 times"},
		{"checkpoint", asked("PUT", "/checkpoints/", 507, "InsufficientStorage"), start,
			"result file checkpoints/1.state could not be stored: the object store refuses it (InsufficientStorage), 5 times; the last finished collective is "},
		{"result file", asked("PUT", "-rank-completion-", 400, "KeyTooLongError"), func() string { return w.submit("publish") },
			"result file publish-rank-completion-0.csv could not be stored: the object store refuses it (KeyTooLongError), 5 times; the last finished collective is "},
		{"receipt", asked("PUT", "/receipt.json", 403, "QuotaExceeded"), func() string { return w.submit("receipt") },
			"result file receipt.json could not be stored: the object store refuses it (QuotaExceeded), 5 times; the last finished collective is "},
		{"manifest", asked("PUT", "/manifest.json", 403, "AccessDenied"), start,
			"result file manifest.json could not be stored: the object store refuses it (AccessDenied), 5 times; the last finished collective is "},
	} {
		w.g.set(c.answer)
		id := c.start()
		w.over(id, c.reason)
		w.g.set(nil)
		if t.Failed() {
			t.Fatalf("of the case %s", c.name)
		}
	}
	if s := w.ended(w.submit("last")); s["status"] != "completed" {
		t.Errorf("after that a run is %v: %v", s["status"], s["failureReason"])
	}
}

// TestAStoreIsDown: a run waits for a store that is down for less than its
// patience, as if nothing had been, and fails when it is down for longer.
func TestAStoreIsDown(t *testing.T) {
	t.Parallel()
	down := asked("PUT", "/results/", 503, "ServiceUnavailable")
	w := newStoreWorld(t, time.Minute)
	failures := 0
	w.g.set(func(r *http.Request) (int, string) {
		status, code := down(r)
		if status != 0 {
			if failures++; failures > 6 { // more than the client repeats by itself
				return 0, ""
			}
		}
		return status, code
	})
	id := w.submit("patient")
	if s := w.ended(id); s["status"] != "completed" {
		t.Errorf("it is %v: %v", s["status"], s["failureReason"])
	}
	log := w.user.Get("/api/v1/simulations/" + id + "/logs?level=warn").Want(200)
	if !strings.Contains(string(log.Body), "could not be stored: the object store does not answer as it should; it is tried again") {
		t.Errorf("the log does not say what the run waited for: %s", log.Body)
	}

	impatient := newStoreWorld(t, time.Millisecond)
	impatient.g.set(down)
	id = impatient.submit("impatient")
	impatient.over(id, "result file impatient-topology-report-0.csv could not be stored: the object store does not answer as it should, for 1ms; the last finished collective is none")
}

// TestNamesOfAnyLength: a run completes whatever its name is, of all lengths and
// characters that the rule of names accepts, and its files can be listed by
// record and downloaded.
func TestNamesOfAnyLength(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "100000")
	user := p.User(t, account)
	const characters = "aZ0*_-"
	for _, length := range []int{1, 2, 199, 200, 201, 226, 227, 228, 254, 255} {
		for kind, name := range map[string]string{
			"letters": strings.Repeat("n", length),
			"stars":   "s" + strings.Repeat("*", length-1),
			"all":     strings.Repeat(characters, 43)[:length],
		} {
			submission := simpleSubmission(8)
			submission["name"] = name
			id := text(t, user.Post("/api/v1/simple/simulations", submission).Want(202), "simulationId")
			s := user.Eventually("/api/v1/simulations/"+id, func(r servicetest.Reply) bool {
				status := r.Want(200).Object()["status"]
				return status == "completed" || status == "failed"
			}).Object()
			if s["status"] != "completed" || s["name"] != name {
				t.Errorf("%d %s: it is %v: %v", length, kind, s["status"], s["failureReason"])
				continue
			}
			want := strings.ReplaceAll(name, "*", "_")
			want = want[:min(len(want), 200)] + "-perf-0.csv"
			found := user.Get("/api/v1/simulations/" + id + "/results?metrics=perf").Want(200)
			if !strings.Contains(string(found.Body), `"`+want+`"`) {
				t.Errorf("%d %s: the files of perf are %s", length, kind, found.Body)
			}
			user.Get("/api/v1/simulations/" + id + "/results/download-url?fileName=" + url.QueryEscape(want)).Want(200)
		}
	}
}
