package projector_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// appendSimulations appends simulations, 256 of them at a time. It returns the number
// of facts.
func appendSimulations(b testing.TB, log *memoryLog, simulations int) (facts int) {
	b.Helper()
	workspaces := make([]string, 20)
	for i := range workspaces {
		workspaces[i] = events.NewID(events.WorkspacePrefix)
	}
	progress := events.Progress{SimulatedTimeNs: 2_500_000, EventsProcessed: 126_976, DeliveredBytes: 8_455_716_864, FinishedRanks: 64}
	validated := events.SimulationValidated{DocumentHash: "sha256:" + strings.Repeat("5e", 32)}
	started := events.SimulationStarted{Engine: "builtin", RunID: events.NewID("run"), Ranks: 64}
	steps := [][]events.Data{
		{validated, started, events.SimulationProgressed{Progress: progress},
			events.SimulationResultsPublished{Prefix: "results", Manifest: "results/manifest.json", Files: 7, Bytes: 48_213},
			events.SimulationCompleted{Progress: progress}},
		{validated, started, events.SimulationFailed{Progress: progress, Reason: "the engine ran out of memory"}},
		{events.SimulationInvalidated{Reason: "the fabric has fewer ranks than the workload"}},
		{}, {}, {},
		{validated, started, events.SimulationTerminated{Progress: progress, By: "developer"}},
		{events.SimulationInvalidated{Reason: "the fabric has fewer ranks than the workload"}},
		{}, {},
	}
	for first := 0; first < simulations; first += 256 {
		open := make([]chain, min(256, simulations-first))
		for step := range 6 {
			for i := range open {
				n := first + i
				if step == 0 {
					open[i] = chain{id: events.NewID(events.SimulationPrefix), key: workspaces[n%len(workspaces)]}
					open[i].append(b, log, events.SimulationRequested{
						Origin: "start", AccountID: "acct", WorkspaceID: open[i].key, ConfigurationID: "conf_1", ConfigurationVersion: 1,
						Name: fmt.Sprintf("ring allreduce sweep%02d run %d", n%100, n), DurationNs: 1e9, Duration: "1s",
					})
					facts++
				} else if own := steps[n%10]; step <= len(own) {
					open[i].append(b, log, own[step-1])
					facts++
				}
			}
		}
	}
	return facts
}

// BenchmarkRebuild is one rebuild an iteration, and reports the CPU time of this
// process and of PostgreSQL's sessions for each fact.
func BenchmarkRebuild(b *testing.B) {
	log := newMemoryLog(4)
	facts := appendSimulations(b, log, 40_000)
	for b.Loop() {
		b.StopTimer()
		servers := testworld.Servers{Database: teststack.Postgres(b)}
		pool := servers.Pool(b, "next")
		w := &testworld.World{Servers: servers, DB: pool, Logger: testworld.Silent()}
		p := w.Projector(pool, "next", func(c *projector.Config) { c.Log = log })
		goBefore := cpu(b, os.Getpid())
		b.StartTimer()
		if _, err := p.Rebuild(b.Context(), false); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		perFact := func(spent time.Duration) float64 { return float64(spent.Nanoseconds()) / 1e3 / float64(facts) }
		b.ReportMetric(perFact(cpu(b, os.Getpid())-goBefore), "µs-go/fact")
		b.ReportMetric(perFact(sessions(b, w)), "µs-postgres/fact")
		if n := p.Report().Facts; n != int64(facts) {
			b.Fatalf("%d facts are applied, want %d", n, facts)
		}
		pool.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(facts*b.N)/b.Elapsed().Seconds(), "facts/s")
}

// sessions is the CPU time of the open sessions of the database.
func sessions(b *testing.B, w *testworld.World) (all time.Duration) {
	b.Helper()
	rows, err := w.DB.Query(b.Context(), `SELECT pid FROM pg_stat_activity WHERE datname = current_database()`)
	if err != nil {
		b.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		b.Fatal(err)
	}
	for _, pid := range pids {
		all += cpu(b, pid)
	}
	return all
}

// cpu is the CPU time that a process has spent.
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
