package faults_test

import (
	"net/http"
	"strings"
	"testing"

	"netsim/infra/devissuer"
	"netsim/internal/teststack"
)

// TestTheAuditKeyIsSucceeded: a new audit key is refused until the old key has signed
// its succession. After two successions the log can be verified with each of the three
// keys, and the old keys cannot sign any more.
func TestTheAuditKeyIsSucceeded(t *testing.T) {
	d := newDeployment(t)
	files := []string{newAuditKey(t), newAuditKey(t), newAuditKey(t)}
	use := func(file string) { d.env = append(d.env, "NETSIM_AUDIT_KEY="+file) }
	use(files[0])
	d.start()
	w := &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	if _, status := w.send("first"); status != http.StatusCreated {
		t.Fatalf("a write is answered with %d, want 201", status)
	}
	d.tool("audit", "checkpoint", "--name", "of-key-0")

	const command = "netsim audit key --succeed OLDKEYFILE"
	for i, file := range files[1:] {
		use(file)
		if said := d.refused("audit", "checkpoint"); !strings.Contains(said, command) {
			t.Errorf("a checkpoint with a new key says %q, want %q in it", said, command)
		}
		d.kill()
		if said := d.refused("serve"); !strings.Contains(said, "NETSIM_AUDIT_KEY: the log has another key than ") || !strings.Contains(said, command) {
			t.Errorf("the service with a new key says %q", said)
		}
		use(files[i])
		d.start()
		use(file)
		if said := d.refused("audit", "key", "--succeed", newAuditKey(t)); !strings.Contains(said, "the old key cannot name its successor") {
			t.Errorf("a succession from an unrelated key says %q, want %q in it", said, "the old key cannot name its successor")
		}
		for range 2 { // the second time changes nothing
			if said := d.output("audit", "key", "--succeed", files[i]); !strings.Contains(said, "the key of this log is "+publicKey(t, file)) {
				t.Errorf("--succeed says %q, want %q in it", said, "the key of this log is "+publicKey(t, file))
			}
		}
		use(files[i])
		if said := d.refused("audit", "checkpoint"); !strings.Contains(said, "it hands over to "+publicKey(t, file)) {
			t.Errorf("a checkpoint with the old key says %q, want %q in it", said, "it hands over to "+publicKey(t, file))
		}
		d.kill()
		use(file)
		d.start()
		d.tool("audit", "checkpoint", "--name", "of-key-"+string(rune('1'+i)))
	}
	for _, file := range files {
		said := d.output("audit", "verify", "--key", publicKey(t, file))
		if want := "everything that is there agrees, but its end may have been cut off"; !strings.Contains(said, want) {
			t.Errorf("audit verify says %q, want %q in it", said, want)
		}
	}
	if said := d.refused("audit", "verify", "--key", publicKey(t, newAuditKey(t))); !strings.Contains(said, "no succession leads from that key to another") {
		t.Errorf("audit verify with an unrelated key says %q, want %q in it", said, "no succession leads from that key to another")
	}
}
