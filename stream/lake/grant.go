package lake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Grant lets a role of PostgreSQL read the lake, also the tables that are added later. It
// creates the role with the password, or with a null one, which cannot log in by
// password, unless the role exists; a password changes that of an existing role. The
// role gets no right on other schemas. It fails unless the role can read the lake then:
// PostgreSQL only warns of a right that the caller may not give.
func Grant(ctx context.Context, pool *pgxpool.Pool, role, password string) (created bool, err error) {
	if role == "" || len(role) > 63 || strings.ContainsRune(role, 0) {
		return false, fmt.Errorf("the role is %q: it must have 1 to 63 bytes", role)
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
		owner, err := ownerFor(ctx, tx, role)
		if err != nil {
			return err
		}
		if created, err = ensureRole(ctx, tx, role, password); err != nil {
			return err
		}
		name, owned := pgx.Identifier{role}.Sanitize(), pgx.Identifier{owner}.Sanitize()
		for _, statement := range []string{
			"GRANT USAGE ON SCHEMA lake TO " + name,
			"GRANT SELECT ON ALL TABLES IN SCHEMA lake TO " + name,
			"ALTER DEFAULT PRIVILEGES FOR ROLE " + owned + " IN SCHEMA lake GRANT SELECT ON TABLES TO " + name,
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("let the role %s read the lake: %w", role, err)
	}
	return created, nil
}

// ownerFor returns the owner of the lake, which gives its rights to the role. It refuses a
// caller who does not act for the owner, and a role that may do more than read.
func ownerFor(ctx context.Context, tx pgx.Tx, role string) (owner string, err error) {
	var user string
	var owns, powerful bool
	err = tx.QueryRow(ctx, `
		SELECT pg_get_userbyid(nspowner)::text, current_user::text, pg_has_role(nspowner, 'USAGE'),
			EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND (rolsuper OR rolcreaterole OR rolcreatedb OR pg_has_role(oid, nspowner, 'MEMBER')))
		FROM pg_namespace WHERE nspname = 'lake' AND to_regclass('lake.netsim_upload') IS NOT NULL`, role).Scan(&owner, &user, &owns, &powerful)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", ErrMissing
	case err != nil:
		return "", err
	case powerful:
		return "", fmt.Errorf("the role %s may do more than read: give another one", role)
	case !owns:
		return "", fmt.Errorf("the user %s of NETSIM_POSTGRES may not give rights on the lake: connect with its owner, %s", user, owner)
	}
	return owner, nil
}

// ensureRole creates the role, or changes its password if there is one.
func ensureRole(ctx context.Context, tx pgx.Tx, role, password string) (created bool, err error) {
	var exists, may bool
	var user string
	err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1), rolsuper OR rolcreaterole, current_user::text
		FROM pg_roles WHERE rolname = current_user`, role).Scan(&exists, &may, &user)
	if err != nil || exists && password == "" {
		return false, err
	}
	name := pgx.Identifier{role}.Sanitize()
	statement := "ALTER ROLE " + name
	if !exists {
		statement = "CREATE ROLE " + name + " LOGIN"
	}
	if !may {
		return false, fmt.Errorf("the user %s of NETSIM_POSTGRES has not CREATEROLE: as a superuser run %s with the password, "+
			"and then this command without a password", user, statement)
	}
	if password != "" {
		statement += " PASSWORD " + literal(password)
	}
	if _, err := tx.Exec(ctx, statement); err != nil {
		if refused, ok := errors.AsType[*pgconn.PgError](err); ok { // its text may repeat the statement
			err = fmt.Errorf("PostgreSQL refuses the role or its password (SQLSTATE %s)", refused.Code)
		}
		return false, err
	}
	return !exists, nil
}

// ErrMissing means that no process has created the lake yet.
var ErrMissing = errors.New("there is no lake: a process with the role lake creates it")

// literal quotes a text for a statement that takes no arguments.
func literal(text string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), "'", "''") + "'"
}

// Access is what a reader needs to attach the lake.
type Access struct {
	Postgres  *pgx.ConnConfig
	Role      string // of PostgreSQL; "" for the role of Postgres
	Password  string // of Role, or "" to leave a place for it
	Endpoint  string // base URL of the object store
	Region    string
	Bucket    string
	AccessKey string // "" to leave a place for it
	SecretKey string
}

// Attach returns the statements of DuckDB that attach the lake, read-only. A place that
// the reader has to fill in is in angle brackets.
func Attach(a Access) string {
	place := func(text, name string) string {
		if text == "" {
			return "<" + name + ">"
		}
		return text
	}
	endpoint, secure := a.Endpoint, true
	if rest, plain := strings.CutPrefix(endpoint, "http://"); plain {
		endpoint, secure = rest, false
	}
	endpoint = strings.TrimSuffix(strings.TrimPrefix(endpoint, "https://"), "/")
	role, password := a.Role, a.Password
	if role == "" {
		role = a.Postgres.User
	}
	connection := fmt.Sprintf("host=%s port=%d dbname=%s user=%s password=%s",
		parameter(a.Postgres.Host), a.Postgres.Port, parameter(a.Postgres.Database), parameter(role), parameter(place(password, "password of the role")))
	plain := func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil }
	if a.Postgres.TLSConfig != nil && !slices.ContainsFunc(a.Postgres.Fallbacks, plain) {
		connection += " sslmode=require"
	}
	return fmt.Sprintf(`INSTALL ducklake; INSTALL postgres; INSTALL httpfs;
LOAD ducklake; LOAD postgres; LOAD httpfs;
CREATE OR REPLACE SECRET netsim_files (TYPE s3, KEY_ID %s, SECRET %s, REGION %s, ENDPOINT %s, URL_STYLE 'path', USE_SSL %t, SCOPE %s);
ATTACH %s AS lake (READ_ONLY, METADATA_SCHEMA 'lake');
`,
		quoted(place(a.AccessKey, "access key")), quoted(place(a.SecretKey, "secret key")), quoted(a.Region), quoted(endpoint), secure,
		quoted("s3://"+a.Bucket+"/"+Folder), quoted("ducklake:postgres:"+connection))
}

// parameter quotes a value of a connection string of PostgreSQL.
func parameter(text string) string {
	if text != "" && !strings.ContainsAny(text, ` '\`) {
		return text
	}
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// quoted is a text in DuckDB's SQL.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
