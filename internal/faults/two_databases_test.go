package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// TestTwoDatabasesHoldTheSame proves by digests, under load, that a read model in another
// database is the same as the one that takes the writes, at a position of the log; and when
// the writes have ended, that the two live ones are.
func TestTwoDatabasesHoldTheSame(t *testing.T) {
	d := newDeployment(t)
	d.start()
	region := d.region()
	file := filepath.Join(t.TempDir(), "address")
	if err := os.WriteFile(file, []byte(d.postgres.URL+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	writers := startWriters(t, d.url, 4)
	writers.progress(20)
	region.tool("readmodel", "rebuild", "--once", "next")
	writers.progress(20)
	region.tool("readmodel", "diff", "next", "--with-postgres-file", file)
	writers.progress(20)
	here := d.output("readmodel", "digest", "--ranges", "4")
	writers.progress(20)
	first, _, _ := strings.Cut(here, "\n")
	at := strings.TrimPrefix(first, "position: ")
	there := region.output("readmodel", "digest", "--ranges", "4", "--schema", "next", "--at", at)
	if diff := cmp.Diff(here, there); diff != "" {
		t.Errorf("the digests at %s differ:\n%s", at, diff)
	}
	if lines := strings.Count(here, "\n"); lines < 20 {
		t.Errorf("the digest has %d lines, want one for each range:\n%s", lines, here)
	}
	writers.stop()
	servicetest.AwaitQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)
	d.kill() // nothing may change while the two are compared
	region.tool("readmodel", "diff", "readmodel", "--with-postgres-file", file, "--timeout", "2m")
	here = d.output("readmodel", "digest", "--timeout", "2m")
	first, _, _ = strings.Cut(here, "\n")
	if diff := cmp.Diff(here, region.output("readmodel", "digest", "--at", strings.TrimPrefix(first, "position: "))); diff != "" {
		t.Errorf("the digests of the live read models differ:\n%s", diff)
	}
}

// region starts the service once more, with a database of its own, to read only.
func (d *deployment) region() *deployment {
	d.t.Helper()
	r := *d
	http, ops := teststack.FreeAddress(d.t), teststack.FreeAddress(d.t)
	r.url, r.ops, r.child = "http://"+http, "http://"+ops, nil
	r.env = append(append([]string(nil), d.env...), "NETSIM_HTTP="+http, "NETSIM_OPS="+ops,
		"NETSIM_POSTGRES="+teststack.Postgres(d.t), "NETSIM_READ_ONLY=true", "NETSIM_ROLES=api,projector", "NETSIM_PRIMARY_URL="+d.url)
	r.start()
	d.t.Cleanup(r.kill)
	return &r
}
