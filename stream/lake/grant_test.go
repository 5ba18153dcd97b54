package lake_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"netsim/internal/teststack"
	"netsim/stream/lake"
)

// TestGrantSaysWhatItDid: for every caller, either the role can read the lake afterwards,
// also the tables that the owner adds later, or the error says who can give the right.
func TestGrantSaysWhatItDid(t *testing.T) {
	t.Parallel()
	at, err := url.Parse(teststack.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(at.Path, "/")
	owner, member, analyst := database+"_owner", database+"_member", database+"_Analyst"
	as := func(role string) *pgxpool.Pool {
		own := *at
		if role != "" {
			own.User = url.UserPassword(role, "secret")
		}
		pool, err := pgxpool.New(t.Context(), own.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(pool.Close)
		return pool
	}
	super := as("")
	execute := func(pool *pgxpool.Pool, sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	name := pgx.Identifier{analyst}.Sanitize()
	execute(super, `CREATE ROLE `+owner+` LOGIN PASSWORD 'secret'; CREATE ROLE `+member+` LOGIN PASSWORD 'secret';
		GRANT CREATE ON DATABASE `+database+` TO `+owner)
	t.Cleanup(func() {
		ctx := context.Background()
		db, err := pgx.Connect(ctx, at.String())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close(ctx)
		db.Exec(ctx, `DROP OWNED BY `+owner+`, `+member+` CASCADE; DROP OWNED BY `+name+` CASCADE; DROP ROLE `+owner+`, `+member+`, `+name) //nolint:errcheck // the cluster ends with the tests
	})
	grants := func(by string, pool *pgxpool.Pool, password string, created bool, words ...string) {
		t.Helper()
		got, err := lake.Grant(t.Context(), pool, analyst, password)
		if got != created || (err == nil) != (len(words) == 0) {
			t.Errorf("%s: created %t, %v; want %t, %q", by, got, err, created, words)
		}
		for _, word := range words {
			if err != nil && (!strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "hidden")) {
				t.Errorf("%s: %v, want %q in it, and no password", by, err, word)
			}
		}
	}
	reads := func(pool *pgxpool.Pool, table string, can bool) {
		t.Helper()
		_, err := pool.Exec(t.Context(), `SELECT * FROM lake.`+table)
		if (err == nil) != can {
			t.Errorf("the analyst reads %s: %v, want %t", table, err, can)
		}
	}

	own := as(owner)
	grants("without a lake", own, "", false, "there is no lake")
	if err := lake.New(lake.Config{Pool: own, Bucket: "bucket"}).Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(own, `GRANT USAGE ON SCHEMA lake TO `+member+`; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA lake TO `+member)
	grants("the owner, who may not make roles", own, "hidden", false, owner+" of NETSIM_POSTGRES has not CREATEROLE", "superuser", "CREATE ROLE "+name+" LOGIN")
	execute(super, `CREATE ROLE `+name+` LOGIN PASSWORD 'secret'`)
	grants("a process", as(member), "", false, member, "connect with its owner, "+owner)
	reads(as(analyst), "ducklake_snapshot", false)
	grants("the owner, who may not change passwords", own, "hidden", false, "CREATEROLE", "ALTER ROLE "+name)
	reads(as(analyst), "ducklake_snapshot", false)
	grants("the owner", own, "", false)
	reads(as(analyst), "ducklake_snapshot", true)
	execute(own, `CREATE TABLE lake.added (n int)`)
	reads(as(analyst), "added", true)

	execute(super, `DROP OWNED BY `+name+`; DROP ROLE `+name)
	grants("a superuser", super, "secret", true)
	execute(own, `CREATE TABLE lake.added_later (n int)`)
	reads(as(analyst), "added_later", true)
	execute(super, `GRANT `+owner+` TO `+name)
	grants("for a member of the owner", super, "", false, "may do more than read")
}
