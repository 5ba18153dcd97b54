package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"netsim/infra/postgres"
	"netsim/internal/teststack"
	"netsim/internal/testwait"
)

func newLocks(t *testing.T, url string) postgres.Locks {
	t.Helper()
	locks, err := postgres.OpenLocks(t.Context(), url, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(locks.Close)
	return locks
}

func TestLocks(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	one, two := newLocks(t, url), newLocks(t, url)
	ctx := t.Context()
	release, err := one.Try(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []postgres.Locks{one, two} {
		if _, err := l.Try(ctx, "a"); !errors.Is(err, postgres.ErrHeld) {
			t.Errorf("try of a held lock: %v, want %v", err, postgres.ErrHeld)
		}
		if _, err := l.Wait(ctx, "a", time.Millisecond); !errors.Is(err, postgres.ErrHeld) {
			t.Errorf("wait for a lock that stays held: %v, want %v", err, postgres.ErrHeld)
		}
		var waiting int
		if err := one.Pool.QueryRow(ctx, `
			SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&waiting); err != nil || waiting > 0 {
			t.Errorf("after the wait %d sessions wait for the lock, %v; want none", waiting, err)
		}
	}
	other, err := two.Try(ctx, "b")
	if err != nil {
		t.Fatalf("try of another lock: %v", err)
	}
	other()
	waiting := make(chan error)
	go func() {
		got, err := two.Wait(context.WithoutCancel(ctx), "a", time.Minute)
		if err == nil {
			got()
		}
		waiting <- err
	}()
	release()
	if err := testwait.Receive(t, waiting, "the lock"); err != nil {
		t.Errorf("wait for a released lock: %v", err)
	}
	again, err := one.Try(ctx, "a")
	if err != nil {
		t.Fatalf("try of a released lock: %v", err)
	}
	again()
}

// When the holder's connection ends, the lock is free.
func TestALockEndsWithItsSession(t *testing.T) {
	t.Parallel()
	url := teststack.Postgres(t)
	one, two := newLocks(t, url), newLocks(t, url)
	ctx := t.Context()
	release, err := one.Try(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Pool.Exec(ctx, `
		SELECT pg_terminate_backend(pid) FROM pg_locks
		WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); err != nil {
		t.Fatal(err)
	}
	got, err := two.Wait(ctx, "a", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	got()
	release() // the session has already ended
	if got, err = one.Wait(ctx, "a", time.Minute); err != nil {
		t.Fatal(err)
	}
	got()
}
