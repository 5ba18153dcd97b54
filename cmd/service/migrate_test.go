package service_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/infra/objects"
	"netsim/internal/servicetest"
)

// TestMigratedByAnOperator: with NETSIM_MIGRATE=false a process names what is missing and
// creates nothing. After Migrate every role works with no right to create anything in
// PostgreSQL.
func TestMigratedByAnOperator(t *testing.T) {
	t.Parallel()
	owner := servicetest.Config(t)
	process := owner
	process.Migrate = false
	owner.Postgres, process.Postgres = roles(t, owner.Postgres)

	refused := func(c settings.Config, want ...string) {
		t.Helper()
		err := service.Run(t.Context(), c, slog.New(slog.DiscardHandler), nil)
		if err == nil {
			t.Fatalf("the service ran; want the error %q", want)
		}
		for _, part := range append(want, "NETSIM_MIGRATE is false and ", ": run netsim migrate of this release first") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("got %q, want %q", err, part)
			}
		}
	}
	refused(process, "the schema netsim of PostgreSQL is missing or older than this release needs")
	for range 2 { // repeating it changes nothing
		if err := service.Migrate(t.Context(), owner, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(c *settings.Config) string{
		"topics": func(c *settings.Config) string {
			c.TopicPrefix += "other."
			return "missing topics: " + c.TopicPrefix + "billing, "
		},
		"dead letters": func(c *settings.Config) string {
			c.TopicPrefix += "other."
			return ", " + c.TopicPrefix + "poison, "
		},
		"bucket": func(c *settings.Config) string {
			c.S3Bucket += "-other"
			return "the bucket " + c.S3Bucket + " does not exist"
		},
	} {
		c := process
		want := change(&c)
		refused(c, want)
		if name == "bucket" {
			store := objects.New(objects.Config{Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket, AccessKey: c.S3AccessKey, SecretKey: c.S3SecretKey})
			if err := store.Ping(t.Context()); err == nil {
				t.Error("a process without the right to create it made the bucket")
			}
		}
	}
	execute(t, owner.Postgres, "ALTER TABLE jobs.river_migration RENAME TO away")
	refused(process, "the schema jobs of PostgreSQL is missing or older than this release needs")
	execute(t, owner.Postgres, "ALTER TABLE jobs.away RENAME TO river_migration")

	p := servicetest.Start(t, func(c *settings.Config) { *c = process })
	client := p.Service(t, servicetest.NewAccount())
	client.Post("/api/v1/workspaces", map[string]any{"name": "w"}).Want(http.StatusCreated)
	client.Eventually("/api/v1/health/ready", func(r servicetest.Reply) bool {
		return r.Status == http.StatusOK && r.Object()["status"] == "ready"
	})
}

// roles applies deploy/postgresql/roles.sql to a database, with names of its own. It
// returns the database's URLs of the owner and of the processes.
func roles(t *testing.T, database string) (owner, process string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "postgresql", "roles.sql"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	sql := strings.NewReplacer("DATABASE netsim", "DATABASE "+name, "netsim_owner", name+"_owner", "netsim", name+"_process").Replace(string(text))
	sql += "ALTER ROLE " + name + "_owner PASSWORD 'secret'; ALTER ROLE " + name + "_process PASSWORD 'secret';"
	execute(t, database, sql)
	t.Cleanup(func() { // before the database is dropped
		for _, role := range []string{name + "_process", name + "_owner"} {
			executeContext(t, context.Background(), database, "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role)
		}
	})
	u.User = url.UserPassword(name+"_owner", "secret")
	owner = u.String()
	u.User = url.UserPassword(name+"_process", "secret")
	return owner, u.String()
}

func execute(t *testing.T, database, sql string) {
	t.Helper()
	executeContext(t, t.Context(), database, sql)
}

func executeContext(t *testing.T, ctx context.Context, database, sql string) {
	t.Helper()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx) //nolint:errcheck // the statements have ended
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}
