package faults_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
	"netsim/stream/archive"
	"netsim/stream/export"
)

// archived reports whether an archive has every record that a log has now.
func archived(t *testing.T, broker, dir string, keys ...string) bool {
	t.Helper()
	log, err := eventlog.Open(t.Context(), eventlog.Config{Brokers: []string{broker}, Relaxed: true, Beside: []string{"netsim.poison"}})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	d, err := log.DescribeAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, damage, err := archive.Open(t.Context(), &export.Directory{Path: dir}, keys)
	if err != nil || len(damage) > 0 {
		return false // it is being written
	}
	topics, err := a.Topics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]int64{}
	for _, topic := range topics {
		for _, end := range topic.Ends {
			has[string(topic.Family)] += end
		}
	}
	for _, topic := range d.Topics {
		for _, p := range topic.Partitions {
			has[string(topic.Family)] -= p.End
		}
	}
	for _, behind := range has {
		if behind < 0 {
			return false
		}
	}
	return true
}

// TestAnArchiveFollowsTheLog: the role archiver and the command archive what is written
// while they run. A killed one is continued by another process, and of two processes
// with the role one archives.
func TestAnArchiveFollowsTheLog(t *testing.T) {
	d := newDeployment(t)
	key, byRole, byCommand := newAuditKey(t), filepath.Join(t.TempDir(), "role"), filepath.Join(t.TempDir(), "command")
	d.env = append(d.env, "NETSIM_AUDIT_KEY="+key, "NETSIM_ARCHIVE="+byRole, "NETSIM_ARCHIVE_EVERY=100ms")
	d.start()
	verifier := publicKey(t, key)
	first := d.beside("archiver")
	command := d.running("log", "archive", "--to", byCommand, "--follow", "--every", "10ms")
	w := startWriters(t, d.url, 2)
	w.progress(20)
	command.awaitLine("20")
	first.kill()
	second := d.beside("archiver")
	d.beside("archiver")
	w.progress(20)
	w.stop()
	servicetest.AwaitQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)
	for _, dir := range []string{byRole, byCommand} {
		testworld.Await(t, func() bool { return archived(t, d.broker.Addr, dir, verifier) })
	}
	if err := command.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	command.wait()
	for _, dir := range []string{byRole, byCommand} {
		if said := d.output("audit", "verify", "--archive", dir); !strings.Contains(said, "agrees, but its end may have been cut off") {
			t.Errorf("the verification of %s says\n%s", dir, said)
		}
	}
	text := servicetest.Scrape(t, second.ops)
	for _, want := range []string{"netsim_archive_lag_seconds ", "netsim_archive_writing ", "netsim_archive_failures_total "} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("/metrics has no %s", want)
		}
	}
	for name, env := range map[string]string{"NETSIM_ARCHIVE": "NETSIM_ARCHIVE=", "NETSIM_AUDIT_KEY": "NETSIM_AUDIT_KEY="} {
		wrong := *d
		wrong.env = append(d.env[:len(d.env):len(d.env)], "NETSIM_ROLES=archiver", env)
		if said := wrong.refused("serve"); !strings.Contains(said, name+" is not set: with the role archiver") {
			t.Errorf("without %s the service says %q", name, said)
		}
	}
}

// TestAMirrorFollowsTheLog: a mirror that runs beside the service copies what is written,
// ends at SIGTERM, and is finished later.
func TestAMirrorFollowsTheLog(t *testing.T) {
	d := newDeployment(t)
	fresh := teststack.Start(t, teststack.BrokerPart(), t.TempDir())
	d.start()
	onFresh := *d
	onFresh.env = append(d.env[:len(d.env):len(d.env)], "NETSIM_KAFKA="+fresh.Addr)
	mirror := onFresh.running("log", "mirror", d.broker.Addr, "--follow", "--every", "10ms")
	w := startWriters(t, d.url, 2)
	for range 3 {
		w.progress(5)
		mirror.awaitLine("") // records were appended
	}
	w.stop()
	servicetest.AwaitQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)
	if err := mirror.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	mirror.wait()
	d.kill()
	if said := onFresh.output("log", "mirror", d.broker.Addr, "--finish"); !strings.Contains(said, "are the same, digest ") {
		t.Errorf("the mirror says\n%s", said)
	}
}

// TestAnArchiveAfterASuccession: a new audit key continues an archive when its operator
// names the old key, and the archive is verified and restored with the new one.
func TestAnArchiveAfterASuccession(t *testing.T) {
	d := newDeployment(t)
	old, next, dir := newAuditKey(t), newAuditKey(t), filepath.Join(t.TempDir(), "archive")
	d.env = append(d.env, "NETSIM_AUDIT_KEY="+old)
	d.start()
	w := &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	if _, status := w.send("one"); status != http.StatusCreated {
		t.Fatalf("a write is answered with %d, want 201", status)
	}
	d.tool("audit", "checkpoint", "--name", "of-the-old-key")
	d.tool("log", "archive", "--to", dir)
	d.env = append(d.env, "NETSIM_AUDIT_KEY="+next)
	d.tool("audit", "key", "--succeed", old)
	if said := d.refused("log", "archive", "--to", dir); !strings.Contains(said, "is not signed by") {
		t.Errorf("the archive of another key is continued: %q", said)
	}
	d.tool("log", "archive", "--to", dir, "--trust", publicKey(t, old))
	d.tool("log", "archive", "--to", dir)
	if said := d.output("audit", "verify", "--archive", dir, "--key", publicKey(t, next)); !strings.Contains(said, "everything that is there agrees") {
		t.Errorf("the verification says\n%s", said)
	}
	// What an archiver left that was killed, or that was slower than another one.
	garbage := filepath.Join(dir, "000000000001-"+strings.Repeat("0", 32)+".zst")
	if err := os.WriteFile(garbage, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"log", "sweep", dir, "--dry-run"}, {"log", "sweep", dir, "--key", publicKey(t, next)}, {"log", "sweep", dir}} {
		_, before := os.Stat(garbage)
		said := d.output(args...)
		_, after := os.Stat(garbage)
		dry := len(args) == 4 && args[3] == "--dry-run"
		want := map[bool]string{true: "1 files ", false: "0 files removed, 0 kept"}[before == nil]
		if !strings.Contains(said, want) || (after == nil) != dry {
			t.Errorf("%v says %q, and the file is there: %v", args, said, after == nil)
		}
	}
	if said := d.refused("audit", "verify", "--archive", dir, "--key", publicKey(t, newAuditKey(t))); !strings.Contains(said, "cannot be trusted") {
		t.Errorf("the verification with an unknown key says\n%s", said)
	}
	d.kill()
	fresh := teststack.Start(t, teststack.BrokerPart(), t.TempDir())
	d.env = append(d.env, "NETSIM_KAFKA="+fresh.Addr)
	if said := d.refused("log", "restore", dir, "--key", publicKey(t, newAuditKey(t))); !strings.Contains(said, "cannot be trusted") {
		t.Errorf("the restore with an unknown key says\n%s", said)
	}
	d.tool("log", "restore", dir, "--key", publicKey(t, next))
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := d.refused("audit", "verify", "--archive", dir); !strings.Contains(said, "FOUND x is not of the archive") {
		t.Errorf("the verification of a damaged archive says\n%s", said)
	}
}
