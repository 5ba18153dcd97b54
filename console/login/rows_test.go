package login

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/infra/postgres"
	"netsim/internal/teststack"
)

// TestExpire: the rows of expired sessions are deleted, also more than a transaction takes,
// and no others.
func TestExpire(t *testing.T) {
	t.Parallel()
	db, err := pgxpool.New(t.Context(), teststack.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := postgres.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	_, err = db.Exec(t.Context(), `
		INSERT INTO netsim.console_sessions (`+columns+`)
		SELECT sha256(n::text::bytea), 'user', '', 1, $1::timestamptz, $1, $1, $1, $1::timestamptz + (n - 2500) * interval '1 second', $1::timestamptz FROM generate_series(1, 2600) n`, now)
	if err != nil {
		t.Fatal(err)
	}
	s := sessions{db: db, now: func() time.Time { return now }}
	for range 2 {
		if err := s.expire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var left, expired int
	if err := db.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE expires_at <= $1) FROM netsim.console_sessions`, now).Scan(&left, &expired); err != nil || left != 100 || expired != 0 {
		t.Errorf("%d rows are left, %d of them expired, %v; want 100 and none", left, expired, err)
	}
}

// TestRefreshAt: a token is refreshed half a minute before it expires, or after three quarters
// of a short life.
func TestRefreshAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	for lasts, want := range map[time.Duration]time.Duration{time.Hour: time.Hour - 30*time.Second, 2 * time.Minute: 90 * time.Second, 4 * time.Second: 3 * time.Second} {
		if at := refreshAt(now, now.Add(lasts)); at.Sub(now) != want {
			t.Errorf("a token of %v is refreshed after %v, want %v", lasts, at.Sub(now), want)
		}
	}
}
