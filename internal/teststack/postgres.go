package teststack

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Postgres returns the URL, with a superuser, of a new, empty database. After the
// test the database is dropped, and its open connections are closed. Tests share the
// cluster, which does not fsync.
func Postgres(t testing.TB) string {
	t.Helper()
	return newDatabase(t, postgresAdmin(t), "template1")
}

// PostgresLike is Postgres with the tables that prepare creates in a new database. It is
// called once for each form, a word that names the tables: the other databases are copies.
func PostgresLike(t testing.TB, form string, prepare func(url string) error) string {
	t.Helper()
	admin := postgresAdmin(t)
	template := "template_" + form
	made, _ := templates.LoadOrStore(template, &sync.Once{})
	var err error
	made.(*sync.Once).Do(func() { err = makeTemplate(t.Context(), admin, template, prepare) })
	if err != nil {
		t.Fatalf("teststack: make the template database %s: %v", form, err)
	}
	return newDatabase(t, admin, template)
}

// templates has a sync.Once for each template that this process has found or made.
var templates sync.Map

// makeTemplate makes the template unless another process of the run has made it.
func makeTemplate(ctx context.Context, admin, name string, prepare func(url string) error) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) // and releases the lock
	if _, err := conn.Exec(ctx, "select pg_advisory_lock(hashtext($1))", name); err != nil {
		return err
	}
	var exists bool
	err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	unfinished := name + "_unfinished"
	for _, statement := range []string{"drop database if exists " + unfinished + " with (force)", "create database " + unfinished} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	at, err := databaseURL(admin, unfinished)
	if err != nil {
		return err
	}
	if err := prepare(at); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "alter database "+unfinished+" rename to "+name)
	return err
}

func postgresAdmin(t testing.TB) string {
	t.Helper()
	return sharedPostgres.get(t, "postgres", "--no-sync").URL
}

// newDatabase returns the URL of a new copy of the template.
func newDatabase(t testing.TB, admin, template string) string {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	if err := execute(t.Context(), admin, "create database "+name+" template "+template+" strategy file_copy"); err != nil {
		t.Fatalf("teststack: create database: %v", err)
	}
	t.Cleanup(func() {
		// Not t.Context(), which has ended.
		if err := execute(context.Background(), admin, "drop database "+name+" with (force)"); err != nil {
			t.Errorf("teststack: drop database: %v", err)
		}
	})
	at, err := databaseURL(admin, name)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// databaseURL returns the URL of a database in the cluster.
func databaseURL(admin, name string) (string, error) {
	u, err := url.Parse(admin)
	if err != nil {
		return "", fmt.Errorf("the address of PostgreSQL: %w", err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

func execute(ctx context.Context, url, statement string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}
