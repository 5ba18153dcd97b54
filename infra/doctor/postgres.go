package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Postgres is the database.
type Postgres struct {
	URL      string
	Sessions int      // that a process may open at most
	Schemas  []string // of the service
	Owner    bool     // the user makes the tables; otherwise it only reads and writes rows
	Now      func() time.Time
	// ReadModel returns nil if the read model was made by this release, and an error
	// otherwise; exists is false if there is none. Missing returns the statements that add
	// the indexes that are missing.
	ReadModel func(ctx context.Context) (exists bool, err error)
	Missing   func(ctx context.Context) ([]string, error)
}

const postgresComponent = "postgres"

// Checks returns the checks of the database.
func (p Postgres) Checks() []Check {
	return []Check{
		{postgresComponent, "reachable", true, p.with(p.reachable)},
		{postgresComponent, "version", false, p.with(p.version)},
		{postgresComponent, "writable", false, p.with(p.writable)},
		{postgresComponent, "rights", false, p.with(p.rights)},
		{postgresComponent, "sessions", false, p.with(p.sessions)},
		{postgresComponent, "settings", false, p.with(p.settings)},
		{postgresComponent, "read model", false, p.readModel},
		{postgresComponent, "indexes", false, p.with(p.indexes)},
		{postgresComponent, "clock", false, p.with(p.clock)},
		{postgresComponent, "tls", false, p.with(p.tls)},
	}
}

// with returns a check with a connection of its own.
func (p Postgres) with(check func(ctx context.Context, db *pgx.Conn) Result) func(ctx context.Context) Result {
	return func(ctx context.Context) Result {
		c, err := pgx.ParseConfig(p.URL)
		if err != nil {
			return Failure("correct NETSIM_POSTGRES", "the setting cannot be read")
		}
		c.RuntimeParams["application_name"] = "netsim-doctor"
		db, err := pgx.ConnectConfig(ctx, c)
		if err != nil {
			return p.refused(c, err)
		}
		defer db.Close(context.WithoutCancel(ctx)) //nolint:errcheck // everything was read
		return check(ctx, db)
	}
}

// refused explains why there is no connection.
func (p Postgres) refused(c *pgx.ConnConfig, err error) Result {
	at := fmt.Sprintf("%s:%d", c.Host, c.Port)
	answer, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case answered && (answer.Code == "28P01" || answer.Code == "28000"):
		return Failure("correct user and password in NETSIM_POSTGRES, and pg_hba.conf", "%s refuses the user %q: %s", at, c.User, answer.Message)
	case answered && answer.Code == "3D000":
		return Failure("create the database, or correct its name in NETSIM_POSTGRES", "%s has no database %q", at, c.Database)
	case answered && answer.Code == "53300":
		return Failure("raise max_connections, or lower NETSIM_POSTGRES_POOL or the number of processes", "%s has no session left: %s", at, answer.Message)
	case answered:
		return Failure("look at PostgreSQL's log", "%s answers: %s", at, answer.Message)
	}
	return Failure("start PostgreSQL, or correct host and port in NETSIM_POSTGRES", "no connection to %s: %v", at, err)
}

func (p Postgres) reachable(ctx context.Context, db *pgx.Conn) Result {
	var standby bool
	if err := db.QueryRow(ctx, `SELECT pg_is_in_recovery()`).Scan(&standby); err != nil {
		return Failure("look at PostgreSQL's log", "%v", err)
	}
	c := db.Config()
	return Good("%s:%d answers, database %q, user %q", c.Host, c.Port, c.Database, c.User)
}

// minPostgres is the oldest version that is tested.
const minPostgres = 150000

func (p Postgres) version(ctx context.Context, db *pgx.Conn) Result {
	var number int
	var text, encoding string
	err := db.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'), current_setting('server_encoding')`).
		Scan(&number, &text, &encoding)
	switch {
	case err != nil:
		return Failure("look at PostgreSQL's log", "%v", err)
	case number < minPostgres:
		return Failure("upgrade PostgreSQL", "PostgreSQL %s; 15 or newer is needed", text)
	case encoding != "UTF8":
		return Failure("create the database with the encoding UTF8", "the database's encoding is %s", encoding)
	}
	return Good("PostgreSQL %s", text)
}

// writable writes to a temporary table, which is dropped at the end of the transaction.
// That also shows a full disk.
func (p Postgres) writable(ctx context.Context, db *pgx.Conn) Result {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `CREATE TEMP TABLE netsim_doctor (text text) ON COMMIT DROP;
			INSERT INTO netsim_doctor SELECT repeat(n::text, 500) FROM generate_series(1, 100) n`)
		return err
	})
	answer, answered := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		return Good("takes writes")
	case answered && answer.Code == "25006":
		return Failure("connect to the primary, or make it writable again (default_transaction_read_only)", "the database is read-only")
	case answered && strings.HasPrefix(answer.Code, "53"):
		return Failure("make room on PostgreSQL's disk", "PostgreSQL is out of resources: %s", answer.Message)
	}
	return Failure("look at PostgreSQL's log", "a write fails: %v", err)
}

// rights checks what the user may do: as the owner, make schemas and everything in those of
// the service; otherwise, read and write every row.
func (p Postgres) rights(ctx context.Context, db *pgx.Conn) Result {
	if !p.Owner {
		return p.memberRights(ctx, db)
	}
	const advice = "connect with the owner of the tables, or set NETSIM_MIGRATE=false and run 'netsim migrate' as the owner; "
	var create bool
	var others []string
	err := db.QueryRow(ctx, `SELECT has_database_privilege(current_database(), 'CREATE'), coalesce((
			SELECT array_agg(format('%s of %s', nspname, nspowner::regrole) ORDER BY nspname) FROM pg_namespace
			WHERE nspname = ANY($1) AND NOT pg_has_role(nspowner, 'USAGE')), '{}')`, p.Schemas).Scan(&create, &others)
	user := pgx.Identifier{db.Config().User}.Sanitize()
	switch {
	case err != nil:
		return Failure("look at PostgreSQL's log", "%v", err)
	case len(others) > 0:
		return Failure(advice+"the process makes what is missing with NETSIM_MIGRATE=true", "the user does not own the schemas %s", strings.Join(others, ", "))
	case !create:
		return Failure(fmt.Sprintf(advice+"or, as a superuser, GRANT CREATE ON DATABASE %s TO %s", pgx.Identifier{db.Config().Database}.Sanitize(), user),
			"the user may not create schemas: a read model could not be made or rebuilt")
	}
	return Good("the user may make schemas and owns those of the service")
}

// memberRights checks that the user may read and write every row in the schemas that exist.
func (p Postgres) memberRights(ctx context.Context, db *pgx.Conn) Result {
	rows, err := db.Query(ctx, `SELECT nspname FROM pg_namespace n WHERE nspname = ANY($1) AND (NOT has_schema_privilege(oid, 'USAGE') OR EXISTS (
			SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND (
				c.relkind IN ('r', 'p') AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
					AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
				OR c.relkind IN ('v', 'm') AND NOT has_table_privilege(c.oid, 'SELECT')
				OR c.relkind = 'S' AND NOT (has_sequence_privilege(c.oid, 'SELECT') AND has_sequence_privilege(c.oid, 'UPDATE')))))
		ORDER BY 1`, p.Schemas)
	if err != nil {
		return Failure("look at PostgreSQL's log", "%v", err)
	}
	lacking, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return Failure("look at PostgreSQL's log", "%v", err)
	case len(lacking) > 0:
		schemas, user := strings.Join(lacking, ", "), pgx.Identifier{db.Config().User}.Sanitize()
		return Failure(fmt.Sprintf("run as the owner of the tables, and see deploy/postgresql/roles.sql for tables that are added later: "+
			"GRANT USAGE ON SCHEMA %[1]s TO %[2]s; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %[1]s TO %[2]s; "+
			"GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA %[1]s TO %[2]s;", schemas, user),
			"the user may not read and write every row in the schemas %s", schemas)
	}
	return Good("the user may read and write every row; it need not make anything, because NETSIM_MIGRATE is false")
}

func (p Postgres) sessions(ctx context.Context, db *pgx.Conn) Result {
	var most, used int
	err := db.QueryRow(ctx, `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())::int`).Scan(&most, &used)
	const advice = "raise max_connections, or lower NETSIM_POSTGRES_POOL; the need of all processes counts"
	switch {
	case err != nil:
		return Failure("look at PostgreSQL's log", "%v", err)
	case p.Sessions > most:
		return Failure(advice, "this process may open %d sessions, and PostgreSQL allows %d", p.Sessions, most)
	case p.Sessions > most-used:
		return Warning(advice+". If this process runs already, its sessions are among those in use", "this process may open %d sessions; %d of %d are in use", p.Sessions, used, most)
	}
	return Good("this process may open %d sessions; %d of %d are in use", p.Sessions, used, most)
}

// settings checks settings of the server and of the session that harm the service.
func (p Postgres) settings(ctx context.Context, db *pgx.Conn) Result {
	rows, err := db.Query(ctx, `SELECT name || '=' || setting FROM pg_settings
		WHERE name IN ('fsync', 'full_page_writes', 'autovacuum') AND setting = 'off'
			OR name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout') AND setting <> '0'
		ORDER BY name`)
	if err != nil {
		return Failure("look at PostgreSQL's log", "%v", err)
	}
	bad, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return Failure("look at PostgreSQL's log", "%v", err)
	case len(bad) > 0:
		return Warning("use PostgreSQL's defaults: without fsync or full_page_writes a crash can destroy the database, without autovacuum it grows, and timeouts end rebuilds", "%s", strings.Join(bad, ", "))
	}
	return Good("nothing is set that harms the service")
}

func (p Postgres) readModel(ctx context.Context) Result {
	switch exists, err := p.ReadModel(ctx); {
	case err != nil:
		return Failure("rebuild the read model with this release, or start the release that made it", "%v", err)
	case !exists:
		return Warning("start a process with the role projector, which makes it from the log", "there is no read model")
	}
	return Good("was made by this release")
}

func (p Postgres) indexes(ctx context.Context, db *pgx.Conn) Result {
	rows, err := db.Query(ctx, `SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relnamespace = ANY(SELECT oid FROM pg_namespace WHERE nspname = ANY($1)) AND NOT (i.indisvalid AND i.indisready) ORDER BY 1`, p.Schemas)
	if err != nil {
		return Failure("look at PostgreSQL's log", "%v", err)
	}
	invalid, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return Failure("look at PostgreSQL's log", "%v", err)
	}
	exists, err := p.ReadModel(ctx)
	var missing []string
	if exists && err == nil {
		missing, err = p.Missing(ctx)
	}
	switch {
	case len(invalid) > 0:
		const again = "REINDEX INDEX CONCURRENTLY "
		return Failure(asOwner+again+strings.Join(invalid, "; "+again)+";", "invalid indexes: %s", strings.Join(invalid, ", "))
	case err != nil:
		return Good("all are valid; the read model's were not compared")
	case len(missing) > 0:
		return Failure(asOwner+strings.Join(missing, " "), "%d indexes of the read model are missing, reads are slow without them", len(missing))
	case !exists:
		return Good("all are valid")
	}
	return Good("all are valid, and none is missing")
}

// asOwner begins advice with statements that cannot run in a transaction.
const asOwner = "run in 'netsim psql' as the owner of the tables, each statement by itself; reads and writes go on: "

func (p Postgres) clock(ctx context.Context, db *pgx.Conn) Result {
	began, sent := time.Now(), p.Now()
	var at time.Time
	if err := db.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&at); err != nil {
		return Failure("look at PostgreSQL's log", "%v", err)
	}
	took := time.Since(began)
	return compareClocks(at.Sub(sent.Add(took/2)), took/2)
}

func (p Postgres) tls(_ context.Context, db *pgx.Conn) Result {
	conn, secure := db.PgConn().Conn().(*tls.Conn)
	c := db.Config()
	switch {
	case !secure && strings.HasPrefix(c.Host, "/"):
		return Good("a socket of this machine")
	case !secure:
		return notSecret(c.Host, "set sslmode=verify-full in NETSIM_POSTGRES")
	case c.TLSConfig != nil && c.TLSConfig.InsecureSkipVerify && c.TLSConfig.VerifyPeerCertificate == nil:
		return Warning("set sslmode=verify-full and sslrootcert in NETSIM_POSTGRES", "TLS, but the server's certificate is not verified")
	}
	return expiry(conn.ConnectionState().PeerCertificates[0].NotAfter, p.Now())
}
