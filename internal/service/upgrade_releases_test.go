//go:build upgrade

package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"netsim/events"
	"netsim/infra/devissuer"
	"netsim/infra/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// TestARollingUpgrade replaces the processes of the previous release (NETSIM_PREVIOUS, a
// binary) one by one with those of this one, back, and forward again, while clients write
// through both, read what they wrote through both, and follow lists across both. No request
// fails but with 429 or 503 and Retry-After. Before the level is raised, both releases find
// that the read model is what a replay gives. Afterwards the previous release does not
// start.
func TestARollingUpgrade(t *testing.T) { //nolint:paralleltest // it is the only one
	previous := os.Getenv("NETSIM_PREVIOUS")
	if previous == "" {
		t.Fatal("NETSIM_PREVIOUS names no binary of the previous release: .ci/upgrade/run builds it")
	}
	d := newDeployment(t)
	this := d.binary
	d.env = append(d.env, "NETSIM_WRITER_KEYS="+strings.Repeat("01", 32), "NETSIM_DRAIN=0s")
	u := &upgrade{deployment: d, running: map[string][]*deployment{}}

	d.binary = previous
	d.tool("migrate")
	d.env = append(d.env, "NETSIM_MIGRATE=false")
	for _, roles := range []string{"projector", "reactor", "worker", "api", "api"} {
		u.begin(previous, roles)
	}
	load := u.load(8)
	load.progress(100)

	d.binary = this
	if said := d.refused("serve"); !strings.Contains(said, "run netsim migrate of this release first") {
		t.Errorf("this release on tables of the previous one says %q, want what to run", said)
	}
	d.env = withSetting(d.env, "NETSIM_MIGRATE=true")
	d.tool("migrate")
	d.env = withSetting(d.env, "NETSIM_MIGRATE=false")
	load.progress(100) // the previous release works with the tables of this one

	u.replaceAll(this, load, func() {
		if said := d.refused("upgrade", "finish"); !strings.Contains(said, "processes of an older release run") {
			t.Errorf("upgrade finish says %q while the previous release runs, want a refusal", said)
		}
	})
	u.replaceAll(previous, load, func() {}) // the level is not raised: back
	u.replaceAll(this, load, func() {})
	load.check()
	u.compare(previous, this)

	if said := d.output("upgrade", "finish"); !strings.Contains(said, fmt.Sprintf("is at level %d now", events.Level)) {
		t.Errorf("upgrade finish says %q", said)
	}
	var status struct {
		Level   int
		Members []struct{ Level int }
	}
	if err := json.Unmarshal([]byte(d.output("upgrade", "status", "--json")), &status); err != nil || status.Level != events.Level {
		t.Errorf("the status is %+v (%v), want level %d", status, err, events.Level)
	}
	if len(status.Members) != 5 {
		t.Errorf("the status has %d processes, want the 5 that run", len(status.Members))
	}
	u.refusePrevious(previous)

	again := u.load(8)
	again.progress(100)
	again.check()
	u.compare(this)
}

// upgrade is a deployment whose roles run in processes of their own.
type upgrade struct {
	*deployment
	running map[string][]*deployment // by role

	mu     sync.Mutex
	routed []*deployment // the processes with the role api that get requests
}

// withSetting returns the environment with another value of a setting.
func withSetting(env []string, setting string) []string {
	return append(env[:len(env):len(env)], setting)
}

// begin starts a process of a release, and routes requests to it if it has the role api.
func (u *upgrade) begin(binary, roles string) {
	u.t.Helper()
	u.binary = binary
	p := u.beside(roles)
	u.running[roles] = append(u.running[roles], p)
	if roles == "api" {
		u.mu.Lock()
		u.routed = append(u.routed, p)
		u.mu.Unlock()
	}
}

// end takes the oldest process of a role out of the routing, and ends it in an orderly way.
func (u *upgrade) end(roles string) {
	u.t.Helper()
	p := u.running[roles][0]
	u.running[roles] = u.running[roles][1:]
	u.mu.Lock()
	for i := range u.routed {
		if u.routed[i] == p {
			u.routed = append(u.routed[:i:i], u.routed[i+1:]...)
			break
		}
	}
	u.mu.Unlock()
	p.signal(syscall.SIGTERM)
	testwait.Receive(u.t, p.ended, "the process with the role "+roles+" to end")
	if !p.child.ProcessState.Success() {
		u.t.Errorf("the process with the role %s ended with %v, want 0", roles, p.child.ProcessState)
	}
}

// replaceAll replaces all processes one by one. It calls mixed while processes of two
// releases answer requests.
func (u *upgrade) replaceAll(binary string, load *load, mixed func()) {
	u.t.Helper()
	for i, roles := range []string{"projector", "reactor", "worker", "api", "api"} {
		u.begin(binary, roles)
		load.progress(25)
		if i == 3 {
			mixed()
		}
		u.end(roles)
		load.progress(25)
	}
}

// fronts returns the processes that get requests.
func (u *upgrade) fronts() []*deployment {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]*deployment(nil), u.routed...)
}

// compare verifies with the tools of each release that the live read model is what a replay
// gives, that nothing is parked, and that all get the same digests. Nothing writes
// meanwhile.
func (u *upgrade) compare(binaries ...string) {
	u.t.Helper()
	waitUntilQuiet(u.t, u.broker.Addr, "netsim.", u.postgres.URL)
	u.billed()
	var parked int
	u.query(`SELECT count(*) FROM readmodel.parked`, &parked)
	if parked != 0 {
		u.t.Errorf("%d facts are parked, want none", parked)
	}
	var digest string
	for i, binary := range binaries {
		u.binary = binary
		replayed := fmt.Sprint("replayed", i)
		u.tool("readmodel", "rebuild", "--once", replayed)
		u.tool("readmodel", "diff", replayed)
		u.tool("readmodel", "drop", replayed)
		got := u.output("readmodel", "digest")
		if digest != "" && got != digest {
			u.t.Errorf("the releases get different digests:\n%s\n%s", digest, got)
		}
		digest = got
	}
}

// refusePrevious starts the previous release in each role. It must end with one sentence
// and take nothing.
func (u *upgrade) refusePrevious(previous string) {
	u.t.Helper()
	sentence := regexp.MustCompile(fmt.Sprintf(`^netsim: the read model was made by another release: schema readmodel has form [0-9a-f]{16}, level %d, this release needs form `, events.Level))
	for _, roles := range []string{"api", "projector", "reactor", "worker", "publisher", "lake", "api,projector,reactor,worker"} {
		const taken = `SELECT (SELECT coalesce(string_agg(format('%s %s %s %s', subscriber, shard, holder, epoch), ',' ORDER BY subscriber, shard), '') FROM facts.leases)
			|| (SELECT coalesce(string_agg(subscriber || process, ',' ORDER BY subscriber, process), '') FROM facts.members)
			|| (SELECT coalesce(max(id), 0) FROM jobs.river_job WHERE kind <> 'nothing')`
		var before, after string
		u.query(taken, &before)
		c := exec.CommandContext(u.t.Context(), previous, "serve")
		c.Env = append(u.env[:len(u.env):len(u.env)], "NETSIM_HTTP=127.0.0.1:0", "NETSIM_OPS=127.0.0.1:0", "NETSIM_ROLES="+roles)
		out, err := testwait.Call(u.t, func() ended {
			out, err := c.CombinedOutput()
			return ended{string(out), err}
		}, "the previous release to end").values()
		if err == nil || strings.Count(strings.TrimSpace(out), "\n") != 0 || !sentence.MatchString(out) {
			u.t.Errorf("the previous release with the roles %s: %v, %q; want one sentence about the level", roles, err, out)
		}
		if u.query(taken, &after); after != before {
			u.t.Errorf("the previous release with the roles %s changed leases or members from %q to %q", roles, before, after)
		}
	}
}

type ended struct {
	out string
	err error
}

func (e ended) values() (string, error) { return e.out, e.err }

// load is clients that create, rename and read workspaces, list them page by page, and
// submit simulations, each step through a process that may be of another release.
type load struct {
	*upgrade
	token   string
	all     sync.WaitGroup
	done    chan struct{}
	acks    atomic.Int64
	retried atomic.Int64
	pages   atomic.Int64
	mu      sync.Mutex
	names   map[string]string // of workspaces, by id
	runs    []string          // simulations
}

func (u *upgrade) load(clients int) *load {
	l := &load{upgrade: u, done: make(chan struct{}), names: map[string]string{}}
	l.token = teststack.Issuer(u.t).Token(devissuer.Options{Service: true, User: "writer", Account: "acct_0000000000e008000000000001"})
	began := events.NewID("load")
	for n := range clients {
		l.all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-l.done:
					return
				default:
					l.journey(fmt.Sprintf("%s-%d-%d", began, n, i), i)
				}
			}
		})
	}
	return l
}

// journey is what a client does: each request goes to the next process.
func (l *load) journey(name string, turn int) {
	var made struct{ ID string }
	token := l.send(turn, http.MethodPost, "/api/v1/workspaces", name, map[string]any{"name": name}, http.StatusCreated, &made, "")
	if made.ID == "" {
		return // reported
	}
	path := "/api/v1/workspaces/" + made.ID
	renamed := name + " renamed"
	token = l.send(turn+1, http.MethodPatch, path, name+"-rename", map[string]any{"name": renamed}, http.StatusOK, nil, token)
	for i := range 2 { // without and with the token of the write, through two processes
		var read struct{ Name string }
		l.send(turn+i, http.MethodGet, path, "", nil, http.StatusOK, &read, []string{"", token}[i])
		if read.Name != renamed {
			l.t.Errorf("the acknowledged name %q of %s is read as %q", renamed, made.ID, read.Name)
		}
	}
	if turn%8 == 0 {
		l.list(turn)
	}
	if turn%64 == 0 {
		var run struct{ SimulationID string }
		l.send(turn, http.MethodPost, "/api/v1/simple/simulations", name+"-run", simpleSubmission(8), http.StatusAccepted, &run, "")
		l.mu.Lock()
		l.runs = append(l.runs, run.SimulationID)
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.names[made.ID] = renamed
	l.mu.Unlock()
	l.acks.Add(1)
}

// list reads three pages, each through another process: a cursor of one release goes on at
// the other.
func (l *load) list(turn int) {
	cursor := ""
	for i := range 3 {
		path := "/api/v1/workspaces?limit=1"
		if cursor != "" {
			path += "&next=" + cursor
		}
		var page struct{ Pagination struct{ NextCursor string } }
		l.send(turn+i, http.MethodGet, path, "", nil, http.StatusOK, &page, "")
		if cursor = page.Pagination.NextCursor; cursor == "" {
			return
		}
		l.pages.Add(1)
	}
}

// send sends a request until it is answered with the status. It returns the reply's
// Consistency-Token. A reply of 429 or 503 with Retry-After is repeated, with the same
// Idempotency-Key; anything else fails the test.
func (l *load) send(turn int, method, path, key string, body any, want int, into any, token string) string {
	content, err := json.Marshal(body)
	if err != nil {
		l.t.Error(err)
		return ""
	}
	for attempt := 0; ; attempt++ {
		fronts := l.fronts()
		front := fronts[(turn+attempt)%len(fronts)]
		var reader io.Reader
		if body != nil {
			reader = bytes.NewReader(content)
		}
		r, err := http.NewRequestWithContext(context.WithoutCancel(l.t.Context()), method, front.url+path, reader)
		if err != nil {
			l.t.Error(err)
			return ""
		}
		r.Header.Set("Authorization", "Bearer "+l.token)
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("Idempotency-Key", strings.ReplaceAll(key, " ", "-"))
		}
		if token != "" {
			r.Header.Set("Consistency-Token", token)
		}
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			if l.stillRouted(front) {
				l.t.Errorf("%s %s: %v", method, path, err)
				return ""
			}
			l.retried.Add(1) // the connection of a process that was just taken out of the routing
			continue
		}
		answer, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		switch {
		case err == nil && reply.StatusCode == want:
			if into != nil {
				if err := json.Unmarshal(answer, into); err != nil {
					l.t.Errorf("%s %s: %v", method, path, err)
				}
			}
			return reply.Header.Get("Consistency-Token")
		case err == nil && (reply.StatusCode == http.StatusServiceUnavailable || reply.StatusCode == http.StatusTooManyRequests) && reply.Header.Get("Retry-After") != "":
			l.retried.Add(1)
		default:
			l.t.Errorf("%s %s is answered with %d (%v), want %d or what can be repeated: %s", method, path, reply.StatusCode, err, want, answer)
			return ""
		}
	}
}

func (l *load) stillRouted(p *deployment) bool {
	for _, front := range l.fronts() {
		if front == p {
			return true
		}
	}
	return false
}

// progress waits until n more journeys have ended.
func (l *load) progress(n int64) {
	l.t.Helper()
	want := l.acks.Load() + n
	testworld.Await(l.t, func() bool { return l.acks.Load() >= want })
}

// check stops the clients, and verifies that everything acknowledged is present once and
// that every simulation ends.
func (l *load) check() {
	l.t.Helper()
	close(l.done)
	testwait.Group(l.t, &l.all, "the clients")
	if l.pages.Load() == 0 {
		l.t.Error("no list was continued with a cursor")
	}
	l.t.Logf("%d journeys, %d simulations, %d continued pages, %d repeated requests", l.acks.Load(), len(l.runs), l.pages.Load(), l.retried.Load())
	found := l.workspaces()
	for id, name := range l.names {
		if ids := found[name]; len(ids) != 1 || ids[0] != id {
			l.t.Errorf("%s was acknowledged with the id %s, but the read model has %v", name, id, ids)
		}
	}
	for _, id := range l.runs {
		testworld.Await(l.t, func() (completed bool) {
			l.query(`SELECT EXISTS (SELECT FROM readmodel.simulations WHERE id = '`+id+`' AND status = 'completed')`, &completed)
			return completed
		})
	}
}
