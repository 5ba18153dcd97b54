//go:build upgrade

package faults_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// TestARollingUpgrade replaces the processes of the previous release (NETSIM_PREVIOUS, a
// binary) one by one with those of this one, back, and forward again, while clients write
// through both, read what they wrote through both, and follow lists across both. No request
// fails but with 429 or 503 and Retry-After. Before the level is raised, both releases find
// that the read model is what a replay gives. Afterwards the previous release does not
// start.
//
// If this release has another read model, the processes of each release end when the read
// model of the other one is promoted, because the previous release does not know superseded
// read models. Requests that fail at that moment are repeated.
func TestARollingUpgrade(t *testing.T) { //nolint:paralleltest // one at a time
	d := newDeployment(t)
	rollingUpgrade(t, d, d.binary)
}

// TestARollingUpgradeWithAChangedReadModel is TestARollingUpgrade to a release that surely
// has another read model.
func TestARollingUpgradeWithAChangedReadModel(t *testing.T) { //nolint:paralleltest // one at a time
	rollingUpgrade(t, newDeployment(t), nextRelease(t))
}

func rollingUpgrade(t *testing.T, d *deployment, this string) {
	t.Helper()
	previous := os.Getenv("NETSIM_PREVIOUS")
	if previous == "" {
		t.Fatal("NETSIM_PREVIOUS names no binary of the previous release: .ci/upgrade/run builds it")
	}
	d.env = append(d.env, "NETSIM_WRITER_KEYS="+strings.Repeat("01", 32), "NETSIM_DRAIN=0s")
	u := &upgrade{deployment: d, running: map[string][]*deployment{}}

	d.binary = previous
	d.tool("migrate")
	d.env = append(d.env, "NETSIM_MIGRATE=false")
	for _, roles := range []string{"projector", "reactor", "worker", "api", "api"} {
		u.begin(previous, roles)
	}
	load := u.load(8)
	load.progress(50)

	d.binary = this
	if said := d.refused("serve"); !strings.Contains(said, "run netsim migrate of this release first") {
		t.Errorf("this release on tables of the previous one says %q, want what to run", said)
	}
	d.env = withSetting(d.env, "NETSIM_MIGRATE=true")
	d.tool(u.documented("migrate")...)
	d.env = withSetting(d.env, "NETSIM_MIGRATE=false")
	load.progress(50) // the previous release works with the tables of this one

	refused := func() {
		if said := d.refused("upgrade", "finish"); !strings.Contains(said, "processes of an older release run") {
			t.Errorf("upgrade finish says %q while the previous release runs, want a refusal", said)
		}
	}
	d.tool("readmodel", "rebuild", "--once", "next")
	changed := u.form("next") != u.form("readmodel")
	if changed {
		refused()
		before := "readmodel_" + strings.TrimPrefix(u.form("readmodel"), "form ")
		u.promoted(this, load, "next", true)
		u.promoted(previous, load, before, false) // the level is not raised: back
		u.promoted(this, load, "readmodel_before", true)
		load.check()
		u.compare(this)
	} else {
		d.tool("readmodel", "drop", "next")
		u.replaceAll(this, load, refused)
		u.replaceAll(previous, load, func() {}) // the level is not raised: back
		u.replaceAll(this, load, func() {})
		load.check()
		u.compare(previous, this)
	}

	if said := d.output(u.documented("upgrade", "finish")...); !strings.Contains(said, fmt.Sprintf("is at level %d now", events.Level)) {
		t.Errorf("upgrade finish says %q", said)
	}
	var status struct {
		Level   int
		Members []struct{ Level int }
	}
	d.tool(u.documented("upgrade", "status")...)
	if err := json.Unmarshal([]byte(d.output("upgrade", "status", "--json")), &status); err != nil || status.Level != events.Level {
		t.Errorf("the status is %+v (%v), want level %d", status, err, events.Level)
	}
	if len(status.Members) != 5 {
		t.Errorf("the status has %d processes, want the 5 that run", len(status.Members))
	}
	u.refusePrevious(previous)

	if !changed {
		u.binary = previous // whose tools remove the mark
		d.tool("readmodel", "rebuild", "--once", "unmarked")
		d.tool("readmodel", "promote", "unmarked")
		u.binary = this
		if said := d.output("upgrade", "finish"); !strings.Contains(said, "already is at level") {
			t.Errorf("upgrade finish says %q when it is repeated", said)
		}
		u.refusePrevious(previous)
	}

	again := u.load(8)
	again.progress(50)
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

// documented returns the arguments of a command of docs/upgrading.md.
func (u *upgrade) documented(args ...string) []string {
	u.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "upgrading.md"))
	if err != nil {
		u.t.Fatal(err)
	}
	if line := "   netsim " + strings.Join(args, " "); !slices.Contains(strings.Split(string(text), "\n"), line) {
		u.t.Errorf("docs/upgrading.md has no line %q", line)
	}
	return args
}

// withSetting returns the environment with another value of a setting.
func withSetting(env []string, setting string) []string {
	return append(env[:len(env):len(env)], setting)
}

// begin starts a process of a release, and routes requests to it if it has the role api.
func (u *upgrade) begin(binary, roles string) {
	u.t.Helper()
	u.binary = binary
	u.route(u.beside(roles), roles)
}

// route adds a process that is ready, and routes requests to it if it has the role api.
func (u *upgrade) route(p *deployment, roles string) {
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
		load.progress(15)
		if i == 3 {
			mixed()
		}
		u.end(roles)
		load.progress(15)
	}
}

// form returns the fingerprint of a read model.
func (u *upgrade) form(schema string) (form string) {
	u.t.Helper()
	u.query(`SELECT split_part(obj_description('`+schema+`'::regnamespace), ',', 1)`, &form)
	return form
}

// promoted promotes the read model of a release, which ends the processes that run, and goes
// on with processes of that release. With waiting they are started before.
func (u *upgrade) promoted(binary string, load *load, schema string, waiting bool) {
	u.t.Helper()
	u.binary = binary
	before, next := u.running, map[string][]*deployment{}
	launch := func() {
		for _, roles := range []string{"projector", "reactor", "worker", "api", "api"} {
			next[roles] = append(next[roles], u.launched(roles))
		}
	}
	if waiting {
		launch()
	}
	load.ending.Store(true)
	u.tool("readmodel", "promote", schema)
	for roles, all := range before {
		for _, p := range all {
			testwait.Receive(u.t, p.ended, "the process with the role "+roles+" to end")
		}
	}
	u.mu.Lock()
	u.routed = nil
	u.mu.Unlock()
	if !waiting {
		launch()
	}
	u.running = map[string][]*deployment{}
	for roles, all := range next {
		for _, p := range all {
			p.awaitReady()
			u.route(p, roles)
		}
	}
	load.ending.Store(false)
	load.progress(50)
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
	servicetest.AwaitQuiet(u.t, u.broker.Addr, "netsim.", u.postgres.URL)
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
