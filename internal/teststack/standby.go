package teststack

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Standby is a streaming standby of a PostgreSQL server that was started with --replicas.
type Standby struct{ *Process }

// StartStandby starts a standby of the server, which has its files in dir, and returns when
// it answers reads. The test can stop and continue its replay, so that it is behind by
// exactly what was committed meanwhile.
func StartStandby(t testing.TB, of *Process, dir string, args ...string) Standby {
	t.Helper()
	primary, err := filepath.Abs(of.dir)
	if err != nil {
		t.Fatal(err)
	}
	return Standby{Start(t, "postgres", dir, append([]string{"--standby-of", primary}, args...)...)}
}

// Pause stops the replay. It returns when nothing more is replayed.
func (s Standby) Pause() {
	s.t.Helper()
	s.do(`SELECT pg_wal_replay_pause()`)
	s.await(`SELECT pg_get_wal_replay_pause_state() = 'paused'`)
}

// Resume continues the replay.
func (s Standby) Resume() {
	s.t.Helper()
	s.do(`SELECT pg_wal_replay_resume()`)
}

// CatchUp returns when the standby has replayed what the server has committed by now.
func (s Standby) CatchUp(of *Process) {
	s.t.Helper()
	conn := s.connect(of.URL)
	defer conn.Close(context.WithoutCancel(s.t.Context()))
	var end string
	// Commits are asynchronous; this one, which is not, flushes those before it, too.
	if _, err := conn.Exec(s.t.Context(), `SET synchronous_commit = on; CREATE TABLE IF NOT EXISTS public.caught_up (); COMMENT ON TABLE public.caught_up IS ''`); err != nil {
		s.t.Fatalf("teststack: write the log of PostgreSQL: %v", err)
	}
	if err := conn.QueryRow(s.t.Context(), `SELECT pg_current_wal_flush_lsn()::text`).Scan(&end); err != nil {
		s.t.Fatalf("teststack: read the end of the log of PostgreSQL: %v", err)
	}
	s.await(`SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn`, end)
}

// Promote makes the standby a primary of its own.
func (s Standby) Promote() {
	s.t.Helper()
	s.do(`SELECT pg_promote()`)
	s.await(`SELECT NOT pg_is_in_recovery()`)
}

func (s Standby) connect(url string) *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), url)
	if err != nil {
		s.t.Fatalf("teststack: connect: %v", err)
	}
	return conn
}

func (s Standby) do(statement string) {
	s.t.Helper()
	if err := execute(s.t.Context(), s.URL, statement); err != nil {
		s.t.Fatalf("teststack: %s: %v", statement, err)
	}
}

// await repeats a query until it returns true. The deadline of the test bounds it.
func (s Standby) await(query string, args ...any) {
	s.t.Helper()
	conn := s.connect(s.URL)
	defer conn.Close(context.WithoutCancel(s.t.Context()))
	for done := false; !done; {
		if err := conn.QueryRow(s.t.Context(), query, args...).Scan(&done); err != nil {
			s.t.Fatalf("teststack: %s: %v", query, err)
		}
		if !done {
			if _, err := conn.Exec(s.t.Context(), `SELECT pg_sleep(0.01)`); err != nil {
				s.t.Fatalf("teststack: %v", err)
			}
		}
	}
}
