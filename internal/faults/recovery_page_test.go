package faults_test

import (
	"crypto/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netsim/infra/devissuer"
	"netsim/infra/eventlog"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// blocks returns the blocks of commands of docs/recovery.md below a heading.
func blocks(t *testing.T, heading string) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/recovery.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("docs/recovery.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var all []string
	for {
		_, rest, found := strings.Cut(section, "```sh\n")
		if !found {
			break
		}
		block, rest, _ := strings.Cut(rest, "```")
		all, section = append(all, block), rest
	}
	if len(all) == 0 {
		t.Fatalf("docs/recovery.md has no commands below %q", heading)
	}
	return all
}

// disaster is a deployment whose log is archived, and a new cluster.
type disaster struct {
	*deployment
	writers *writers
	dir     string // in which the commands run
	fresh   *teststack.Process
	archive string
}

func newDisaster(t *testing.T) *disaster {
	t.Helper()
	d := &disaster{deployment: newDeployment(t), dir: t.TempDir()}
	d.archive = filepath.Join(d.dir, "archive")
	d.fresh = teststack.Start(t, teststack.BrokerPart(), t.TempDir())
	d.env = append(d.env, "NETSIM_AUDIT_KEY="+newAuditKey(t), "NETSIM_ARCHIVE="+d.archive, "NEW_KAFKA="+d.fresh.Addr,
		"PATH="+d.dir+":"+os.Getenv("PATH"))
	if err := os.Symlink(d.binary, filepath.Join(d.dir, "netsim")); err != nil {
		t.Fatal(err)
	}
	d.start()
	d.writers = &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	return d
}

// run runs commands of the page as they are written, and returns what they print.
func (d *disaster) run(commands string) string {
	d.t.Helper()
	out, err := d.try(commands)
	if err != nil {
		d.t.Fatalf("%s\n%v\n%s", commands, err, out)
	}
	return out
}

func (d *disaster) try(commands string) (string, error) {
	cmd := exec.CommandContext(d.t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// load writes until so many writes are acknowledged, and waits until their consequences
// are judged too.
func (d *disaster) load(writes int) (acknowledged map[string]string) {
	d.t.Helper()
	w := startNamedWriters(d.t, d.url, 4, d.t.Name()+" "+rand.Text()[:8])
	w.progress(writes)
	acknowledged, _ = w.stop()
	d.quiet(d.broker)
	return acknowledged
}

func (d *disaster) quiet(broker *teststack.Process) {
	d.t.Helper()
	servicetest.AwaitQuiet(d.t, broker.Addr, "netsim.", d.postgres.URL)
	d.billed()
	servicetest.AwaitQuiet(d.t, broker.Addr, "netsim.", d.postgres.URL)
}

// ends returns the number of records in each family's topic.
func (d *disaster) records(broker *teststack.Process) map[string]int64 {
	d.t.Helper()
	log, err := eventlog.Open(d.t.Context(), eventlog.Config{Brokers: []string{broker.Addr}, Relaxed: true})
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	described, err := log.Describe(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	all := map[string]int64{}
	for _, topic := range described.Topics {
		for _, p := range topic.Partitions {
			all[string(topic.Family)] += p.End
		}
	}
	return all
}

// lose kills the service and the log's cluster, for ever.
func (d *disaster) lose() {
	d.t.Helper()
	d.kill()
	d.broker.Kill()
	if err := os.RemoveAll(d.logDir); err != nil {
		d.t.Fatal(err)
	}
}

// moved makes the new cluster that of the deployment.
func (d *disaster) moved() {
	d.env = append(d.env, "NETSIM_KAFKA="+d.fresh.Addr)
	d.broker = d.fresh
}

// whole checks that the service, on the new cluster, has what was acknowledged, has
// billed nothing twice, takes writes, and that every verification agrees.
func (d *disaster) whole(acknowledged map[string]string) {
	d.t.Helper()
	found := d.workspaces()
	for name, id := range acknowledged {
		if ids := found[name]; len(ids) != 1 || ids[0] != id {
			d.t.Errorf("%s was acknowledged with the id %s, but the read model has %v", name, id, ids)
		}
	}
	d.quiet(d.broker)
	if _, status := d.writers.send("after " + rand.Text()[:8]); status != http.StatusCreated {
		d.t.Errorf("a write is answered with %d, want 201", status)
	}
	d.quiet(d.broker)
	d.tool("audit", "checkpoint", "--name", "after-"+rand.Text()[:8])
	verify := blocks(d.t, "The log's cluster is lost")[2]
	if said := d.run(verify); strings.Count(said, "agrees") != 2 {
		d.t.Errorf("the verifications say\n%s", said)
	}
	d.kill()
	d.tool("readmodel", "rebuild", "--once", "replayed")
	d.tool("readmodel", "diff", "replayed")
}

// TestTheClusterIsLost follows docs/recovery.md: the log is archived, its cluster is
// lost, and the service goes on with the same read model on a new one. Nothing that was
// acknowledged is missing, nothing is billed twice and no reaction repeats a command.
func TestTheClusterIsLost(t *testing.T) {
	d := newDisaster(t)
	acknowledged := d.load(60)
	d.tool("audit", "checkpoint", "--name", "before")
	d.quiet(d.broker)
	if said := d.run(blocks(t, "Archive the log")[0]); !strings.Contains(said, "everything that is there agrees") {
		t.Errorf("the verification of the archive says\n%s", said)
	}
	before := d.records(d.broker)
	d.lose()
	said := d.run(blocks(t, "The log's cluster is lost")[0])
	for _, want := range []string{"are the same", "the log has moved from cluster", "the service can be started"} {
		if !strings.Contains(said, want) {
			t.Errorf("the commands say\n%s\nwant %q in it", said, want)
		}
	}
	if strings.Contains(said, "LOST") {
		t.Errorf("something is lost:\n%s", said)
	}
	d.moved()
	d.start()
	d.quiet(d.broker)
	if said := d.run(blocks(t, "The object store is lost")[0]); !strings.Contains(said, " 0 are missing") {
		t.Errorf("objects missing says\n%s", said)
	}
	before["checkpoints"] += 3 // the move, and the begin and the end of the command that recorded it
	for family, n := range d.records(d.broker) {
		if n != before[family] {
			t.Errorf("%s has %d records after the restart, want %d: something was done again", family, n, before[family])
		}
	}
	d.whole(acknowledged)
}

// TestTheArchiveWasBehind: writes after the last archived record are lost, by name. The
// rest is not, and the loss is recorded.
func TestTheArchiveWasBehind(t *testing.T) {
	d := newDisaster(t)
	acknowledged := d.load(20)
	d.run(blocks(t, "Archive the log")[0])
	lost, status := d.writers.send("lost")
	if status != http.StatusCreated {
		t.Fatalf("a write is answered with %d, want 201", status)
	}
	d.quiet(d.broker)
	d.tool("audit", "checkpoint", "--name", "lost")
	d.lose()
	said := d.run(blocks(t, "The log's cluster is lost")[0])
	if !strings.Contains(said, "LOST "+lost+": events 1 to 1\n") {
		t.Errorf("the commands do not name the lost workspace %s:\n%s", lost, said)
	}
	for _, id := range acknowledged {
		if strings.Contains(said, id) {
			t.Errorf("the commands name %s, which was archived:\n%s", id, said)
		}
	}
	d.moved()
	if said := d.refused("serve"); !strings.Contains(said, "cannot be trusted") {
		t.Errorf("the service says %q", said)
	}
	d.run(blocks(t, "The archive was behind")[0])
	d.start()
	c := &clients{writers: d.writers}
	if status := c.read(d.url, lost); status != http.StatusNotFound {
		t.Errorf("the lost workspace: %d, want 404", status)
	}
	d.whole(acknowledged)
}

// TestEverythingIsLost: the cluster and the database are lost. The archive and the
// object store are enough.
func TestEverythingIsLost(t *testing.T) {
	d := newDisaster(t)
	acknowledged := d.load(20)
	d.tool("audit", "checkpoint", "--name", "before")
	d.quiet(d.broker)
	d.run(blocks(t, "What only PostgreSQL has")[0])
	d.run(blocks(t, "Archive the log")[0])
	d.lose()
	d.execute(`DROP SCHEMA readmodel CASCADE; DROP SCHEMA netsim CASCADE; DROP SCHEMA facts CASCADE`)
	restore := blocks(t, "The log's cluster is lost")[0]
	commands, _, _ := strings.Cut(restore, "netsim log adopt")
	d.run(commands)
	d.moved()
	if said := d.refused("serve"); !strings.Contains(said, "cannot be trusted") {
		t.Errorf("the service starts with a log that nobody adopted: %q", said)
	}
	d.run(restore) // the command that was finished is repeated
	d.start()
	d.run(blocks(t, "PostgreSQL is lost")[1])
	d.whole(acknowledged)
}

// TestTheLogIsMoved: the log is mirrored while it is written to, and the service goes on
// with the copy. A process that stays on the old cluster acknowledges nothing.
func TestTheLogIsMoved(t *testing.T) {
	d := newDisaster(t)
	move := blocks(t, "Move the log to another cluster")
	w := startWriters(t, d.url, 4)
	w.progress(20)
	d.run(move[0])
	w.progress(20)
	d.run(move[0])
	if said, err := d.try(strings.Split(move[0], "\n")[0] + "\nnetsim log adopt --reason early"); err == nil {
		t.Errorf("a copy that is not finished was adopted:\n%s", said)
	}
	acknowledged, _ := w.stop()
	d.quiet(d.broker)
	old := d.broker
	left := d.beside("api")
	d.kill()
	said := d.run(move[0] + move[1])
	if !strings.Contains(said, "the service can be started") || strings.Contains(said, "LOST") {
		t.Errorf("the commands say\n%s", said)
	}
	stale := &writers{t: t, url: left.url, token: d.writers.token}
	if _, status := stale.send("stale"); status == http.StatusCreated {
		t.Error("a process on the old cluster acknowledged a write")
	}
	left.kill()
	d.moved()
	d.start()
	d.whole(acknowledged)
	old.Stop()
}

// TestPostgresIsRestoredFromABackUp: a physical copy of the database is older than the
// log. The projector replays what is missing; reactions, jobs and runs that were under
// way at the copy do nothing twice.
func TestPostgresIsRestoredFromABackUp(t *testing.T) {
	d := newDisaster(t)
	acknowledged := d.load(20)
	before := d.submit()
	d.kill() // with the simulation under way
	d.postgres.Stop()
	backup := filepath.Join(t.TempDir(), "data")
	copyFolder(t, d.dataDir, backup)
	d.postgres.Restart()
	d.start()
	d.writers = &writers{t: t, url: d.url, token: d.writers.token}
	for name, id := range d.load(20) {
		acknowledged[name] = id
	}
	after := d.submit()
	d.quiet(d.broker)
	d.kill()
	d.postgres.Kill()
	if err := os.RemoveAll(d.dataDir); err != nil {
		t.Fatal(err)
	}
	copyFolder(t, backup, d.dataDir)
	d.postgres.Restart()
	d.start()
	for _, id := range []string{before, after} {
		testworld.Await(t, func() (done bool) {
			d.query(`SELECT coalesce((SELECT status = 'completed' FROM readmodel.simulations WHERE id = '`+id+`'), false)`, &done)
			return done
		})
	}
	d.tool("audit", "checkpoint", "--name", "before")
	d.whole(acknowledged)
}
