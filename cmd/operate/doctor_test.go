package operate_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/operate"
	"netsim/cmd/settings"
	"netsim/infra/doctor"
	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// examined examines the components of the settings and returns the rows by component and
// check, such as "kafka, clock".
func examined(t *testing.T, c settings.Config, now func() time.Time) map[string]doctor.Row {
	t.Helper()
	rows, err := operate.Examine(t.Context(), c, 10*time.Minute, now)
	if err != nil {
		t.Fatal(err)
	}
	database, err := pgx.ParseConfig(c.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]doctor.Row{}
	for _, r := range rows {
		name := r.Component + ", " + r.Check
		if _, twice := all[name]; twice {
			t.Errorf("%s was checked twice", name)
		}
		if (r.Advice == "") != (r.Status == doctor.OK || r.Status == doctor.Skipped) || r.Finding == "" {
			t.Errorf("%+v: want a finding, and advice exactly if something is wrong", r)
		}
		for _, secret := range []string{c.S3SecretKey, c.WriterKeys, c.EngineToken, c.SchemaRegistrySecret, ":" + database.Password + "@"} {
			if secret != "" && strings.Contains(r.Finding+r.Advice, secret) {
				t.Errorf("%+v shows a secret", r)
			}
		}
		all[name] = r
	}
	return all
}

// TestDoctor: of a healthy service nothing fails, and only what a stack for tests lacks
// has a warning. Each thing that is broken then has a row that names it and says what to
// do, and the rows of other components stay as they were.
func TestDoctor(t *testing.T) {
	t.Parallel()
	p := servicetest.Start(t)
	healthy := examined(t, p.Config, time.Now)
	warned := map[string]bool{"settings, mode": true, "postgres, settings": true} // the servers of tests have no fsync
	for name, r := range healthy {
		// The tests' machine may be small, and other tests use its PostgreSQL.
		small := (r.Component == "machine" || name == "postgres, sessions") && r.Status == doctor.Warn
		if !small && (r.Status == doctor.OK) == warned[name] {
			t.Errorf("a healthy service has the row %+v", r)
		}
	}
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(refuses.Close)
	down, other := teststack.FreeAddress(t), anotherRelease(t)
	for name, c := range map[string]struct {
		change func(c *settings.Config)
		status doctor.Status
		words  string
	}{
		"kafka, reachable":           {func(c *settings.Config) { c.Kafka = []string{down} }, doctor.Fail, "no broker answers"},
		"kafka, rights":              {func(c *settings.Config) { c.Kafka = []string{down} }, doctor.Skipped, "reachable"},
		"kafka, partitions":          {func(c *settings.Config) { c.Partitions = 3 }, doctor.Warn, "NETSIM_PARTITIONS=2"},
		"kafka, topic settings":      {func(c *settings.Config) { c.Development = false }, doctor.Fail, "replicas"},
		"kafka, identity":            {func(c *settings.Config) { c.Postgres = servicetest.Shared(t).Config.Postgres }, doctor.Fail, "rebuild the read model"},
		"postgres, reachable":        {func(c *settings.Config) { c.Postgres = "postgres://netsim:x@" + down + "/netsim" }, doctor.Fail, "no connection"},
		"postgres, read model":       {func(c *settings.Config) { c.Postgres = other }, doctor.Fail, "another release"},
		"object store, reachable":    {func(c *settings.Config) { c.S3Bucket = "nowhere" }, doctor.Fail, "no bucket"},
		"issuer, keys":               {func(c *settings.Config) { c.Algorithms = []string{"EdDSA"} }, doctor.Fail, "NETSIM_OIDC_ALGORITHMS"},
		"keys, writer keys":          {func(c *settings.Config) { c.WriterKeys = strings.Repeat("b2", 32) }, doctor.Fail, "not in NETSIM_WRITER_KEYS"},
		"keys, audit key":            {func(c *settings.Config) { c.AuditKey = "/nowhere" }, doctor.Fail, "NETSIM_AUDIT_KEY"},
		"settings, price list":       {func(c *settings.Config) { c.Prices = "doctor_test.go" }, doctor.Fail, "NETSIM_PRICES"},
		"settings, library mount":    {func(c *settings.Config) { c.MountRoot = "doctor_test.go" }, doctor.Fail, "not a directory"},
		"engine 1, reachable":        {func(c *settings.Config) { c.EngineURLs, c.EngineToken = []string{"http://" + down}, "shared-secret" }, doctor.Fail, "NETSIM_ENGINE_URLS"},
		"schema registry, reachable": {func(c *settings.Config) { c.SchemaRegistry, c.SchemaRegistrySecret = refuses.URL, "registry-secret" }, doctor.Fail, "refuses the credentials"},
		"console, login":             {func(c *settings.Config) { c.ConsoleClient, c.ConsoleDiscovery = "netsim-console", "http://"+down }, doctor.Fail, "NETSIM_CONSOLE_DISCOVERY_URL"},
		"collector, reachable":       {func(c *settings.Config) { c.OTLPEndpoint = "http://" + down }, doctor.Fail, "no answer"},
	} {
		broken := p.Config
		c.change(&broken)
		rows := examined(t, broken, time.Now)
		if r := rows[name]; r.Status != c.status || !strings.Contains(r.Finding+" "+r.Advice, c.words) {
			t.Errorf("%s is %+v, want %s with %q", name, r, c.status, c.words)
		}
		for _, other := range []string{"kafka, replicas", "postgres, writable", "object store, signed link", "issuer, discovery"} {
			if r := rows[other]; r.Component != rows[name].Component && r.Status != doctor.OK {
				t.Errorf("with a wrong %s, %s is %+v", name, other, r)
			}
		}
	}

	for name, r := range examined(t, p.Config, func() time.Time { return time.Now().Add(-time.Hour) }) {
		if strings.HasSuffix(name, ", clock") && (r.Status != doctor.Fail || !strings.Contains(r.Advice, "NTP")) {
			t.Errorf("while this machine's clock is an hour behind, %s is %+v", name, r)
		}
	}

	db, err := pgx.Connect(t.Context(), p.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	secondary, err := db.Query(t.Context(), `SELECT format('DROP INDEX readmodel.%I', c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relnamespace = 'readmodel'::regnamespace AND NOT i.indisunique`)
	if err != nil {
		t.Fatal(err)
	}
	drops, err := pgx.CollectRows(secondary, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, drop := range drops {
		if _, err := db.Exec(t.Context(), drop); err != nil {
			t.Fatal(err)
		}
	}
	const check = "postgres, indexes"
	r := examined(t, p.Config, time.Now)[check]
	statements := regexp.MustCompile(`CREATE [^;]*;`).FindAllString(r.Advice, -1)
	if r.Status != doctor.Fail || len(statements) != len(drops) || len(drops) < 20 {
		t.Errorf("without %d indexes the row is %+v", len(drops), r)
	}
	for _, statement := range statements { // in a session without a search path
		if _, err := db.Exec(t.Context(), statement); err != nil || !strings.Contains(statement, " CONCURRENTLY ") {
			t.Errorf("the advice is %s: %v", statement, err)
		}
	}
	if r := examined(t, p.Config, time.Now)[check]; r.Status != doctor.OK {
		t.Errorf("after the advice was followed, the row is %+v", r)
	}
}

// anotherRelease returns a database with the read model of another release.
func anotherRelease(t *testing.T) string {
	t.Helper()
	at := teststack.Postgres(t)
	db, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	if _, err := db.Exec(t.Context(), `CREATE SCHEMA readmodel; COMMENT ON SCHEMA readmodel IS 'form of another release'`); err != nil {
		t.Fatal(err)
	}
	return at
}
