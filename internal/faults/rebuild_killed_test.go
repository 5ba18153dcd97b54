package faults_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/internal/testworld"
)

// A rebuild that is killed at any step, from the creation of its schema to that of its
// indexes, continues when it is repeated. Its output shows its progress.
func TestAKilledRebuildGoesOn(t *testing.T) {
	d := newDeployment(t)
	d.start()
	writers := startWriters(t, d.url, 8)
	writers.progress(200)
	writers.stop()
	servicetest.AwaitQuiet(t, d.broker.Addr, "netsim.", d.postgres.URL)
	d.kill() // nothing may change while the read models are compared
	db, err := pgx.Connect(t.Context(), d.postgres.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context()) //nolint:errcheck // it only reads
	for _, reached := range []string{
		`SELECT to_regnamespace('again') IS NOT NULL`,
		`SELECT to_regclass('again.offsets') IS NOT NULL`,
		`SELECT count(*) > 0 FROM pg_stat_user_tables WHERE schemaname = 'again' AND relname = 'workspaces' AND n_tup_ins > 0`,
		`SELECT to_regclass('again.workspaces_created') IS NOT NULL`,
	} {
		child := exec.Command(d.binary, "readmodel", "rebuild", "--once", "again")
		child.Env = d.env
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		over := false
		testworld.Await(t, func() bool {
			select {
			case <-ended:
				over = true
				return true
			default:
			}
			var yes bool
			if err := db.QueryRow(t.Context(), reached).Scan(&yes); err != nil {
				t.Fatal(err)
			}
			return yes
		})
		if !over {
			if err := child.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
			testwait.Receive(t, ended, "the killed rebuild to end")
		}
	}
	rebuild := exec.CommandContext(t.Context(), d.binary, "readmodel", "rebuild", "--once", "again")
	rebuild.Env = d.env
	var said bytes.Buffer
	rebuild.Stdout = &said
	if err := rebuild.Run(); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^again: (\d+) of \d+ records$`).Match(said.Bytes()) {
		t.Errorf("the rebuild said %q, want how far it is", said.String())
	}
	d.tool("readmodel", "diff", "again")
}
