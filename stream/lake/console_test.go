//go:build tools

package lake_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/events"
	"netsim/internal/testworld"
	"netsim/stream/lake"
)

// Stock DuckDB runs every statement that pages of the console offer, and each finds what it
// is for. The statements are those of console/src/lib/elsewhere.test.ts, which fails if
// the console offers others.
func TestTheConsolesSQL(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/console.json")
	if err != nil {
		t.Fatal(err)
	}
	var statements map[string]string
	if err := json.Unmarshal(text, &statements); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	stop := run(t, lake.New(w.config()))
	const id = "_01kahcfv4ge3brkm7f0v3x2m8p" // of every stream that the statements name
	simulation, other, account := events.SimulationPrefix+id, events.SimulationPrefix+"_01kahcfv4ge3brkm7f0v3x2m8q", events.AccountPrefix+id
	w.inEveryFamily(t, id)
	for _, stream := range []string{simulation, other, events.NewID(events.SimulationPrefix)} {
		testworld.Do(t, w.World, stream, commands.RequestSimulation{Requested: events.SimulationRequested{
			Origin: commands.OriginStart, AccountID: account, WorkspaceID: events.DefaultWorkspace, ConfigurationID: events.ConfigurationPrefix + id, ConfigurationVersion: 1, Name: "run",
		}})
	}
	w.costs(t, account, simulation)
	w.await(t)
	stop()

	duck := w.attach(t)
	got := map[string]int{}
	for name, sql := range statements {
		rows, err := duck.Try(sql)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got[name] = len(rows)
		switch name {
		case "costs":
			if want := []string{"2026-11-02", events.DefaultWorkspace, "cluster", "CREDIT"}; len(rows) != 1 || !slices.Equal(rows[0][:4], want) || plain(t, rows[0][4]) != "12.5" {
				t.Errorf("the costs are %q, want one row of %q and 12.5", rows, want)
			}
		case "simulations":
			for _, row := range rows {
				if want := map[string]string{simulation: "12.5", other: "0"}[row[0]]; row[1] != "run" || row[2] != "waiting" || plain(t, orZero(row[6])) != want {
					t.Errorf("a simulation is %q, want the cost %q", row, want)
				}
			}
		}
	}
	want := map[string]int{"all simulations": 3, "simulations": 2, "costs": 1}
	for name := range maps.Keys(statements) {
		if strings.HasPrefix(name, "facts of ") {
			want[name] = 1
		}
	}
	want["facts of "+account] = 3
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 3+len(events.Families()) {
		t.Errorf("rows of the statements (-want +got):\n%s", diff)
	}
}

func orZero(amount string) string {
	if amount == "" {
		return "0"
	}
	return amount
}

// inEveryFamily records a fact of a stream with the id in each family but those of
// simulations and of billing.
func (w *world) inEveryFamily(t testing.TB, id string) {
	t.Helper()
	account := events.NewID(events.AccountPrefix)
	testworld.In(t, w.World, events.WorkspacePrefix+id, events.WorkspacePrefix+id, commands.CreateWorkspace{AccountID: account, Name: "w", Owner: "tester"})
	testworld.Do(t, w.World, events.ConfigurationPrefix+id, commands.CreateConfiguration{Created: events.ConfigurationCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "c", Document: "{}", Status: commands.Validated,
	}})
	testworld.Do(t, w.World, events.TracesetPrefix+id, commands.CreateTraceset{Created: events.TracesetCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "t", Format: "chakra_et_v1", LibraryHash: strings.Repeat("ab", 32), TTLDays: 7, RankCount: 1, Status: commands.TracesetReady,
	}})
	testworld.Do(t, w.World, events.MappingFilePrefix+id, commands.CreateMappingFile{Created: events.MappingFileCreated{
		AccountID: account, WorkspaceID: events.DefaultWorkspace, Name: "m", Hash: "crc64nvme:AAAAAAAAAAA", SizeBytes: 1, RankCount: 8, ObjectKey: "mappingfiles/m",
	}})
	testworld.In(t, w.World, events.CheckpointPrefix+id, events.CheckpointPrefix+id, commands.PublishCheckpoint{Checkpoint: events.CheckpointPublished{Name: "2026-11-01", Note: "a note"}})
}

// costs records what a simulation used, and what it cost on two days: one of the
// statement's days, and one after them.
func (w *world) costs(t testing.TB, account, simulation string) {
	t.Helper()
	testworld.In(t, w.World, account, account, commands.RecordUsage{Usage: events.UsageRecorded{
		BillingEventID: 1, BillingItemID: 1, Meter: "cluster", Action: "start", RateName: "cluster", ItemName: "run", CurrentCount: 1,
		ResourceType: "simulation", ResourceID: simulation, OccurredAt: time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC),
	}})
	for i, date := range []string{"2026-11-02", "2026-11-27"} {
		cost := []string{"12.5", "0"}[i]
		testworld.In(t, w.World, account, account, commands.RecordDailyCost{Rated: events.DailyCostRated{
			DailyCostID: int64(i + 1), BillingItemID: 1, ItemName: "run", Date: date, RateID: 1, RateName: "cluster", RateAmount: "10", Cost: cost, Currency: "CREDIT",
			Quantity: 1, WorkspaceID: events.DefaultWorkspace, DayPrice: "1", UnitDays: "1", Period: "day", EngineVersion: "rating-2", Version: 1, Segments: []events.CostSegment{},
		}})
	}
}
