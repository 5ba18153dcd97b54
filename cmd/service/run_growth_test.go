package service_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/settings"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
)

// TestALargeAccountCostsTheSame: what the service reads of each table for a run, from the
// submission to its bill, and for the first page of each list does not grow with what the
// account has already. What a start reads is subtracted. A scan of an account, or of a whole
// table, would read thousands of rows more. All rows are in one workspace, of which
// PostgreSQL's statistics know least.
func TestALargeAccountCostsTheSame(t *testing.T) {
	t.Parallel()
	const runs, rows = 5, 2000
	c := servicetest.Config(t)
	conn, err := pgx.Connect(t.Context(), c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	account := servicetest.NewAccount()
	size := 0
	// period starts the service, uses it and stops it. It returns how many rows were read of
	// each table.
	period := func(name string, use func(p *servicetest.Program, user *servicetest.Client)) map[string]int64 {
		before := rowsRead(t, conn)
		t.Run(name, func(t *testing.T) {
			p := servicetest.Start(t, func(own *settings.Config) { *own = c })
			p.Grant(t, account, "1000")
			use(p, p.User(t, account))
			servicetest.AwaitQuiet(t, c.Kafka[0], c.TopicPrefix, c.Postgres)
		})
		read := rowsRead(t, conn)
		for table := range read {
			read[table] -= before[table]
		}
		return read
	}
	run := func(_ *servicetest.Program, user *servicetest.Client) {
		for range runs {
			size += 4096
			id := user.Post("/api/v1/simple/simulations", object{"workload": object{
				"ranks": 8, "phases": []object{{"operationType": "allReduce", "dataSize": size}},
			}}).Want(202).Text("simulationId")
			user.Eventually("/api/v1/simulations/"+id, servicetest.HasStatus("completed"))
		}
	}
	period("others", func(p *servicetest.Program, user *servicetest.Client) { // all runs stay in one workspace
		p.Service(t, account).Post("/api/v1/workspaces", object{"name": "other"}).Want(201)
		study := user.Post("/api/v1/studies", object{
			"name": "sizes", "base": object{"simple": servicetest.SimpleSubmission(8)},
			"axes": []object{{"field": "workload.phases[0].dataSize", "values": []int{1 << 10, 2 << 10}}},
		}).Want(201).Text("id")
		user.Eventually("/api/v1/studies/"+study, servicetest.HasStatus("completed"))
	})
	nothing := func(*servicetest.Program, *servicetest.Client) {}
	small, smallStart := period("small", run), period("smallStart", nothing)
	filled := fill(t, conn, rows)
	large, largeStart := period("large", run), period("largeStart", nothing)
	lists := period("lists", func(p *servicetest.Program, user *servicetest.Client) {
		for _, list := range []string{
			"simulations", "simulations?status=completed", "configurations", "tracesets", "libraries", "workspaces", "studies",
		} {
			user.Get("/api/v1/" + list).Want(200)
		}
		service := p.Service(t, account)
		today := time.Now()
		days := "?startDate=" + today.AddDate(0, 0, -7).Format(time.DateOnly) + "&endDate=" + today.AddDate(0, 0, 1).Format(time.DateOnly)
		for _, list := range []string{"billing/items", "billing/events", "billing/costs" + days} {
			service.Get("/api/v1/" + list).Want(200)
		}
	})
	for _, table := range filled {
		was, is := (small[table]-smallStart[table])/runs, (large[table]-largeStart[table])/runs
		t.Logf("%s: %d rows a run, then %d (a start %d, then %d)", table, was, is, smallStart[table], largeStart[table])
		if is-max(was, 0) > rows/2 { // the first start reads more than later ones
			t.Errorf("a run reads %d rows of %s when it has %d more, before it read %d", is, table, rows, was)
		}
		if read := lists[table] - largeStart[table]; read > rows/2 {
			t.Errorf("the first pages of all lists read %d rows of %s", read, table)
		}
	}
}

// rowsRead returns how many rows of each table have been read, and entries of its indexes,
// after all other sessions have ended.
func rowsRead(t *testing.T, conn *pgx.Conn) map[string]int64 {
	t.Helper()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for ends := time.Now().Add(testwait.Limit(t)); ; <-every.C {
		var others int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&others); err != nil {
			t.Fatal(err)
		}
		if others == 0 {
			break
		}
		if time.Now().After(ends) {
			t.Fatalf("%d sessions have not ended", others)
		}
	}
	read := map[string]int64{}
	result, err := conn.Query(t.Context(), `
		SELECT schemaname || '.' || relname, coalesce(seq_tup_read, 0) + coalesce((SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0)::bigint
		FROM pg_stat_user_tables t`)
	if err != nil {
		t.Fatal(err)
	}
	var table string
	var n int64
	if _, err := pgx.ForEachRow(result, []any{&table, &n}, func() error { read[table] = n; return nil }); err != nil {
		t.Fatal(err)
	}
	return read
}

// fill copies the rows of every table of the read model and of the job queue until there are
// so many more of each, with other keys, and returns their names. A price list has a few rows
// in any account. Jobs that have not ended are not copied: the service would do them.
func fill(t *testing.T, conn *pgx.Conn, rows int) (tables []string) {
	t.Helper()
	statements, err := conn.Query(t.Context(), `
		SELECT c.oid::regclass::text, format('INSERT INTO %1$s (%2$s) SELECT %3$s FROM (SELECT *, count(*) OVER () AS of FROM %1$s%4$s) r, generate_series(1, $1 / of) i',
			c.oid::regclass, string_agg(quote_ident(attname), ', '), string_agg(CASE
				WHEN attname = 'unique_key' THEN 'NULL'
				WHEN attname IN ('account_id', 'workspace_id') OR NOT attnum = ANY(x.indkey) AND attname <> 'library_hash' THEN format('r.%I', attname)
				WHEN atttypid = 'text'::regtype THEN format('CASE WHEN r.%1$I ~ ''[0-9a-z]{26}$'' THEN overlay(r.%1$I placing lpad(i::text, 6, ''0'') from length(r.%1$I) - 13) ELSE r.%1$I || ''~'' || i END', attname)
				WHEN atttypid = 'timestamptz'::regtype THEN format('r.%I - i * interval ''1 second''', attname)
				WHEN atttypid = 'date'::regtype THEN format('r.%I - i::int', attname)
				WHEN atttypid = 'int'::regtype THEN format('r.%I + i::int', attname)
				ELSE format('r.%I + i * 1000000', attname) END, ', '),
			CASE WHEN c.relname = 'river_job' THEN ' WHERE finalized_at IS NOT NULL' END)
		FROM pg_class c JOIN pg_index x ON x.indrelid = c.oid AND x.indisprimary JOIN pg_attribute a ON a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
		WHERE c.relnamespace = 'readmodel'::regnamespace AND c.relname NOT IN ('offsets', 'log', 'rates') OR c.oid = 'jobs.river_job'::regclass
		GROUP BY c.oid, c.relname HAVING count(*) FILTER (WHERE attnum = ANY(x.indkey) AND attname NOT IN ('account_id', 'workspace_id')) > 0`)
	if err != nil {
		t.Fatal(err)
	}
	fills := map[string]string{}
	var table, statement string
	if _, err := pgx.ForEachRow(statements, []any{&table, &statement}, func() error { fills[table] = statement; return nil }); err != nil {
		t.Fatal(err)
	}
	for table, statement := range fills {
		added, err := conn.Exec(t.Context(), statement, rows)
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", statement, err))
		}
		if added.RowsAffected() > 0 {
			tables = append(tables, table)
		}
	}
	if _, err := conn.Exec(t.Context(), "ANALYZE; SELECT pg_stat_force_next_flush()"); err != nil { // what was read here counts for no run
		t.Fatal(err)
	}
	return tables
}
