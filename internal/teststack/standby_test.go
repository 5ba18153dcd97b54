package teststack_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/internal/teststack"
)

// TestAStandbyFollowsAndLags: a standby has the server's rows, lacks those that were
// committed while its replay was paused, and takes writes once it is promoted.
func TestAStandbyFollowsAndLags(t *testing.T) {
	t.Parallel()
	primary := teststack.Start(t, "postgres", t.TempDir(), "--replicas", "--no-sync")
	run(t, primary.URL, `CREATE TABLE t (n int); INSERT INTO t VALUES (1)`)
	standby := teststack.StartStandby(t, primary, t.TempDir(), "--no-sync")
	standby.CatchUp(primary)
	count := func() (n int) {
		conn, err := pgx.Connect(t.Context(), standby.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM t`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 1 {
		t.Fatalf("the standby has %d rows, want 1", n)
	}
	standby.Pause()
	run(t, primary.URL, `SET synchronous_commit = on; INSERT INTO t VALUES (2)`)
	if n := count(); n != 1 {
		t.Errorf("the standby has %d rows while it is paused, want 1", n)
	}
	standby.Resume()
	standby.CatchUp(primary)
	if n := count(); n != 2 {
		t.Errorf("the standby has %d rows after it caught up, want 2", n)
	}
	standby.Restart()
	if n := count(); n != 2 {
		t.Errorf("the standby has %d rows after a restart, want 2", n)
	}
	standby.Promote()
	run(t, standby.URL, `INSERT INTO t VALUES (3)`)
}

func run(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
