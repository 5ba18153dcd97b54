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

	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
)

// gateway is a proxy in front of the object store that answers some requests itself.
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
		r.Out.Host = r.In.Host // the signature includes the host
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

// refusing answers requests with the method whose path contains part, except deletions of
// several objects.
func refusing(method, part string, status int, code string) func(*http.Request) (int, string) {
	return func(r *http.Request) (int, string) {
		if r.Method == method && strings.Contains(r.URL.Path, part) && !r.URL.Query().Has("delete") {
			return status, code
		}
		return 0, ""
	}
}

// storeWorld is a service with a gateway to the object store, and an account.
type storeWorld struct {
	t       *testing.T
	p       *servicetest.Program
	g       *gateway
	account string
	user    *servicetest.Client
	service *servicetest.Client
}

func newStoreWorld(t *testing.T, timeout time.Duration, options ...func(*settings.Config)) *storeWorld {
	t.Helper()
	w := &storeWorld{t: t, account: servicetest.NewAccount()}
	w.p = servicetest.Start(t, append(options, func(c *settings.Config) {
		w.g = startGateway(t, c.S3Endpoint)
		c.S3Endpoint, c.StoreTimeout = w.g.URL, timeout
		c.RunCheckpoint = time.Millisecond // for runs with engine snapshots
	})...)
	w.p.Grant(t, w.account, "100000")
	w.user, w.service = w.p.User(t, w.account), w.p.Service(t, w.account)
	return w
}

// submit starts a run of about 100 ms that writes all kinds of files.
func (w *storeWorld) submit(name string) string {
	w.t.Helper()
	return w.user.Post("/api/v1/simple/simulations", object{"name": name, "workload": object{
		"ranks": 32, "phases": []object{{"operationType": "allToAll", "dataSize": 1 << 20}},
	}}).Want(202).Text("simulationId")
}

func (w *storeWorld) ended(id string) object {
	w.t.Helper()
	return w.user.Eventually("/api/v1/simulations/"+id, func(r servicetest.Reply) bool {
		status := r.Want(200).Object()["status"]
		return status != "validating" && status != "provisioning" && status != "running"
	}).Object()
}

// checkFailed checks that the run has failed for the reason, that its log has the reason, and
// that its costs have stopped: its billing item is closed at its end, and its credit
// hold is released.
func (w *storeWorld) checkFailed(id, reason string) {
	t := w.t
	t.Helper()
	s := w.ended(id)
	got, _ := s["failureReason"].(string)
	if s["status"] != "failed" || !strings.HasPrefix(got, reason) {
		t.Fatalf("the run is %v: %v, want failed: %s", s["status"], got, reason)
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
		return s["startedAt"] == nil // a run that has not started costs nothing
	})
	w.released(id)
}

// released waits until no credit is held for the simulation.
func (w *storeWorld) released(id string) {
	t := w.t
	t.Helper()
	servicetest.AwaitSQL(t, w.p.Config.Postgres, `SELECT released_at IS NOT NULL FROM readmodel.credit_holds WHERE simulation_id = $1`, id)
}

// TestAStoreRefusesARun: a run fails with the reason, and its costs stop, when the object
// store refuses its inputs, result files, engine snapshots or manifest.
func TestAStoreRefusesARun(t *testing.T) {
	t.Parallel()
	w := newStoreWorld(t, time.Hour)
	first := w.submit("first")
	if s := w.ended(first); s["status"] != "completed" {
		t.Fatalf("with a working store the run is %v: %v", s["status"], s["failureReason"])
	}
	start := func() string {
		return w.user.Post("/api/v1/simulations", object{
			"configurationId": events.DerivedID(events.ConfigurationPrefix, first), "name": "again", "duration": "10s",
			"checkpointing": object{"enabled": true, "interval": "10s"},
		}).Want(201).Text("id")
	}
	for _, c := range []struct {
		name   string
		answer func(*http.Request) (int, string)
		start  func() string
		reason string
	}{
		{"stage", refusing("GET", "/libraries/", 403, "AccessDenied"), func() string { return w.submit("stage") },
			"inputs could not be staged: the object store refuses it (AccessDenied), 5 times"},
		{"checkpoint", refusing("PUT", "/checkpoints/", 507, "InsufficientStorage"), start,
			"result file checkpoints/1.state could not be stored: the object store refuses it (InsufficientStorage), 5 times; the last finished collective is "},
		{"result file", refusing("PUT", "-rank-completion-", 400, "KeyTooLongError"), func() string { return w.submit("publish") },
			"result file publish-rank-completion-0.csv could not be stored: the object store refuses it (KeyTooLongError), 5 times; the last finished collective is "},
		{"receipt", refusing("PUT", "/receipt.json", 403, "QuotaExceeded"), func() string { return w.submit("receipt") },
			"result file receipt.json could not be stored: the object store refuses it (QuotaExceeded), 5 times; the last finished collective is "},
		{"manifest", refusing("PUT", "/manifest.json", 403, "AccessDenied"), start,
			"result file manifest.json could not be stored: the object store refuses it (AccessDenied), 5 times; the last finished collective is "},
	} {
		w.g.set(c.answer)
		id := c.start()
		w.checkFailed(id, c.reason)
		w.g.set(nil)
		if t.Failed() {
			t.Fatalf("the case %s failed", c.name)
		}
	}
	if s := w.ended(w.submit("last")); s["status"] != "completed" {
		t.Errorf("after the refusals a run is %v: %v", s["status"], s["failureReason"])
	}
}

// TestAStoreIsDown: a run waits while the object store is down, and completes when the
// store is back within the timeout. When the store is down for longer, the run fails.
func TestAStoreIsDown(t *testing.T) {
	t.Parallel()
	down := refusing("PUT", "/results/", 503, "ServiceUnavailable")
	w := newStoreWorld(t, time.Hour)
	failures := 0
	w.g.set(func(r *http.Request) (int, string) {
		status, code := down(r)
		if status != 0 {
			if failures++; failures > 6 { // more than the client's own retries
				return 0, ""
			}
		}
		return status, code
	})
	id := w.submit("patient")
	if s := w.ended(id); s["status"] != "completed" {
		t.Errorf("the run is %v: %v", s["status"], s["failureReason"])
	}
	log := w.user.Get("/api/v1/simulations/" + id + "/logs?level=warn").Want(200)
	if !strings.Contains(string(log.Body), "could not be stored: the object store does not answer as it should; it is tried again") {
		t.Errorf("the log does not say that the run waited for the object store: %s", log.Body)
	}

	impatient := newStoreWorld(t, time.Millisecond)
	impatient.g.set(down)
	id = impatient.submit("impatient")
	impatient.checkFailed(id, "result file impatient-topology-report-0.csv could not be stored: the object store does not answer as it should, for 1ms; the last finished collective is none")
}

// TestNamesOfAnyLength: a run completes with names of every allowed length and character,
// and its files can be listed by metric and downloaded.
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
			submission := servicetest.SimpleSubmission(8)
			submission["name"] = name
			id := user.Post("/api/v1/simple/simulations", submission).Want(202).Text("simulationId")
			s := user.Eventually("/api/v1/simulations/"+id, func(r servicetest.Reply) bool {
				status := r.Want(200).Object()["status"]
				return status == "completed" || status == "failed"
			}).Object()
			if s["status"] != "completed" || s["name"] != name {
				t.Errorf("%d %s: the run is %v: %v", length, kind, s["status"], s["failureReason"])
				continue
			}
			want := strings.ReplaceAll(name, "*", "_")
			want = want[:min(len(want), 200)] + "-perf-0.csv"
			found := user.Get("/api/v1/simulations/" + id + "/results?metrics=perf").Want(200)
			if !strings.Contains(string(found.Body), `"`+want+`"`) {
				t.Errorf("%d %s: the perf files are %s, want %s", length, kind, found.Body, want)
			}
			user.Get("/api/v1/simulations/" + id + "/results/download-url?fileName=" + url.QueryEscape(want)).Want(200)
		}
	}
}
