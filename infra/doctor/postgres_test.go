package doctor

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/internal/teststack"
)

func newPostgres(t *testing.T) (Postgres, *pgx.Conn) {
	t.Helper()
	p := Postgres{
		URL: teststack.Postgres(t), Sessions: 10, Schemas: []string{"readmodel"}, Owner: true, Now: time.Now,
		ReadModel: func(context.Context) (bool, error) { return false, nil },
	}
	db, err := pgx.Connect(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(context.Background()) })
	return p, db
}

// changed returns the URL of a database, changed.
func changed(t *testing.T, at string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

// TestPostgres: an empty database has only good results, except that there is no read
// model, and that the servers of tests have no fsync. Each thing that is broken has one
// that names it.
func TestPostgres(t *testing.T) {
	t.Parallel()
	p, db := newPostgres(t)
	for _, c := range p.Checks() {
		switch got := c.Run(t.Context()); c.Name {
		case "read model":
			want(t, got, Warn, "no read model", "projector")
		case "settings":
			want(t, got, Warn, "fsync=off")
		default:
			want(t, got, OK)
		}
	}
	execute := func(sql string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	execute(`CREATE SCHEMA readmodel; CREATE TABLE readmodel.rows (n int); INSERT INTO readmodel.rows VALUES (1), (1)`)
	if _, err := db.Exec(t.Context(), `CREATE UNIQUE INDEX CONCURRENTLY twice ON readmodel.rows (n)`); err == nil {
		t.Fatal("a unique index of equal rows was made")
	}
	execute(`CREATE ROLE ` + role(db) + ` LOGIN PASSWORD 'right'`)
	t.Cleanup(func() {
		db.Exec(context.Background(), `DROP OWNED BY `+role(db)+`; DROP ROLE `+role(db)) //nolint:errcheck // the cluster ends with the tests
	})

	for _, c := range []struct {
		check  string
		change func(p *Postgres)
		status Status
		words  []string
	}{
		{"indexes", func(*Postgres) {}, Fail, []string{"invalid indexes: readmodel.twice", "REINDEX INDEX CONCURRENTLY readmodel.twice;"}},
		{"reachable", func(p *Postgres) { p.URL = changed(t, p.URL, func(u *url.URL) { u.Host = teststack.FreeAddress(t) }) }, Fail, []string{"no connection", "start PostgreSQL"}},
		{"reachable", func(p *Postgres) { p.URL = changed(t, p.URL, func(u *url.URL) { u.Path = "/nowhere" }) }, Fail, []string{`no database "nowhere"`}},
		{"reachable", func(p *Postgres) {
			p.URL = changed(t, p.URL, func(u *url.URL) { u.User = url.UserPassword(role(db), "wrong") })
		}, Fail, []string{`refuses the user "` + role(db) + `"`, "pg_hba.conf"}},
		{"writable", func(p *Postgres) {
			p.URL = changed(t, p.URL, func(u *url.URL) {
				q := u.Query()
				q.Set("default_transaction_read_only", "on")
				u.RawQuery = q.Encode()
			})
		}, Fail, []string{"read-only", "primary"}},
		{"settings", func(p *Postgres) {
			p.URL = changed(t, p.URL, func(u *url.URL) {
				q := u.Query()
				q.Set("statement_timeout", "1000")
				u.RawQuery = q.Encode()
			})
		}, Warn, []string{"statement_timeout=1000"}},
		{"rights", func(p *Postgres) {
			p.URL = changed(t, p.URL, func(u *url.URL) { u.User = url.UserPassword(role(db), "right") })
		}, Fail, []string{"does not own the schemas readmodel", "connect with the owner", "NETSIM_MIGRATE=false"}},
		{"rights", func(p *Postgres) {
			p.URL, p.Schemas = changed(t, p.URL, func(u *url.URL) { u.User = url.UserPassword(role(db), "right") }), nil
		}, Fail, []string{"may not create schemas", "GRANT CREATE ON DATABASE"}},
		{"sessions", func(p *Postgres) { p.Sessions = 1000 }, Fail, []string{"1000 sessions", "max_connections"}},
		{"clock", func(p *Postgres) { p.Now = func() time.Time { return time.Now().Add(-time.Hour) } }, Fail, []string{"ahead of", "NTP"}},
	} {
		broken := p
		c.change(&broken)
		want(t, run(t, broken.Checks(), c.check), c.status, c.words...)
	}
}

// TestPostgresOfAMember: where an operator makes the tables, the user of a process needs
// only what deploy/postgresql/roles.sql gives. If a right is missing, the advice gives
// exactly that, and the user owns nothing then.
func TestPostgresOfAMember(t *testing.T) {
	t.Parallel()
	p, db := newPostgres(t)
	execute := func(sql string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	execute(`CREATE ROLE ` + role(db) + ` LOGIN PASSWORD 'right'`)
	t.Cleanup(func() {
		db.Exec(context.Background(), `DROP OWNED BY `+role(db)+`; DROP ROLE `+role(db)) //nolint:errcheck // the cluster ends with the tests
	})
	p.Owner, p.URL = false, changed(t, p.URL, func(u *url.URL) { u.User = url.UserPassword(role(db), "right") })
	rights := func() Result { return run(t, p.Checks(), "rights") }
	want(t, rights(), OK) // nothing is there yet
	execute(`CREATE SCHEMA readmodel; CREATE TABLE readmodel.rows (n int); CREATE VIEW readmodel.shown AS TABLE readmodel.rows; CREATE SEQUENCE readmodel.ids`)
	for _, lost := range []string{
		``, `REVOKE USAGE ON SCHEMA readmodel FROM `, `REVOKE UPDATE ON readmodel.rows FROM `, `REVOKE DELETE ON readmodel.rows FROM `,
		`REVOKE SELECT ON readmodel.shown FROM `, `REVOKE UPDATE ON SEQUENCE readmodel.ids FROM `,
	} {
		if lost != "" {
			execute(lost + role(db))
		}
		got := rights()
		want(t, got, Fail, "read and write every row in the schemas readmodel", "roles.sql")
		if strings.Contains(got.Advice, "OWNER") {
			t.Errorf("the advice undoes the least rights: %s", got.Advice)
		}
		_, statements, _ := strings.Cut(got.Advice, ": ")
		execute(statements)
		want(t, rights(), OK, "NETSIM_MIGRATE is false")
	}
}

// role returns the name of a role that only this test uses.
func role(db *pgx.Conn) string { return "doctor_" + db.Config().Database }
