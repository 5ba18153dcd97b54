package operate_test

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/cmd/service"
	"netsim/cmd/settings"
	"netsim/events"
	"netsim/internal/servicetest"
)

// TestForgedRecordsAreNoFacts: a client of the broker appends requests for runs that are
// correct except for their seals, and the deletion of an existing run. The records have
// no effect, are counted as forged, and both audits pass.
func TestForgedRecordsAreNoFacts(t *testing.T) {
	t.Parallel()
	a := newAudited(t)
	a.config.WriterKeys = a.Config.WriterKeys
	user := a.User(t, a.account)
	real := user.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(16)).Want(http.StatusAccepted).Object()["simulationId"].(string)
	user.Eventually("/api/v1/simulations/"+real, servicetest.HasStatus("completed"))
	a.quiet(t)
	billed := len(items(t, a))

	requested, last := a.find(t, real)
	other, err := events.ParseWriterKeys(strings.Repeat("0b", 32))
	if err != nil {
		t.Fatal(err)
	}
	j := a.eventLog(t, a.Config.TopicPrefix)
	var forged []string
	write := func(f events.Frame, value []byte, seal func(events.Hash, events.Message) events.Message) {
		t.Helper()
		m, hash := f.Message(value)
		partition := events.PartitionOf(f.PartitionKey, a.Config.Partitions)
		if _, err := j.Append(j.Topic(events.Simulations), partition, seal(hash, m)).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		forged = append(forged, f.Stream)
	}
	bare := func(_ events.Hash, m events.Message) events.Message { return m }
	for _, seal := range []func(events.Hash, events.Message) events.Message{
		bare,
		func(hash events.Hash, m events.Message) events.Message {
			return other.Seal(events.Simulations, hash, m)
		},
		func(_ events.Hash, m events.Message) events.Message { // with the seal of another record
			m.Headers = append(m.Headers, requested.Headers[len(requested.Headers)-1])
			return m
		},
	} {
		f, _, err := events.ReadFrame(&requested.Message)
		if err != nil {
			t.Fatal(err)
		}
		f.ID, f.Stream, f.CommandID = events.NewID("forged"), events.NewID(events.SimulationPrefix), ""
		write(f, requested.Value, seal)
	}
	f, hash, err := events.ReadFrame(&last.Message)
	if err != nil {
		t.Fatal(err)
	}
	f.ID, f.Type, f.CommandID, f.Sequence, f.PreviousHash = events.NewID("forged"), "netsim.simulation.deleted.v1", "", f.Sequence+1, hash
	write(f, []byte("{}"), bare)
	a.quiet(t)

	for _, sim := range forged[:3] {
		user.Get("/api/v1/simulations/" + sim).Want(http.StatusNotFound)
	}
	user.Get("/api/v1/simulations/" + real).Want(http.StatusOK)
	if now := len(items(t, a)); now != billed {
		t.Errorf("%d billing items, want %d as before the forgeries", now, billed)
	}
	if jobs := a.jobsOf(t, forged[:3]); jobs != 0 {
		t.Errorf("%d jobs were created for forged runs, want 0", jobs)
	}
	ready := user.Eventually("/api/v1/health/ready", func(r servicetest.Reply) bool {
		return strings.Contains(fmt.Sprint(r.Object()["checks"]), "4 forged records came since the start")
	})
	if status := ready.Object()["status"]; status != "degraded" {
		t.Errorf("the service is %v, want degraded", status)
	}

	// A real change of the same stream follows the forged change.
	user.Delete("/api/v1/simulations/" + real).Want(http.StatusOK)
	a.quiet(t)
	a.Checkpoint(t, "after")
	a.quiet(t)
	if r := a.verify(t); len(r.Findings) > 0 || r.Rejected[events.Forged] != 4 {
		t.Errorf("verification: findings %v, rejected %v; want none and 4 forged", r.Findings, r.Rejected)
	}
	if r := a.replay(t); len(r.Findings) > 0 {
		t.Errorf("replay: findings %v, want none", r.Findings)
	}
	// Without a writer key the forged records count as facts, and contradict the signed
	// log checkpoint.
	a.config.WriterKeys = ""
	if r := a.verify(t); !strings.Contains(fmt.Sprint(r.Findings), "checkpoint after has seen other records") {
		t.Errorf("without writer keys: findings %v, rejected %v; want a contradiction to the checkpoint", r.Findings, maps.Clone(r.Rejected))
	}
}

// find returns the first and the last record of a simulation.
func (a audited) find(t *testing.T, stream string) (first, last events.Record) {
	t.Helper()
	j := a.eventLog(t, a.Config.TopicPrefix)
	for partition := range a.Config.Partitions {
		for next, end := int64(0), int64(1); next < end; {
			records, high, err := j.Read(t.Context(), j.Topic(events.Simulations), partition, next, 4<<20, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if next = r.Offset + 1; string(r.Key) == stream {
					if first.Key == nil {
						first = r
					}
					last = r
				}
			}
			end = high
		}
	}
	if first.Key == nil {
		t.Fatalf("%s is not in the log", stream)
	}
	return first, last
}

func items(t *testing.T, a audited) []any {
	t.Helper()
	list, _ := a.Service(t, a.account).Get("/api/v1/billing/items?limit=100").Want(http.StatusOK).Object()["items"].([]any)
	return list
}

// jobsOf counts the jobs of the simulations.
func (a audited) jobsOf(t *testing.T, simulations []string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), a.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // nothing was written
	err = conn.QueryRow(t.Context(), `SELECT count(*) FROM jobs.river_job WHERE args::text ~ $1`, strings.Join(simulations, "|")).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAServiceWithoutWriterKeys: outside development the service refuses missing and
// malformed writer keys. The error does not contain a key.
func TestAServiceWithoutWriterKeys(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *settings.Config){
		"NETSIM_WRITER_KEYS is not set":                     func(c *settings.Config) { c.WriterKeys = "" },
		"NETSIM_WRITER_KEYS: key 2 of 2: a writer's key is": func(c *settings.Config) { c.WriterKeys += ",hush" },
		"key 2 of 2 is given twice":                         func(c *settings.Config) { c.WriterKeys += "\n" + c.WriterKeys },
	} {
		c := servicetest.Config(t)
		c.Development, c.Replication = false, 3
		change(&c)
		err := service.Run(t.Context(), c, slog.New(slog.DiscardHandler), nil)
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hush") {
			t.Errorf("got %v, want %q without the key", err, name)
		}
	}
}
