//go:build tools

package main

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"netsim/infra/devissuer"
	"netsim/internal/teststack"
)

// TestTheBook follows the operators' pages on one deployment, on bare machines with three
// brokers of Apache Kafka, PostgreSQL with the roles of docs/deploying.md, and S3. It runs
// the blocks of commands in one shell, in the order in which an operator meets them: the
// deployment, the doctor, the lake, a lost database, a lost cluster, an upgrade, and every
// command of the runbook. Only the values of the first blocks and the ports differ, so the
// test can run beside another netsim. What the pages say in words between the blocks is
// done by the test. Every block is run, or left out for a reason.
func TestTheBook(t *testing.T) {
	t.Parallel()
	postgres := emptyPostgres(t)
	b := newBook(t)
	b.deploy(postgres)
	b.examine()

	b.sh("echo secret >password.txt")
	b.all(lakePage, "Attaching it")
	b.readsLake()
	b.sh("mkdir models")
	b.all(lakePage, "What is in it")
	b.all(lakePage, "Dropping it")
	b.sh("ready 9106")
	b.readsLake()

	b.values(recoveryPage, "", map[string]string{"NETSIM_ARCHIVE": filepath.Join(b.dir, "archive"), "NEW_KAFKA": strings.Join(teststack.KafkaCluster(t), ",")})
	b.all(recoveryPage, "What only PostgreSQL has")
	b.postgresIsLost()
	b.all(recoveryPage, "Archive the log")
	b.clusterIsLost()
	b.all(recoveryPage, "The archive was behind")
	b.restart()
	b.all(recoveryPage, "The object store is lost")
	b.examine()

	b.upgrade()
	b.consult()
	b.examine()
	b.stopAll()
	b.finish()
}

// The pages, in the order in which they are followed.
const (
	deployingPage, operatingPage, lakePage = "docs/deploying.md", "docs/operating.md", "docs/lake.md"
	recoveryPage, upgradingPage, runbook   = "docs/recovery.md", "docs/upgrading.md", "docs/runbook.md"
)

// leftOut has the sections whose blocks are not run, with the reason.
var leftOut = map[string]string{
	deployingPage + "#Containers":                     "no container runs here; .ci/deploy runs the processes of the image",
	deployingPage + "#Kubernetes":                     "no cluster runs here; .ci/deploy judges the chart and runs its processes",
	deployingPage + "#systemd":                        "no systemd runs here; .ci/deploy judges the units and runs their processes",
	lakePage + "#One ATTACH, and SQL":                 "it is for make run; TestQuickstart runs it",
	recoveryPage + "#Move the log to another cluster": "TestTheLogIsMoved runs it; here the cluster is lost instead",
	upgradingPage + "#A changed read model/3":         "the way back needs the program of the previous release; .ci/upgrade runs it",
}

// deploy follows the first page.
func (b *book) deploy(postgres *url.URL) {
	b.t.Helper()
	password, _ := postgres.User.Password()
	store, issuer := teststack.Objects(b.t), teststack.Issuer(b.t)
	b.values(deployingPage, "On bare machines", map[string]string{
		"KAFKA":  strings.Join(teststack.KafkaCluster(b.t), ","),
		"PGHOST": postgres.Hostname(), "PGPORT": postgres.Port(), "PGUSER": postgres.User.Username(), "PGPASSWORD": password,
		"S3": store.Endpoint, "S3_REGION": store.Region, "S3_ACCESS_KEY": store.AccessKey, "S3_SECRET_KEY": store.SecretKey,
		"ISSUER": issuer.URL, "KEYS": issuer.JWKSURL, "CONSOLE": "https://console.example",
		"ETC": filepath.Join(b.dir, "etc"), "LOGS": filepath.Join(b.dir, "logs"),
	})
	b.sh("TOKEN='" + issuer.Token(devissuer.Options{Service: true}) + "'")
	b.all(deployingPage, "On bare machines")
	b.contains("simulation.json", `"status":"completed"`)
	b.contains("items.json", `"status":"closed"`)
	b.contains("ready.json", `"status":"ready"`)
	b.sh(`start_all() { ` + strings.Join(b.lines(deployingPage, "On bare machines", "start "), "; ") + `; }`)
	b.all(operatingPage, "Status commands")
}

// examine runs the doctor, as the owner of the tables and as a process.
func (b *book) examine() {
	b.t.Helper()
	b.all(operatingPage, "Examine an installation")
}

// readsLake checks that the analyst can read the catalogue, and nothing else.
func (b *book) readsLake() {
	b.t.Helper()
	b.sh(`analyst() { PGUSER=analyst PGPASSWORD=$(cat password.txt) psql -qv ON_ERROR_STOP=1 -d netsim -Atc "$1"; }
[ "$(analyst 'SELECT count(*) > 0 FROM lake.ducklake_snapshot')" = t ]
if analyst 'SELECT * FROM netsim.directory'; then false; fi`)
}

// postgresIsLost makes an empty server of the database's, and follows the page.
func (b *book) postgresIsLost() {
	b.t.Helper()
	const kept = `netsim psql -Atc "SELECT count(*) FROM netsim.simulation_logs" -c "SELECT kind, id, name FROM netsim.directory ORDER BY 1, 2"`
	b.sh(kept + " >kept")
	b.stopAll()
	b.sh(`psql -qv ON_ERROR_STOP=1 -d postgres -c 'DROP DATABASE netsim WITH (FORCE)' -c 'DROP ROLE netsim, netsim_owner, analyst'`)
	b.block(deployingPage, "On bare machines", 1)
	b.block(recoveryPage, "PostgreSQL is lost", 0)
	b.startAll()
	b.block(recoveryPage, "PostgreSQL is lost", 1)
	b.sh(kept + " >restored; diff kept restored")
	b.all(lakePage, "Attaching it")
	b.readsLake()
	b.sh(`api http://127.0.0.1:8082/api/v1/simulations/$SIM | grep -q '"status":"completed"'`)
	b.examine()
}

// clusterIsLost goes on with the archive on another cluster.
func (b *book) clusterIsLost() {
	b.t.Helper()
	b.stopAll()
	b.sh(`sed -i "s/^NETSIM_KAFKA=.*/NETSIM_KAFKA=$NEW_KAFKA/" "$ETC/netsim.env"`)
	b.block(recoveryPage, "The log's cluster is lost", 0)
	b.block(recoveryPage, "The log's cluster is lost", 1)
	b.startAll()
	b.sh(`api $NETSIM/workspaces -d '{"name": "after the cluster"}'`)
	b.block(recoveryPage, "The log's cluster is lost", 2)
	b.sh(`until [ "$(netsim events --json | jq '[.items[].lagRecords] | add')" = 0 ]; do sleep 1; done`)
}

// upgrade follows the page with the same release.
func (b *book) upgrade() {
	b.t.Helper()
	b.all(upgradingPage, "The steps")
	b.sh("netsim readmodel drop readmodel_before") // of the lost cluster
	b.block(upgradingPage, "A changed read model", 0)
	b.sh(`until netsim readmodel status --json | jq -e '.items[] | select(.schema == "next") | .obstacles == []'; do sleep 1; done`)
	b.block(upgradingPage, "A changed read model", 1)
	b.block(upgradingPage, "A changed read model", 2)
}

// consult runs every command of the runbook. A session of the analyst is in the way.
func (b *book) consult() {
	b.t.Helper()
	authority := teststack.NewAuthority(b.t, b.t.TempDir(), "authority")
	peer := strings.TrimPrefix(secured(b.t, authority, "peer", teststack.Objects(b.t).Endpoint), "https://")
	b.sh(`analyst 'SELECT pg_sleep(3600)' >analyst.log 2>&1 &
SESSION=; until [ "$SESSION" ]; do SESSION=$(psql -d netsim -Atc "SELECT pid FROM pg_stat_activity WHERE usename = 'analyst'"); done`)
	b.values(runbook, "", map[string]string{
		"PROCESS": "127.0.0.1:9107", "PEER": peer, "PID": "$SESSION", "ACCOUNT": "acct_00000000000000000000000001", "FAMILY": "billing",
	})
	for _, heading := range b.headings(runbook) {
		b.all(runbook, heading)
	}
}

// stopAll ends every process in order; each must exit with 0.
func (b *book) stopAll() {
	b.t.Helper()
	b.sh(`stop $(cd "$LOGS"; ls *.pid | sed 's/\.pid$//')
for pid in "$LOGS"/*.pid; do wait "$(cat "$pid")"; done`)
}

func (b *book) startAll() {
	b.t.Helper()
	b.sh("start_all; ready 9101 9102 9103 9104 9105 9106 9107 9108")
}

func (b *book) restart() {
	b.t.Helper()
	b.stopAll()
	b.startAll()
}

// emptyPostgres returns the URL, with a superuser, of a server without the database and
// the roles of the guide.
func emptyPostgres(t *testing.T) *url.URL {
	t.Helper()
	server, err := url.Parse(teststack.Start(t, "postgres", t.TempDir(), "--no-sync").URL)
	if err != nil {
		t.Fatal(err)
	}
	server.Path = "/postgres"
	run := func(statements ...string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), server.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context()) //nolint:errcheck // the statements have ended
		for _, statement := range statements {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	run("CREATE ROLE operator SUPERUSER LOGIN PASSWORD 'secret'")
	server.User = url.UserPassword("operator", "secret")
	run("DROP DATABASE netsim", "ALTER ROLE netsim RENAME TO bootstrap")
	return server
}

// freePort returns a free port that is not among the others.
func freePort(t *testing.T, others []string) string {
	t.Helper()
	for {
		_, port, _ := strings.Cut(teststack.FreeAddress(t), ":")
		if !slices.Contains(others, port) {
			return port
		}
	}
}

// logsIn returns the content of each log in a directory.
func logsIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	var logs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, "\n== "+filepath.Base(file)+"\n"+string(text))
	}
	return logs
}
