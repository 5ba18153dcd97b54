package service_test

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"netsim/events"
	"netsim/internal/service"
	"netsim/internal/service/servicetest"
)

// TestForgedRecordsAreNoFacts: a client of the broker appends a request for
// a run that is right in everything but its seal, and an end of a run that
// there is. Nothing comes of either; both are counted; the audits agree.
func TestForgedRecordsAreNoFacts(t *testing.T) {
	t.Parallel()
	a := newAudited(t)
	a.config.WriterKeys = a.Config.WriterKeys
	user := a.User(t, a.account)
	real := user.Post("/api/v1/simple/simulations", simpleSubmission(16)).Want(http.StatusAccepted).Object()["simulationId"].(string)
	user.Eventually("/api/v1/simulations/"+real, hasStatus("completed"))
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
		func(_ events.Hash, m events.Message) events.Message { // that of the run that there is
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
		t.Errorf("%d billing items, %d before the forgeries", now, billed)
	}
	if jobs := a.jobsOf(t, forged[:3]); jobs != 0 {
		t.Errorf("%d jobs were made for forged runs", jobs)
	}
	ready := user.Eventually("/api/v1/health/ready", func(r servicetest.Reply) bool {
		return strings.Contains(fmt.Sprint(r.Object()["checks"]), "4 forged records came since the start")
	})
	if status := ready.Object()["status"]; status != "degraded" {
		t.Errorf("the service is %v, want degraded", status)
	}

	// A real change of the same stream comes after the forged one.
	user.Delete("/api/v1/simulations/" + real).Want(http.StatusOK)
	a.quiet(t)
	a.checkpoint(t, "after")
	a.quiet(t)
	if r := a.verify(t); len(r.Findings) > 0 || r.Rejected[events.Forged] != 4 {
		t.Errorf("verified: %v, %v", r.Findings, r.Rejected)
	}
	if r := a.replay(t); len(r.Findings) > 0 {
		t.Errorf("replayed: %v", r.Findings)
	}
	// Without a key they pass for facts, and contradict the signed log checkpoint.
	a.config.WriterKeys = ""
	if r := a.verify(t); !strings.Contains(fmt.Sprint(r.Findings), "checkpoint after has seen other records") {
		t.Errorf("without keys: %v, rejected %v", r.Findings, maps.Clone(r.Rejected))
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

// jobsOf counts the jobs that name one of the simulations.
func (a audited) jobsOf(t *testing.T, simulations []string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), a.Config.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // it was only read
	err = conn.QueryRow(t.Context(), `SELECT count(*) FROM jobs.river_job WHERE args::text ~ $1`, strings.Join(simulations, "|")).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAServiceWithoutWriterKeys is refused outside development, and so are keys
// that are none, without a word of what they are.
func TestAServiceWithoutWriterKeys(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *service.Config){
		"NETSIM_WRITER_KEYS is not set":                     func(c *service.Config) { c.WriterKeys = "" },
		"NETSIM_WRITER_KEYS: key 2 of 2: a writer's key is": func(c *service.Config) { c.WriterKeys += ",hush" },
		"key 2 of 2 is given twice":                         func(c *service.Config) { c.WriterKeys += "\n" + c.WriterKeys },
	} {
		c := servicetest.Config(t)
		c.Development, c.Replication = false, 3
		change(&c)
		err := service.Run(t.Context(), c, slog.New(slog.DiscardHandler), nil)
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%v; want %q", err, name)
		}
	}
}
