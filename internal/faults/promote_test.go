package faults_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/internal/testworld"
)

// Two processes serve while a read model is rebuilt, compared and promoted, twice. No
// write fails, and both processes find every created workspace at once.
func TestPromotionIsNotNoticed(t *testing.T) {
	d := newDeployment(t)
	d.start()
	clients := startClients(t, d.url, d.another("api"))
	for range 2 {
		clients.progress(200)
		follower := d.running("readmodel", "rebuild", "next")
		d.awaitSchema("next")
		clients.progress(100)
		if said := d.output("readmodel", "diff", "next"); !strings.Contains(said, "equal") {
			t.Errorf("diff says %q, want %q in it", said, "equal")
		}
		d.tool("readmodel", "promote", "next")
		clients.progress(200)
		if said := follower.wait(); !strings.Contains(said, "next is promoted") {
			t.Errorf("the rebuild that followed the log says %q, want %q in it", said, "next is promoted")
		}
		if said := d.refused("readmodel", "drop", "readmodel"); !strings.Contains(said, "is the live read model") {
			t.Errorf("dropping the live read model says %q, want %q in it", said, "is the live read model")
		}
		d.tool("readmodel", "rebuild", "--once", "other")
		if said := d.refused("readmodel", "promote", "other"); !strings.Contains(said, "netsim readmodel drop readmodel_before") {
			t.Errorf("promoting while readmodel_before exists says %q, want %q in it", said, "netsim readmodel drop readmodel_before")
		}
		d.tool("readmodel", "drop", "other")
		d.tool("readmodel", "drop", "readmodel_before")
	}
	clients.stop()
}

// When the promoting process is killed or stopped at any step, writes continue and the
// promotion can be repeated.
func TestAPromotionThatDiesHoldsNothingUp(t *testing.T) {
	d := newDeployment(t)
	d.start()
	clients := startClients(t, d.url, d.url)
	clients.progress(50)
	d.tool("readmodel", "rebuild", "--once", "next")
	for _, c := range []struct {
		step   string
		signal syscall.Signal
	}{{"following", syscall.SIGKILL}, {"fenced", syscall.SIGKILL}, {"fenced", syscall.SIGSTOP}} {
		release := d.holdUpSwitch("next")
		p := d.running("readmodel", "promote", "next")
		p.awaitLine(c.step)
		p.cmd.Process.Signal(c.signal) //nolint:errcheck // the checks below notice a failure
		clients.progress(100)
		p.kill()
		release()
		clients.progress(50)
	}
	p := d.running("readmodel", "promote", "next")
	p.awaitLine("promoted")
	p.kill()
	clients.progress(100)
	if said := d.refused("readmodel", "promote", "next"); !strings.Contains(said, "there is no read model next") {
		t.Errorf("a promotion repeated after the switch says %q, want %q in it", said, "there is no read model next")
	}
	clients.stop()
}

// holdUpSwitch prevents the renaming of the schema until release is called.
func (d *deployment) holdUpSwitch(schema string) (release func()) {
	d.t.Helper()
	conn, err := pgx.Connect(d.t.Context(), d.postgres.URL)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := conn.Exec(d.t.Context(), `BEGIN; SELECT FROM pg_namespace WHERE nspname = '`+schema+`' FOR UPDATE`); err != nil {
		d.t.Fatal(err)
	}
	return func() { conn.Close(d.t.Context()) } //nolint:errcheck // the lock ends in any case
}

// awaitSchema waits until the schema exists.
func (d *deployment) awaitSchema(schema string) {
	d.t.Helper()
	testworld.Await(d.t, func() (there bool) {
		d.query(`SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = '`+schema+`')`, &there)
		return there
	})
}
