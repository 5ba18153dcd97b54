// Package netsim_test checks the whole module against its design: the dependencies
// between packages and the style of every file.
package netsim_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A set of packages is a list of paths. A path that ends in "/" means every package
// below it. Paths of our own packages are relative to the module.
type set = []string

// directions lists for each of our packages which of our packages it may import.
func directions() map[string]set {
	domain := set{"events", "commands", "fault", "simulator/"}
	writers := append(set{"commands/handle"}, domain...)
	handlers := set{"api", "api/report", "content/simple", "infra/auth", "infra/web"}
	everything := set{"/"}
	return map[string]set{
		"events":          {"events/scan"},
		"events/scan":     {}, // where the members of an event's data are in its JSON
		"fault":           {},
		"simulator/":      {"simulator/"},
		"rating":          {"events"},
		"audit":           {"events", "events/scan", "rating"},
		"commands":        {"events", "fault", "rating", "simulator/"},
		"commands/handle": {"commands", "events", "fault", "infra/recent", "infra/wait"}, // runs commands and appends their events
		"api/report":      {"api", "simulator/"},                                         // converts validation findings

		"infra/columns":         {}, // the columns of a struct, for set-based SQL
		"infra/gather":          {}, // combines lookups into few queries
		"infra/recent":          {}, // caches what was used recently
		"infra/sqlstate":        {}, // errors of PostgreSQL
		"infra/wait":            {}, // a pause that a context can end, and the pauses of retries
		"projections":           {"events", "commands", "fault", "infra/columns", "infra/gather", "infra/recent", "infra/sqlstate", "simulator/document"},
		"writeapi":              append(append(set{"runs/studies/plan"}, handlers...), writers...),
		"readapi/access":        {"events", "commands", "fault", "projections", "infra/auth"}, // authorization of reads and writes
		"readapi":               append(set{"readapi/access", "billing/focus", "runs/studies", "runs/studies/analysis", "runs/studies/plan", "projections", "stream/feed", "stream/history", "stream/webhooks", "infra/facts", "content/traces", "infra/health", "infra/objects", "content/library", "infra/parquetfile", "infra/wait"}, append(handlers, domain...)...),
		"billing":               append(set{"projections", "rating", "infra/gather"}, writers...),
		"billing/prices":        {"events", "commands", "commands/handle", "fault", "rating"},                                                                   // price lists and changes of prices
		"billing/focus":         {"events", "fault", "infra/parquetfile", "rating", "projections"},                                                              // the FOCUS dataset of costs
		"content/library":       {"events"},                                                                                                                     // object keys of traceset files
		"content/simple":        {"api", "commands", "content/library", "events", "fault", "simulator/"},                                                        // simple submissions
		"content/simple/unfold": append(set{"projections", "infra/objects", "infra/postgres", "infra/recent", "content/library", "content/simple"}, writers...), // their tracesets and configurations
		"reactions":             {"billing", "commands", "commands/handle", "content/library", "content/simple/unfold", "content/uploads", "events", "fault", "infra/objects", "infra/postgres", "projections", "runs/studies"},
		"content/uploads":       append(set{"api", "projections", "infra/objects", "infra/postgres", "content/library"}, writers...),
		"runs/execution":        {"events", "fault", "simulator/"}, // prepares and runs an engine, on any machine
		"runs/execution/host":   {"runs/execution", "fault", "simulator/", "infra/wait"},
		"runs/studies/plan":     {"api", "content/simple", "fault", "simulator/"}, // the points of studies, and their inputs
		"runs/studies/analysis": {"simulator/"},                                   // the front, the sensitivity and the prices
		"runs/studies":          append(set{"content/simple", "projections", "runs/execution", "runs/studies/", "infra/wait"}, writers...),
		"runs":                  append(set{"projections", "content/traces", "infra/objects", "infra/engines", "runs/execution", "infra/wait"}, writers...),
		"content/traces":        append(set{"projections", "infra/objects", "content/library"}, writers...), // reads the content of tracesets

		"stream/history":  {"commands", "events", "fault", "infra/facts", "projections"},                     // the facts of streams and of requests, for clients that ask
		"stream/feed":     {"events", "fault", "infra/facts", "stream/public", "infra/recent", "infra/wait"}, // facts for clients that follow them
		"stream/webhooks": {"events", "fault", "infra/facts", "infra/wait", "stream/feed"},                   // facts sent to receivers

		"console":       {},                                                 // the built files of the console, and how browsers get them
		"console/login": {"fault", "infra/auth", "infra/wait", "infra/web"}, // logins at the issuer, and sessions of browsers

		"deploy":                   {}, // no program: files, and tests that hold them to the service
		"api":                      {},
		"api/contract":             {"api", "fault"},
		"infra/":                   {"events", "fault", "infra/"},                                                                                         // never the packages that use infra
		"stream/tables":            {"events", "events/scan", "infra/facts", "infra/parquetfile"},                                                         // facts as typed rows, and in Parquet
		"stream/export":            {"events", "fault", "infra/eventlog", "infra/facts", "infra/objects", "infra/wait", "stream/public", "stream/tables"}, // files of facts
		"stream/archive":           {"events", "fault", "infra/eventlog", "infra/wait", "stream/export"},                                                  // the log as files, and copies of it
		"stream/contracts":         {"infra/wait"},                                                                                                        // registers the schemas of events in a registry
		"stream/public":            {"events", "infra/facts"},                                                                                             // the public form of a fact
		"stream/publisher":         {"events", "infra/broker", "infra/eventlog", "infra/facts", "infra/wait", "stream/public"},                            // publishes facts in the public topics
		"cmd/":                     everything,
		"cmd/client":               {"sdk/", "cmd/table", "audit"},                                                        // a client like any other, which verifies bundles like an auditor
		"cmd/table":                {},                                                                                    // tables for people
		"cmd/settings":             {"events", "commands", "fault", "infra/broker", "infra/telemetry", "stream/webhooks"}, // what can be set, and how it is read
		"cmd/settings/internal/":   {"cmd/settings"},                                                                      // writes the list of settings
		"internal/servicetest":     everything,
		"prove/bench":              everything,
		"internal/publictest":      {"events", "infra/broker", "infra/eventlog", "internal/testwait", "stream/public"}, // compares public topics with the log
		"deploy/observe":           {},                                                                                 // rules, alerts and the dashboard
		"deploy/observe/internal/": {"deploy/observe"},
		"docs/internal/":           {},                                                                                                                                                                 // the indexes of the pages
		"stream/lake/iceberg":      {},                                                                                                                                                                 // the metadata of Iceberg's tables
		"stream/lake":              {"stream/lake/iceberg", "audit", "events", "infra/eventlog", "infra/facts", "infra/objects", "infra/parquetfile", "infra/sqlstate", "infra/wait", "stream/tables"}, // a DuckLake

		"prove/campaign": {"prove/cluster", "prove/history", "events", "infra/objects", "internal/teststack/kafka", "rating/slowbill", "infra/wait"}, // the fault campaign
		"prove/cluster":  {"infra/broker", "infra/devissuer", "infra/objects", "infra/wait", "internal/devpart"},                                     // the cluster that it breaks
		"prove/history":  {},                                                                                                                         // judges what its clients saw

		"prove/bench/reference": {"runs/execution", "simulator/"}, // cases of other simulators, prepared like the service's runs
		"prove/bench/accuracy":  {"simulator/", "prove/bench/reference"},
		"prove/bench/scale":     {"simulator/"},

		"stream/contracts/internal/":       {"events", "stream/public"}, // generators
		"api/contract/contracttest":        {"api/contract"},
		"api/contract/contracttest/unseen": {"api/contract"},
		"internal/faults":                  {},                                                                  // the tests that kill
		"internal/scripted":                {"internal/teststack", "internal/testwait"},                         // an engine whose answers a test writes
		"internal/devpart":                 {},                                                                  // servers that netsim-dev runs
		"internal/teststack":               {"infra/devissuer", "internal/devpart", "internal/teststack/kafka"}, // servers for tests
		"internal/linear":                  {"commands", "commands/handle", "fault"},                            // whether a history can have happened
		"internal/teststack/kafka":         {},                                                                  // the jars of Apache Kafka
		"internal/testwait":                {},                                                                  // bounds the waits of tests
		"internal/testworld":               everything,
		"internal/testduckdb":              {}, // stock DuckDB
		"rating/slowbill":                  {}, // the reference model of rating
		"prove/simulation":                 {}, // simulates the core; its code is built only under the tag faketime

		"sdk/": {"sdk/"}, // generated from the contract; nothing of the service
	}
}

// support lists the packages that only tests, and the packages of prove, may import.
func support() set {
	return set{"internal/devpart", "internal/linear", "internal/teststack", "internal/testwait", "internal/testworld", "internal/testduckdb", "rating/slowbill", "api/contract/contracttest", "internal/servicetest", "internal/scripted", "internal/publictest"}
}

// homes lists for each library which of our packages may import it.
func homes() map[string]set {
	return map[string]set{
		"github.com/segmentio/kafka-go":       {"infra/broker", "infra/eventlog", "internal/teststack", "prove/cluster", "prove/bench"},
		"github.com/IBM/sarama":               {"infra/broker", "infra/eventlog", "infra/reactor", "stream/publisher", "internal/publictest", "prove/bench"},
		"github.com/rcrowley/go-metrics":      {"infra/broker"},
		"github.com/ThreeDotsLabs/":           {"infra/reactor", "prove/bench"},
		"github.com/xdg-go/scram":             {"infra/broker"},
		"github.com/riverqueue/":              {"infra/jobs"},
		"github.com/jackc/pgx/":               {"projections", "billing", "console/login", "runs", "infra/", "stream/lake", "stream/webhooks", "cmd/settings", "cmd/connections", "cmd/checkpoints", "cmd/operations", "cmd/service", "cmd/operate", "prove/bench", "prove/cluster", "internal/servicetest", "internal/testworld", "internal/teststack"},
		"github.com/pressly/goose/":           {"infra/postgres"},
		"github.com/aws/":                     {"infra/objects", "internal/teststack"},
		"github.com/coreos/go-oidc/":          {"infra/auth", "cmd/client"},
		"github.com/itchyny/gojq":             {"cmd/client"},
		"github.com/schollz/progressbar/":     {"cmd/client"},
		"github.com/go-jose/":                 {"infra/auth", "infra/devissuer"},
		"github.com/getkin/":                  {"api/contract"},
		"github.com/oapi-codegen/":            {"api", "sdk/"},
		"github.com/go-chi/":                  {"api", "api/contract", "infra/replicas", "infra/web", "cmd/service", "prove/bench"},
		"github.com/prometheus/":              {"infra/telemetry"},
		"go.opentelemetry.io/":                {"infra/", "runs", "cmd/service"}, // the API
		"go.opentelemetry.io/otel/sdk/":       {"infra/telemetry"},
		"go.opentelemetry.io/otel/exporters/": {"infra/telemetry"},
		"github.com/alecthomas/kong":          {"cmd/"},
		"github.com/jotaen/kong-completion":   {"cmd/client", "cmd/netsim"},
		"github.com/posener/complete":         {"cmd/client"},
		"github.com/caarlos0/env/":            {"cmd/settings"},
		"github.com/klauspost/compress":       {"simulator/", "runs", "stream/archive", "cmd/checkpoints"},
		"google.golang.org/protobuf/":         {"simulator/chakra"},
		"github.com/cenkalti/backoff/":        {"infra/wait"},
		"github.com/cockroachdb/apd/":         {"rating", "billing/focus", "runs/studies/analysis"},
		"github.com/parquet-go/":              {"infra/parquetfile", "stream/lake", "stream/tables"},
		"github.com/Shopify/toxiproxy/":       {"prove/cluster"},
		"github.com/rs/zerolog":               {"prove/cluster"}, // Toxiproxy's logger
		"github.com/anishathalye/porcupine":   {"internal/linear", "prove/history"},
		"github.com/google/go-cmp/":           {"internal/publictest"},
		"github.com/google/uuid":              {"events", "commands/handle", "infra/", "prove/bench", "sdk/"},
		"github.com/zeebo/blake3":             {"content/library"},
		"go.yaml.in/yaml/v3":                  {"api", "billing/prices", "stream/contracts/internal/", "simulator/infragraph"},
		"golang.org/x/":                       {"/"},
	}
}

// reach limits the direct and indirect dependencies of packages. A package in pure
// may depend only on the listed libraries. A package in never must not depend on the
// listed packages and libraries.
func reach() (pure, never map[string]set) {
	log := set{
		"github.com/segmentio/kafka-go", "github.com/IBM/sarama", "github.com/ThreeDotsLabs/", "github.com/riverqueue/",
		"netsim/infra/eventlog", "netsim/infra/writelog", "netsim/infra/projector", "netsim/infra/reactor", "netsim/infra/jobs",
	}
	pure = map[string]set{
		"fault":                 {},
		"events":                {"github.com/google/uuid"},
		"commands":              {"github.com/google/uuid", "github.com/cockroachdb/apd/"},
		"rating":                {"github.com/google/uuid", "github.com/cockroachdb/apd/"},
		"audit":                 {"github.com/google/uuid", "github.com/cockroachdb/apd/", "golang.org/x/mod"},
		"simulator/":            {"github.com/klauspost/compress", "google.golang.org/protobuf/"},
		"simulator/infragraph":  {"go.yaml.in/yaml/v3"},
		"runs/studies/analysis": {"github.com/cockroachdb/apd/"},
		"runs/execution":        {"github.com/google/uuid", "github.com/klauspost/compress", "google.golang.org/protobuf/"},
	}
	never = map[string]set{
		"writeapi":              append(set{"github.com/jackc/pgx/", "github.com/aws/"}, log...),
		"content/simple":        append(set{"github.com/jackc/pgx/", "github.com/aws/"}, log...),
		"readapi/access":        log,
		"readapi":               log,
		"reactions":             log,
		"billing":               log,
		"billing/focus":         log,
		"runs":                  log,
		"runs/studies":          log,
		"content/traces":        log,
		"content/uploads":       log,
		"content/simple/unfold": log,
		"console/login":         log,
		"cmd/client":            append(set{"github.com/jackc/pgx/", "github.com/aws/"}, log...),
	}
	return pure, never
}

func TestDependenciesPointTheRightWay(t *testing.T) {
	t.Parallel()
	directions, homes := table{rows: directions()}, table{rows: homes()}
	purity, distance := reach()
	pure, never := table{rows: purity}, table{rows: distance}
	packages := listPackages(t)
	for _, p := range packages {
		if !directions.has(p.path()) {
			t.Errorf("%s is new: list in architecture_test.go what it may import", p.path())
		}
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, module)
			switch {
			case !isOurs && library(imported):
				if !homes.has(imported) {
					t.Errorf("%s is a new library: list in architecture_test.go which packages may import it", imported)
				} else if !homes.allow(imported, p.path()) {
					t.Errorf("%s imports %s, which only %v may import", p.path(), imported, homes.rows[homes.row(imported)])
				}
			case isOurs && !directions.allow(p.path(), ours):
				t.Errorf("%s imports %s; it may import %v", p.path(), ours, directions.rows[directions.row(p.path())])
			case isOurs && in(support(), ours) && !in(support(), p.path()) && !strings.HasPrefix(p.path(), "prove/"):
				t.Errorf("%s imports %s, which only tests may import", p.path(), ours)
			}
		}
		if i := slices.IndexFunc(p.Deps, func(d string) bool {
			return never.allow(p.path(), d) || pure.has(p.path()) && library(d) && !pure.allow(p.path(), d)
		}); i >= 0 {
			t.Errorf("%s depends on %s, directly or indirectly", p.path(), p.Deps[i])
		}
	}
	for name, of := range map[string]*table{"directions": &directions, "homes": &homes, "pure": &pure} {
		for _, unused := range of.unused() {
			t.Errorf("%s allows %s, which no package uses", name, unused)
		}
	}
	for _, named := range slices.Concat(support(), slices.Collect(maps.Keys(never.rows)), slices.Concat(slices.Collect(maps.Values(never.rows))...)) {
		path := strings.TrimPrefix(named, module)
		if library(path) && !homes.has(path) || !library(path) && !slices.ContainsFunc(packages, func(p listedPackage) bool { return p.path() == path }) {
			t.Errorf("%s is listed in architecture_test.go but does not exist", named)
		}
	}
}

const module = "netsim/"

// listedPackage is one of our packages as printed by go list, without its tests.
type listedPackage struct {
	ImportPath string
	Imports    []string // direct imports
	Deps       []string // direct and indirect dependencies
}

func (p listedPackage) path() string { return strings.TrimPrefix(p.ImportPath, module) }

// listPackages lists the packages of this module, and of prove and the Go SDK, which are
// modules of their own.
func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	all := slices.Concat(listModule(t, "."), listModule(t, "prove"), listModule(t, "sdk/go"))
	slices.SortFunc(all, func(a, b listedPackage) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return slices.CompactFunc(all, func(a, b listedPackage) bool { return a.ImportPath == b.ImportPath })
}

func listModule(t *testing.T, folder string) []listedPackage {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-C", folder, "-e", "-deps", "-json=ImportPath,Imports,Deps", "./...")
	list.Stderr = t.Output()
	out, err := list.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Start(); err != nil {
		t.Fatal(err)
	}
	var all []listedPackage
	for lines := json.NewDecoder(out); ; {
		var p listedPackage
		err := lines.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, module) {
			all = append(all, p)
		}
	}
	if err := list.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("go list lists nothing")
	}
	return all
}

// library reports whether the path belongs to a third-party library.
func library(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return strings.Contains(host, ".")
}

// in reports whether a package belongs to a set.
func in(packages set, path string) bool {
	return slices.ContainsFunc(packages, func(p string) bool { return covers(p, path) })
}

// covers reports whether an entry of a set includes the package at path. The entry of
// a library includes all packages of the library.
func covers(entry, path string) bool {
	if entry == "/" || entry == path {
		return true
	}
	above := strings.TrimSuffix(entry, "/") + "/"
	return (entry == above || library(entry)) && strings.HasPrefix(path, above)
}

// table maps each package or library to a set, and records which entries were used.
type table struct {
	rows map[string]set
	used map[[2]string]bool // by row and entry; the entry "" stands for the row itself
}

// row returns the longest key of rows that covers the path, or "".
func (t *table) row(path string) string {
	longest := ""
	for entry := range t.rows {
		if covers(entry, path) && len(entry) > len(longest) {
			longest = entry
		}
	}
	if t.used == nil {
		t.used = map[[2]string]bool{}
	}
	t.used[[2]string{longest, ""}] = true
	return longest
}

func (t *table) has(path string) bool { return t.row(path) != "" }

// allow reports whether an entry of path's row covers other.
func (t *table) allow(path, other string) (ok bool) {
	row := t.row(path)
	for _, entry := range t.rows[row] {
		if covers(entry, other) {
			t.used[[2]string{row, entry}], ok = true, true
		}
	}
	return ok
}

// unused lists the rows and entries that were not used.
func (t *table) unused() (all []string) {
	for row, entries := range t.rows {
		for _, entry := range append(set{""}, entries...) {
			if !t.used[[2]string{row, entry}] {
				all = append(all, strings.TrimSpace(row+" "+entry))
			}
		}
	}
	slices.Sort(all)
	return all
}
