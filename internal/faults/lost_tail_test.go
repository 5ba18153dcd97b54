package faults_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netsim/infra/devissuer"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// The log loses its last records, among them an acknowledged workspace. An operator
// cannot hide this loss: the service refuses to start, or the log records the accepted
// loss, and every later checkpoint names it.
func TestALostTailIsRefusedOrRecorded(t *testing.T) {
	for name, wiped := range map[string]bool{"with its read model": false, "with an empty database": true} {
		t.Run(name, func(t *testing.T) {
			d := newDeployment(t)
			d.env = append(d.env, "NETSIM_AUDIT_KEY="+newAuditKey(t))
			d.start()
			w := &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
			kept, _ := w.send("kept")
			servicetest.AwaitQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)
			backup := filepath.Join(t.TempDir(), "log")
			d.kill()
			d.broker.Stop()
			copyFolder(t, d.logDir, backup)
			d.broker.Restart()
			d.start()
			lost, status := w.send("lost")
			if status != http.StatusCreated {
				t.Fatalf("a write is answered with %d, want 201", status)
			}
			d.tool("audit", "checkpoint", "--name", "before")
			d.kill()
			d.broker.Stop()
			if err := os.RemoveAll(d.logDir); err != nil {
				t.Fatal(err)
			}
			copyFolder(t, backup, d.logDir)
			d.broker.Restart()
			if wiped {
				d.execute(`DROP SCHEMA readmodel CASCADE`)
			}

			const command = "netsim readmodel rebuild next --accept-lost-tail REASON"
			if said := d.refused("serve"); !strings.Contains(said, "cannot be trusted") || !strings.Contains(said, "was seen up to") {
				t.Errorf("the service says %q", said)
			}
			if said := d.refused("readmodel", "rebuild", "--once", "next"); !strings.Contains(said, command) {
				t.Errorf("rebuild says %q, want %q in it", said, command)
			}
			d.tool("readmodel", "rebuild", "--once", "next", "--accept-lost-tail", "a disk\nwas lost")
			d.tool("readmodel", "promote", "next")
			d.start()
			c := &clients{writers: w}
			if status := c.read(d.url, kept); status != http.StatusOK {
				t.Errorf("the workspace that was kept: %d, want 200", status)
			}
			if status := c.read(d.url, lost); status != http.StatusNotFound {
				t.Errorf("the workspace that was lost: %d, want 404", status)
			}
			d.tool("audit", "checkpoint", "--name", "after")
			note := d.note("after")
			if !strings.Contains(note, "\nloss ") {
				t.Errorf("the checkpoint after the loss does not name it:\n%s", note)
			}
			said := d.output("audit", "verify")
			if !strings.Contains(said, "an operator accepted that the log had lost records: a disk was lost") {
				t.Errorf("audit verify says %q, want %q in it", said, "an operator accepted that the log had lost records: a disk was lost")
			}
			if said := d.refused("audit", "verify", "--strict"); !strings.Contains(said, "an operator accepted a loss of records: a disk was lost") {
				t.Errorf("audit verify --strict says %q", said)
			}
			d.kill()
			d.start() // the loss needs to be accepted only once
		})
	}
}

// note returns the signed log checkpoint with the name from the read model.
func (d *deployment) note(name string) (note string) {
	d.t.Helper()
	d.query(`SELECT state::json->>'note' FROM readmodel.streams WHERE family = 'checkpoints' AND state::json->>'name' = '`+name+`'`, &note)
	return note
}
