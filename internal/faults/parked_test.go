package faults_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"netsim/api"
	"netsim/infra/devissuer"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// Parked facts are visible in every command, check, metric and log for operators. After
// the cause is removed, they are applied in order.
func TestParkedStreamsAreSeenAndRetried(t *testing.T) {
	d := newDeployment(t)
	d.env = append(d.env, "NETSIM_AUDIT_KEY="+newAuditKey(t))
	d.start()
	w := &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	unknown, _ := w.send("unknown type")
	cut, _ := w.send("cut body")
	refused, _ := w.send("refused rows")
	d.execute(`ALTER TABLE readmodel.workspaces ADD CONSTRAINT no_colour CHECK (name NOT IN ('green', 'blue'))`)
	d.append(unknown, "netsim.workspace.painted.v1", `{"colour":"green"}`)
	d.append(cut, "netsim.workspace.updated.v1", `{"name":"cu`)
	d.append(refused, "netsim.workspace.updated.v1", `{"name":"green"}`)
	parked := func() (all []api.ParkedFact) {
		t.Helper()
		if err := json.Unmarshal([]byte(d.output("streams", "parked", "--json")), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	testworld.Await(t, func() bool { return len(parked()) == 3 })
	d.append(refused, "netsim.workspace.updated.v1", `{"name":"blue"}`)
	testworld.Await(t, func() bool { return len(parked()) == 4 })

	if said := d.output("streams", "parked"); strings.Count(said, "\n") != 5 || !strings.Contains(said, "netsim.workspace.painted.v1") {
		t.Errorf("streams parked says %q", said)
	}
	if said := d.output("streams", "show", cut); !strings.Contains(said, `data: {"name":"cu`) {
		t.Errorf("streams show says %q, want %q in it", said, `data: {"name":"cu`)
	}
	if said := d.get(d.ops + "/readyz"); !strings.Contains(said, "degraded") || !strings.Contains(said, "parkedStreams") {
		t.Errorf("/readyz says %q", said)
	}
	if said := d.get(d.ops + "/metrics"); !strings.Contains(said, "netsim_projector_parked_total 4") {
		t.Error("/metrics does not count the parked facts")
	}
	log, err := os.ReadFile(d.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{unknown, cut, refused} {
		if n := strings.Count(string(log), `"a stream is parked","stream":"`+stream); n != 1 {
			t.Errorf("%s is logged %d times, want once", stream, n)
		}
	}
	if said := d.output("readmodel", "rebuild", "--once", "next"); !strings.Contains(said, "2 facts PARKED") {
		t.Errorf("rebuild says %q, want %q in it", said, "2 facts PARKED")
	}
	said := d.output("audit", "verify")
	for _, want := range []string{"1 facts cannot be read, their streams are parked: netsim.workspace.painted.v1", "parked: netsim.workspace.updated.v1"} {
		if !strings.Contains(said, want) {
			t.Errorf("audit verify says %q, want %q", said, want)
		}
	}

	if said := d.refused("streams", "retry", refused); !strings.Contains(said, "2 facts stay parked") {
		t.Errorf("a retry before the cause is removed says %q, want %q in it", said, "2 facts stay parked")
	}
	d.execute(`ALTER TABLE readmodel.workspaces DROP CONSTRAINT no_colour`)
	d.tool("streams", "retry", refused)
	var name string
	d.query(`SELECT name || version FROM readmodel.workspaces WHERE id = '`+refused+`'`, &name)
	if name != "blue3" {
		t.Errorf("the workspace is %q after the retry, want blue at version 3", name)
	}
	if left := parked(); len(left) != 2 {
		t.Errorf("the parked facts are %+v, want two", left)
	}
	d.append(refused, "netsim.workspace.updated.v1", `{"name":"red"}`)
	testworld.Await(t, func() bool {
		d.query(`SELECT name || version FROM readmodel.workspaces WHERE id = '`+refused+`'`, &name)
		return name == "red4"
	})
}
