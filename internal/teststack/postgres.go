package teststack

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// databases counts the databases created in this process's cluster.
var databases atomic.Int64

// Postgres returns the URL, with a superuser, of a new, empty database. After the
// test the database is dropped, and its open connections are closed. The tests of
// this process share the cluster, which does not fsync.
func Postgres(t testing.TB) string {
	t.Helper()
	admin := sharedPostgres.get(t, "postgres", "--no-sync").URL
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := execute(t.Context(), admin, "create database "+name); err != nil {
		t.Fatalf("teststack: create database: %v", err)
	}
	t.Cleanup(func() {
		// Not t.Context(), which has ended.
		if err := execute(context.Background(), admin, "drop database "+name+" with (force)"); err != nil {
			t.Errorf("teststack: drop database: %v", err)
		}
	})
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
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
