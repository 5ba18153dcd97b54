//go:build upgrade

package faults_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netsim/internal/testwait"
)

// TestAChangedReadModel goes from this release to one with another read model, back, and
// forward again, while clients write through both and read what they wrote through both.
// Processes of the release whose read model is not live go on serving theirs. No request
// fails, and none misses what was acknowledged.
func TestAChangedReadModel(t *testing.T) {
	d := newDeployment(t)
	this, next := d.binary, nextRelease(t)
	d.env = append(d.env, "NETSIM_WRITER_KEYS="+strings.Repeat("01", 32), "NETSIM_DRAIN=0s", "NETSIM_LOG_LEVEL=WARN")
	u := &upgrade{deployment: d, running: map[string][]*deployment{}}
	d.tool("migrate")
	d.env = append(d.env, "NETSIM_MIGRATE=false")
	roles := []string{"projector", "reactor", "worker", "api", "api"}
	for _, role := range roles {
		u.begin(this, role)
	}
	load := u.load(8)
	load.progress(30)

	u.binary = next
	d.tool("migrate")
	follower := d.running("readmodel", "rebuild", "next")
	d.awaitSchema("next")
	waiting := map[string]*deployment{"projector": d.launched("projector"), "api": d.launched("api")}
	load.progress(15)
	d.tool("readmodel", "promote", "next")
	follower.wait()
	for _, role := range []string{"projector", "api"} {
		waiting[role].awaitReady()
		u.route(waiting[role], role)
	}
	load.progress(30)
	first := u.superseded()
	if said := d.refused("readmodel", "drop", first); !strings.Contains(said, "serve it") {
		t.Errorf("drop of a read model that is served says %q, want a refusal", said)
	}
	u.begin(this, "projector") // while its read model is superseded
	u.end("projector")
	load.progress(15)
	u.replaceAs(next, load, "reactor", "worker")
	u.begin(next, "api")
	u.end("api")
	u.end("api")
	u.begin(next, "projector")
	u.end("projector")
	u.end("projector") // the last process of this release
	load.progress(15)

	u.begin(this, "projector") // back, while the read model of the next release is live
	u.replaceAs(this, load, "reactor", "worker", "api", "api")
	u.binary = this
	d.tool("readmodel", "promote", first)
	load.progress(15)
	u.end("projector")
	load.progress(15)
	second := u.superseded()
	if second == first {
		t.Errorf("after the way back %s is superseded", second)
	}

	u.begin(next, "projector") // forward again
	u.begin(next, "api")
	load.progress(15)
	u.binary = next
	d.tool("readmodel", "promote", second)
	load.progress(30)
	u.end("api")
	u.end("api")
	u.replaceAs(next, load, "reactor", "worker")
	u.end("projector")
	load.check()
	u.binary = next
	d.tool("readmodel", "drop", first)
	u.compare(next)
}

// superseded returns the only superseded read model.
func (u *upgrade) superseded() (name string) {
	u.t.Helper()
	u.query(`SELECT coalesce(string_agg(nspname, ' '), '') FROM pg_namespace WHERE nspname ~ '^readmodel_[0-9a-f]{16}$'`, &name)
	if name == "" || strings.Contains(name, " ") {
		u.t.Fatalf("the superseded read models are %q, want one", name)
	}
	return name
}

// replaceAs replaces a process of each role by one of a release.
func (u *upgrade) replaceAs(binary string, load *load, roles ...string) {
	u.t.Helper()
	for _, role := range roles {
		u.begin(binary, role)
		load.progress(10)
		u.end(role)
	}
}

// nextRelease builds a release whose read model has one column more.
func nextRelease(t *testing.T) (binary string) {
	t.Helper()
	dir := t.TempDir()
	original, err := filepath.Abs("../../projections/workspaces.sql")
	if err != nil {
		t.Fatal(err)
	}
	statements, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	changed, overlay := filepath.Join(dir, "workspaces.sql"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		changed: append(statements, "\nALTER TABLE workspaces ADD COLUMN added int NOT NULL DEFAULT 7;\n"...), overlay: text,
	} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary = filepath.Join(dir, "netsim")
	build := exec.Command("go", "build", "-overlay", overlay, "-o", binary, "netsim/cmd/netsim")
	out, err := testwait.Call(t, func() ended {
		out, err := build.CombinedOutput()
		return ended{string(out), err}
	}, "the build of the next release").values()
	if err != nil {
		t.Fatalf("build the next release: %v\n%s", err, out)
	}
	return binary
}
