package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"netsim/audit"
	"netsim/cmd/checkpoints"
	"netsim/cmd/connections"
	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/infra/devissuer"
	"netsim/infra/objects"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// newCheckpointed returns a running deployment that signs checkpoints and seals records
// and has published the daily checkpoint, with a writer.
func newCheckpointed(t *testing.T) (*deployment, *writers) {
	t.Helper()
	d := newDeployment(t)
	d.env = append(d.env, "NETSIM_AUDIT_KEY="+newAuditKey(t), "NETSIM_WRITER_KEYS="+strings.Repeat("a1", 32))
	d.start()
	testworld.Await(t, func() (done bool) {
		d.query(`SELECT EXISTS (SELECT FROM jobs.river_job WHERE kind = 'publish_checkpoint' AND state = 'completed')`, &done)
		return done
	})
	return d, &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
}

func (d *deployment) store() *objects.Store {
	c := d.settings()
	return objects.New(objects.Config{Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket, AccessKey: c.S3AccessKey, SecretKey: c.S3SecretKey})
}

// heads returns the keys of all heads in the object store.
func (d *deployment) heads() (keys []string) {
	d.t.Helper()
	for info, err := range d.store().List(d.t.Context(), "heads/") {
		if err != nil {
			d.t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

// verified returns the lines of audit verify that do not depend on where it began, and
// fails the test unless everything agrees, or with no checkpoint of the caller's what is
// there.
func (d *deployment) verified(args ...string) string {
	d.t.Helper()
	said := d.output(append([]string{"audit", "verify"}, args...)...)
	want := "\neverything that is there agrees, but its end may have been cut off"
	if slices.Contains(args, "--from-checkpoint") {
		want = "\neverything agrees\n"
	}
	if !strings.Contains(said, want) {
		d.t.Errorf("audit verify %s says %q", strings.Join(args, " "), said)
	}
	facts := regexp.MustCompile(`^(\d+ records) in \S+: (.*) \d+ checkpoints\n`).FindStringSubmatch(said)
	root := regexp.MustCompile(`\d+ billing chains, root \w+\n`).FindString(said)
	if facts == nil || root == "" {
		d.t.Fatalf("audit verify says %q", said)
	}
	return facts[1] + facts[2] + root
}

// TestAVerificationJoinsAtACheckpoint: the heads of every checkpoint are in the object
// store. A verification that joins there, with the copy in a directory or with the object
// store, reports what a whole one does, and refuses other heads. verdicts.py loads them.
func TestAVerificationJoinsAtACheckpoint(t *testing.T) {
	const first = "2026-11-20" // as in docs/log.md
	d, w := newCheckpointed(t)
	w.write("one", "two", "three")
	d.tool("audit", "checkpoint", "--name", first)
	w.write("four")
	d.tool("audit", "checkpoint", "--name", "second")
	w.write("five")
	servicetest.AwaitQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)

	dir := filepath.Join(t.TempDir(), "heads")
	table := d.output("audit", "heads", "--checkpoint", first, "--dir", dir)
	note := filepath.Join(dir, first+".note")
	if !strings.Contains(table, "checkpoint "+first+" of ") || !strings.Contains(d.output("audit", "heads"), "checkpoint second of ") {
		t.Errorf("audit heads says %q", table)
	}
	whole := d.verified()
	for _, args := range [][]string{{"--heads", dir}, {}, {"--log-only"}, {"--note", note}} {
		if joined := d.verified(append([]string{"--from-checkpoint", note}, args...)...); joined != whole {
			t.Errorf("a verification from the checkpoint with %v says\n%s, a whole one\n%s", args, joined, whole)
		}
	}
	if said := d.output("audit", "verify", "--from-checkpoint", note); !strings.Contains(said, "are before checkpoint "+first+": they were not read") {
		t.Errorf("audit verify says %q", said)
	}
	if said := d.refused("audit", "heads", "--key", publicKey(t, newAuditKey(t))); !strings.Contains(said, "no checkpoint of the log names heads") {
		t.Errorf("audit heads with another key says %q", said)
	}
	if said := d.refused("audit", "heads", "--checkpoint", "third"); !strings.Contains(said, "checkpoint third of the log: there is none") {
		t.Errorf("audit heads of no checkpoint says %q", said)
	}
	loadedByPython(t, dir, table)

	for _, sum := range regexp.MustCompile(`(?m)^(workspaces/[01]) .* (\w+)$`).FindAllStringSubmatch(table, -1) {
		file := filepath.Join(dir, sum[2]+".txt")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) == 0 {
			continue
		}
		last := &text[len(text)-2] // a hex digit
		*last = "10"[min(1, *last-'0')]
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if said := d.refused("audit", "verify", "--from-checkpoint", note, "--heads", dir); !strings.Contains(said, "the heads of "+sum[1]+": not the heads: their SHA-256 is") {
			t.Errorf("with a changed head audit verify says %q", said)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if said := d.refused("audit", "verify", "--from-checkpoint", note, "--heads", dir); !strings.Contains(said, "has neither "+sum[2]+".txt nor "+sum[2]+".zst") {
			t.Errorf("without a file audit verify says %q", said)
		}
		if err := d.store().Delete(t.Context(), "heads/"+sum[2]+".zst"); err != nil {
			t.Fatal(err)
		}
		if said := d.refused("audit", "verify", "--from-checkpoint", note); !strings.Contains(said, "heads/"+sum[2]+".zst is not in the object store, which keeps") {
			t.Errorf("without an object audit verify says %q", said)
		}
		return
	}
	t.Errorf("no partition of the workspaces has heads:\n%s", table)
}

// loadedByPython runs the program of docs/log.md, which loads every partition of a
// checkpoint with verdicts.py, and compares the
// positions and the numbers of facts and streams with those of audit heads.
func loadedByPython(t *testing.T, dir, table string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/log.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "To join with `verdicts.py`")
	_, code, _ := strings.Cut(section, "```python\n")
	code, _, _ = strings.Cut(code, "```")
	golden, err := filepath.Abs("../../events/testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	python := exec.CommandContext(t.Context(), "python3", "-c", "from verdicts import Partition\n"+code+
		"    print(f'{family}/{number}', p.next, p.facts, len(p.heads), sha256)\n"+
		"    assert len(p.sealing) == 1 and p.count == 2, line\n")
	python.Dir, python.Env = filepath.Dir(dir), append(os.Environ(), "PYTHONPATH="+golden, "PYTHONDONTWRITEBYTECODE=1")
	out, err := python.CombinedOutput()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, out)
	}
	var want, got []string
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		want = append(want, strings.Join(strings.Fields(line), " "))
	}
	got = strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("audit heads prints\n%s\nverdicts.py has\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// TestKilledBeforeTheCheckpointIsPublished: a process that is killed after it has stored
// the heads leaves nothing but these files. The next checkpoint is published at once, and
// the files are deleted once they are old.
func TestKilledBeforeTheCheckpointIsPublished(t *testing.T) {
	d, w := newCheckpointed(t)
	w.write("one")
	d.tool("audit", "checkpoint", "--name", "first")
	w.write("two")
	before := d.heads()

	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	killed := exec.CommandContext(ctx, d.binary, "audit", "checkpoint", "--name", "killed")
	store, err := url.Parse(d.settings().S3Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(store)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, ".txt") {
			forward.ServeHTTP(httptest.NewRecorder(), r)
			kill()
			<-r.Context().Done() // gives no answer
			return
		}
		forward.ServeHTTP(rw, r)
	}))
	defer proxy.Close()
	temporary := t.TempDir()
	killed.Env = append(slices.Clone(d.env), "NETSIM_S3_ENDPOINT="+proxy.URL, "TMPDIR="+temporary)
	if out, err := killed.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	orphans := slices.DeleteFunc(d.heads(), func(key string) bool { return slices.Contains(before, key) })
	if len(orphans) < 2 {
		t.Fatalf("the killed process has stored %v, want an index and heads", orphans)
	}
	if said := d.refused("audit", "heads", "--checkpoint", "killed"); !strings.Contains(said, "there is none") {
		t.Errorf("the checkpoint of the killed process: %s", said)
	}
	d.verified()

	w.write("three", "four", "five", "six", "seven", "eight") // both partitions have other heads than the orphans
	d.tool("audit", "checkpoint", "--name", "next")
	all := d.heads()
	sweepHeads(t, d.settings(), time.Now())
	if left := d.heads(); !slices.Equal(left, all) {
		t.Errorf("new heads were deleted: %v are left of %v", left, all)
	}
	sweepHeads(t, d.settings(), time.Now().Add(50*time.Hour))
	left := d.heads()
	for _, key := range orphans {
		if strings.HasSuffix(key, ".txt") && slices.Contains(left, key) {
			t.Errorf("the orphan %s was not deleted", key)
		}
	}
	if len(left) >= len(all) {
		t.Errorf("%d of %d heads are left", len(left), len(all))
	}
	for _, name := range []string{"first", "next"} {
		d.tool("audit", "heads", "--checkpoint", name)
	}
}

// TestOldHeadsAreDeleted: the heads of the newest 14 checkpoints and of the first of the
// month stay; a verification from another one says what is missing.
func TestOldHeadsAreDeleted(t *testing.T) {
	d, w := newCheckpointed(t)
	tools, err := operate.OpenTools(t.Context(), d.settings(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	month := time.Now().UTC().Month()
	for i := range audit.KeptNewest + 4 {
		w.write(fmt.Sprint("workspace-", i))
		if _, err := tools.Checkpoint(t.Context(), fmt.Sprint("number-", i)); err != nil {
			t.Fatal(err)
		}
	}
	sweepHeads(t, d.settings(), time.Now().Add(50*time.Hour))
	if time.Now().UTC().Month() != month {
		return // the month changed during the test, and two checkpoints are the first of theirs
	}
	const missing = "is not in the object store, which keeps the heads of the newest 14 checkpoints and of the first of every month"
	for _, name := range []string{"number-0", "number-3"} {
		if said := d.refused("audit", "heads", "--checkpoint", name); !strings.Contains(said, missing) {
			t.Errorf("the heads of checkpoint %s: %s", name, said)
		}
	}
	for _, name := range []string{"number-4", fmt.Sprint("number-", audit.KeptNewest+3)} {
		d.tool("audit", "heads", "--checkpoint", name)
	}
	d.tool("audit", "heads", "--checkpoint", time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)) // the first of the month
	d.verified()
}

// TestTwoProcessesPublishCheckpoints: processes that publish at the same time publish one
// after the other, each checkpoint with heads, and one with the same name once.
func TestTwoProcessesPublishCheckpoints(t *testing.T) {
	d, w := newCheckpointed(t)
	w.write("one", "two")
	names := []string{"a", "b", "c", "a", "b", "c"}
	var all sync.WaitGroup
	failed := make([]error, len(names))
	for i, name := range names {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), d.binary, "audit", "checkpoint", "--name", name)
			cmd.Env = d.env
			if out, err := cmd.CombinedOutput(); err != nil {
				failed[i] = fmt.Errorf("checkpoint %s: %w: %s", name, err, bytes.TrimSpace(out))
			}
		})
	}
	testwait.Group(t, &all, "the checkpoints")
	if err := errors.Join(failed...); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		d.tool("audit", "heads", "--checkpoint", name)
	}
	d.verified()
}

// TestNoHeadsNoCheckpoint: while the object store is down no checkpoint is published, and
// no temporary file stays behind.
func TestNoHeadsNoCheckpoint(t *testing.T) {
	d, w := newCheckpointed(t)
	w.write("one")
	temporary := t.TempDir()
	cmd := exec.CommandContext(t.Context(), d.binary, "audit", "checkpoint", "--name", "down")
	cmd.Env = append(slices.Clone(d.env), "NETSIM_S3_ENDPOINT=http://"+teststack.FreeAddress(t), "TMPDIR="+temporary)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "publish checkpoint down: store the heads: ") {
		t.Errorf("a checkpoint without the object store: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	if said := d.refused("audit", "heads", "--checkpoint", "down"); !strings.Contains(said, "there is none") {
		t.Errorf("audit heads says %q", said)
	}
	d.tool("audit", "checkpoint", "--name", "down")
}

// sweepHeads deletes old heads, as the daily job does at the given time.
func sweepHeads(t *testing.T, c settings.Config, now time.Time) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	to, err := c.Connector(log)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := connections.Open(t.Context(), c, to, log, connections.Options{Sessions: 2, Locks: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	key, err := connections.ReadAuditKey(&c)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkpoints.Sweep(t.Context(), conn, key, now); err != nil {
		t.Fatal(err)
	}
}
