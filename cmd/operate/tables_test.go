package operate_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/cmd/operate"
	"netsim/internal/servicetest"
)

// TestTablesAreDumpedAndRestored: what the database lost comes back, what it has since
// stays, and a repetition adds nothing. A dump that fails leaves the former one, and a
// damaged dump adds nothing.
func TestTablesAreDumpedAndRestored(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	db, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	execute := func(sql string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	rows := func() (all []string) {
		t.Helper()
		found, err := db.Query(t.Context(), `SELECT d::text FROM netsim.directory d WHERE id LIKE 'user_t%' UNION ALL SELECT l::text FROM netsim.simulation_logs l ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		if all, err = pgx.CollectRows(found, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
		return all
	}
	tools, err := operate.OpenTools(t.Context(), p.Config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	restore := func(file string, added int64, want string) {
		t.Helper()
		got, err := tools.RestoreTables(t.Context(), file)
		if got != added || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d rows, %v; want %d, %q", got, err, added, want)
		}
	}
	const insert = `INSERT INTO netsim.directory (kind, id, name, updated_at) VALUES ('user', 'user_t1', E'Ada\tof "\\N"\n', '2026-01-01'), ('user', 'user_t2', '', '2026-01-01');
		INSERT INTO netsim.simulation_logs VALUES ('sim_1', 1, '2026-01-01', 1, 'engine', E'\\.'), ('sim_2', 1, '2026-01-01', 1, 'engine', 'before'), ('sim_2', 2, '2026-01-01', 1, 'engine', 'end')`
	execute(insert)
	whole, file := rows(), filepath.Join(t.TempDir(), "dump")
	if n, err := operate.DumpTables(t.Context(), p.Config, file); err != nil || n < 5 {
		t.Fatalf("%d rows, %v", n, err)
	}
	restore(file, 0, "")
	const lose = `DELETE FROM netsim.directory WHERE id LIKE 'user_t%'; DELETE FROM netsim.simulation_logs`
	execute(lose)
	restore(file, 5, "")
	restore(file, 0, "")
	if diff := cmp.Diff(whole, rows()); diff != "" {
		t.Errorf("restored (-before +after):\n%s", diff)
	}

	execute(lose + `; INSERT INTO netsim.directory (kind, id, name, updated_at) VALUES ('user', 'user_t1', 'Ada King', '2026-02-01');
		INSERT INTO netsim.simulation_logs VALUES ('sim_2', 1, '2026-02-01', 1, 'engine', 'since')`)
	restore(file, 2, "") // user_t2 and sim_1
	if all := strings.Join(rows(), "\n"); !strings.Contains(all, "Ada King") || !strings.Contains(all, "since") || strings.Contains(all, "before") {
		t.Errorf("what the database had was changed:\n%s", all)
	}

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	execute(lose)
	for damage, damaged := range map[string]string{
		"is not a whole dump":             string(text[:len(text)-40]),
		"restore netsim.simulation_logs:": strings.Replace(string(text), "sim_2\t2\t", "sim_2\tx\t", 1),
		"0 of 2 tables":                   strings.ReplaceAll(string(text), "COPY ", "-- "),
		"never restored":                  strings.Replace(string(text), "COPY netsim.directory", "COPY netsim.release_level", 1),
	} {
		broken := filepath.Join(t.TempDir(), "broken")
		if err := os.WriteFile(broken, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		restore(broken, 0, damage)
		if left := rows(); len(left) > 0 {
			t.Errorf("%s: %q were restored", damage, left)
		}
	}
	other := p.Config
	other.Postgres = strings.Replace(other.Postgres, "/test_", "/nowhere_", 1)
	if _, err := operate.DumpTables(t.Context(), other, file); err == nil {
		t.Error("a database that does not exist was dumped")
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != string(text) {
		t.Errorf("a dump that failed changed the former file (%v)", err)
	}
}
