package faults_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"netsim/api"
	"netsim/infra/devissuer"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// Dead letters are visible in every command, check, metric and log for operators. After
// the cause is removed, a retry runs one handler with one fact.
func TestDeadLettersAreSeenAndRetried(t *testing.T) {
	d := newDeployment(t)
	d.env = append(d.env, "NETSIM_AUDIT_KEY="+newAuditKey(t), "NETSIM_REACTION_RETRIES=1")
	d.start()
	w := &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	if said := d.output("reactions", "dead"); said != "there are no dead letters\n" {
		t.Errorf("reactions dead says %q", said)
	}
	if said := d.get(d.ops + "/readyz"); strings.Contains(said, "could not be processed") {
		t.Errorf("/readyz says %q", said)
	}

	dead := func() (all []api.DeadLetter) {
		t.Helper()
		if err := json.Unmarshal([]byte(d.output("reactions", "dead", "--json")), &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	d.execute(`ALTER TABLE readmodel.mapping_files RENAME TO lost`) // the deletion of a workspace reads this table
	deleted, _ := w.send("deleted")
	if status, said := w.ask(http.MethodDelete, "/workspaces/"+deleted); status != http.StatusAccepted {
		t.Fatalf("the deletion is answered with %d: %s", status, said)
	}
	testworld.Await(t, func() bool { return len(dead()) == 1 })
	letter := dead()[0]
	if letter.Handler != "workspace" || letter.Stream != deleted || letter.Type != "netsim.workspace.deletion_requested.v1" || !strings.Contains(letter.Reason, "mapping_files") {
		t.Errorf("the dead letter of the deletion is %+v", letter)
	}
	if said := d.get(d.ops + "/metrics"); !strings.Contains(said, `netsim_reactions_total{handler="workspace",outcome="dead_letter"} 1`) {
		t.Error("/metrics does not count the dead letter")
	}
	d.deadLetterIsSeen(w, letter.ID)
	d.kill()
	d.start()
	d.deadLetterIsSeen(w, letter.ID)

	if said := d.refused("reactions", "retry", letter.ID); !strings.Contains(said, "mapping_files") || !strings.Contains(said, "1 of 1 dead letters failed again") {
		t.Errorf("a retry before the cause is removed says %q", said)
	}
	d.execute(`ALTER TABLE readmodel.lost RENAME TO mapping_files`)
	if said := d.output("reactions", "retry", letter.ID); !strings.Contains(said, letter.ID+"  settled\n") {
		t.Errorf("the retry says %q, want %q in it", said, letter.ID+"  settled\n")
	}
	testworld.Await(t, func() (gone bool) {
		d.query(`SELECT state = 'deleted' FROM readmodel.workspaces WHERE id = '`+deleted+`'`, &gone)
		return gone
	})
	if said := d.refused("reactions", "retry", letter.ID); !strings.Contains(said, "there is no open dead letter") {
		t.Errorf("a second retry says %q, want %q in it", said, "there is no open dead letter")
	}
	testworld.Await(t, func() bool { return !strings.Contains(d.get(d.ops+"/readyz"), "could not be processed") })
	if said := d.output("audit", "verify"); !strings.Contains(said, "0 dead letters of reactions\n") {
		t.Errorf("audit verify says %q, want %q in it", said, "0 dead letters of reactions\n")
	}

	unknown, _ := w.send("unknown type") // becomes a dead letter of billing and one of workspace
	d.append(unknown, "netsim.workspace.painted.v1", `{"colour":"green"}`)
	testworld.Await(t, func() bool { return len(dead()) == 2 })
	if said := d.refused("reactions", "retry", "--all"); strings.Count(said, "the fact cannot be read") != 2 || !strings.Contains(said, "2 of 2 dead letters failed again") {
		t.Errorf("a retry of unreadable facts says %q", said)
	}
	if left := dead(); len(left) != 2 {
		t.Errorf("open dead letters are %+v, want the two of unreadable facts", left)
	}
}

// deadLetterIsSeen checks every output that shows a dead letter. It does not check the
// metrics, which belong to one process and are lost at a restart.
func (d *deployment) deadLetterIsSeen(w *writers, letter string) {
	d.t.Helper()
	if said := d.output("reactions", "dead"); strings.Count(said, "\n") != 2 || !strings.Contains(said, letter) {
		d.t.Errorf("reactions dead says %q", said)
	}
	if said := d.output("reactions", "show", letter); !strings.Contains(said, "handler: workspace\n") || !strings.Contains(said, "data: {}\n") {
		d.t.Errorf("reactions show says %q", said)
	}
	const want = "1 facts could not be processed by a reaction"
	testworld.Await(d.t, func() bool { return strings.Contains(d.get(d.ops+"/readyz"), want) })
	_, said := w.ask(http.MethodGet, "/health/ready")
	if !strings.Contains(said, "degraded") || !strings.Contains(said, want) {
		d.t.Errorf("/health/ready says %q", said)
	}
	if said := d.output("audit", "verify"); !strings.Contains(said, "1 dead letters of reactions\n") {
		d.t.Errorf("audit verify says %q, want %q in it", said, "1 dead letters of reactions\n")
	}
	log, err := os.ReadFile(d.log.Name())
	if err != nil {
		d.t.Fatal(err)
	}
	if n := strings.Count(string(log), `"msg":"a fact is a dead letter","handler":"workspace","family":"workspaces"`); n != 1 {
		d.t.Errorf("the dead letter is logged %d times, want once", n)
	}
}
