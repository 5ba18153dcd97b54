package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"netsim/api"
	"netsim/infra/devissuer"
	"netsim/infra/projector"
	"netsim/internal/teststack"
	"netsim/internal/testworld"
)

// listed is the JSON output of a command that prints a list.
type listed[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// list runs a command with --json.
func list[T any](d *deployment, args ...string) (all listed[T]) {
	d.t.Helper()
	if err := json.Unmarshal([]byte(d.output(append(args, "--json")...)), &all); err != nil {
		d.t.Fatal(err)
	}
	return all
}

// The status commands show parked facts, dead letters and lag while no process of the
// service runs.
func TestStatusOfStreamsReactionsAndReadModels(t *testing.T) {
	d := newDeployment(t)
	d.start()
	w := &writers{t: t, url: d.url, token: teststack.Issuer(t).Token(devissuer.Options{Service: true, User: "writer"})}
	unknown, _ := w.send("unknown type")
	good, _ := w.send("good")
	d.append(unknown, "netsim.workspace.painted.v1", `{"colour":"green"}`) // becomes a dead letter of billing and one of workspace
	testworld.Await(t, func() bool {
		behind := int64(0)
		reactions := list[api.Reaction](d, "reactions")
		for _, r := range reactions.Items {
			behind += r.LagRecords
		}
		return behind == 0 && len(reactions.Items) == reactions.Total && reactions.Items[1].DeadLetters == 1
	})
	d.tool("readmodel", "rebuild", "--once", "next")
	d.tool("readmodel", "promote", "next")
	d.tool("readmodel", "rebuild", "--once", "next")
	testworld.Await(t, func() (recorded bool) { // the end of the promotion, which readmodel_before lacks
		d.query(`SELECT EXISTS (SELECT FROM readmodel.operations WHERE ended_at IS NOT NULL)`, &recorded)
		return recorded
	})
	d.kill()
	d.append(good, "netsim.workspace.updated.v1", `{"name":"better"}`)

	for _, f := range list[api.StreamFamily](d, "streams").Items {
		lag, parked := int64(0), int64(0)
		if f.Family == "workspaces" {
			lag, parked = 1, 1
		}
		if f.LagRecords != lag || f.LagSeconds > 0 != (lag > 0) || f.ParkedStreams != parked || f.ParkedFacts != parked || f.Partitions != 2 {
			t.Errorf("streams says %+v", f)
		}
	}
	if said := d.output("streams", "status"); !strings.HasPrefix(said, "FAMILY") || strings.Count(said, "\n") != 8 {
		t.Errorf("streams status says %q", said)
	}

	d.readModelsAreSeen()

	r := list[api.Reaction](d, "reactions", "status", "--limit", "3")
	if first := r.Items[0]; len(r.Items) != 3 || r.Total != 26 || first.DeadLetters != 1 || first.DeadSince == nil || first.Handler != "billing" || first.Family != "workspaces" {
		t.Errorf("reactions status says %+v", r)
	}
	d.another("projector") // judges records while no reactor runs
	testworld.Await(t, func() bool {
		return list[api.StreamFamily](d, "streams").Items[6].LagRecords == 0
	})
	lag := map[string]int64{}
	for _, r := range list[api.Reaction](d, "reactions").Items {
		if lag[r.Handler] += r.LagRecords; (r.LagSeconds > 0) != (r.LagRecords > 0) {
			t.Errorf("reactions says %+v", r)
		}
	}
	want := map[string]int64{"billing": 1, "workspace": 1, "simple": 0, "simulation": 0, "studies": 0, "traceset": 0, "uploads": 0, "uses": 0}
	if diff := cmp.Diff(want, lag); diff != "" {
		t.Errorf("reactions lag (-want +got):\n%s", diff)
	}
	if said := d.output("reactions", "--limit", "1"); !strings.HasPrefix(said, "HANDLER") ||
		!strings.HasSuffix(said, "1 of 8 rows; --limit shows more\n2 dead letters are open\n") {
		t.Errorf("reactions says %q", said)
	}
	for handler, records := range want {
		row := strings.Fields(regexp.MustCompile("(?m)^" + handler + " .*$").FindString(d.output("reactions")))
		letters := map[bool]string{false: "0", true: "1"}[handler == "billing" || handler == "workspace"]
		if len(row) != 6 || row[2] != fmt.Sprint(records) || row[4] != letters {
			t.Errorf("reactions has the row %q of %s, want one with %d records and %s dead letters", row, handler, records, letters)
		}
	}
}

// readModelsAreSeen checks the status of the live read model, the previous one and the
// next one. Each lags one record.
func (d *deployment) readModelsAreSeen() {
	t := d.t
	t.Helper()
	reader, err := pgx.Connect(t.Context(), d.postgres.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	if _, err := reader.Exec(t.Context(), `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1`); err != nil {
		t.Fatal(err)
	}
	var models listed[api.ReadModel]
	testworld.Await(t, func() bool { // the open transaction must be old enough to count as an obstacle
		models = list[api.ReadModel](d, "readmodel", "status", "--limit", "2")
		return models.Total == 3 && models.Items[0].Projector == "" && strings.Contains(strings.Join(models.Items[1].Obstacles, "\n"), "is still reading")
	})
	for i, schema := range []string{"readmodel", "next", "readmodel_before"} {
		m := models.Items[i]
		lag := int64(1)
		if schema == projector.Before {
			lag = 2
		}
		if m.Schema != schema || !m.ThisRelease || m.LagRecords != lag || m.LagSeconds <= 0 || m.ParkedStreams != 1 || m.Facts == 0 || m.Projector != "" {
			t.Errorf("readmodel status says %+v", m)
		}
		if len(m.Partitions.Items) != 2 || m.Partitions.Total != 14 || m.Partitions.Items[0].Family != "workspaces" || (len(m.Obstacles) == 0) != (i == 0) {
			t.Errorf("readmodel status of %s says %+v", schema, m)
		}
	}
	d.execute(`DROP INDEX next.simulations_name`)
	if said := d.output("readmodel", "status"); !strings.Contains(said, "promote next: 1 indexes are missing: 'netsim readmodel rebuild next' makes them\n") {
		t.Errorf("readmodel status says %q, want %q in it", said, "promote next: 1 indexes are missing: 'netsim readmodel rebuild next' makes them\n")
	}
	d.execute(`COMMENT ON SCHEMA next IS 'form of another release'`)
	said := d.output("readmodel", "status", "--limit", "2")
	for _, want := range []string{
		"another release", "promote next: the read model was made by another release", "promote next: 1 records of the log are not judged",
		"6 of 42 rows; --limit shows more\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("readmodel status says %q, want %q", said, want)
		}
	}
}

// The status commands show jobs and runs while no process runs them.
func TestStatusOfJobsAndRuns(t *testing.T) {
	d := newDeployment(t)
	d.env = append(d.env, "NETSIM_ROLES=api,projector,reactor")
	if said := d.refused("jobs"); !strings.Contains(said, "'netsim serve' makes it") {
		t.Errorf("without a queue, jobs says %q, want %q in it", said, "'netsim serve' makes it")
	}
	if said := d.output("readmodel", "status"); said != "there is no read model: 'netsim serve' makes it\n" {
		t.Errorf("without a read model, its status is %q", said)
	}
	d.start()
	if said := d.output("jobs") + d.output("runs"); said != "there are no jobs\nno simulation is open\n" {
		t.Errorf("jobs and runs say %q", said)
	}
	ids := []string{d.submit(), d.submit()}
	testworld.Await(t, func() bool { // until both have a job
		queued := list[api.JobSummary](d, "jobs").Items
		return len(queued) == 1 && queued[0].Jobs == int64(len(ids))
	})
	d.kill()
	d.execute(`UPDATE jobs.river_job SET attempt = 3, attempted_by = '{elsewhere,worker-7}', errors = ARRAY[
		jsonb_build_object('at', now() - interval '2 hours', 'attempt', 2, 'error', 'an older error'),
		jsonb_build_object('at', now() - interval '1 hour', 'attempt', 3, 'error', 'store https://u:pass@store refuses hidden-key ' || repeat('x', 9999))]
		WHERE args->>'simulationId' = '` + ids[0] + `'`)
	d.execute(`UPDATE readmodel.simulations SET status = 'running', engine = 'netsim', delivered_bytes = 512, total_bytes = 1536, stalled_since = now() - interval '3 days'
		WHERE id = '` + ids[0] + `'`)
	d.env = append(d.env, "NETSIM_ENGINE_TOKEN=hidden-key")

	j := list[api.JobSummary](d, "jobs")
	if s := j.Items[0]; j.Total != 1 || s.Kind != "run_simulation" || s.State != "available" || s.Jobs != 2 || s.Attempts != 3 || s.OldestSeconds <= 0 || s.LastErrorAt == nil ||
		!strings.HasPrefix(s.LastError, "store https://u:[redacted]@store refuses [redacted] x") || len(s.LastError) > 2100 {
		t.Errorf("jobs says %+v", j)
	}
	if said := d.output("jobs"); !strings.Contains(said, "run_simulation  available  2 ") || !strings.Contains(said, "1h 0m") || len(said) > 400 {
		t.Errorf("jobs says %q", said)
	}

	r := list[api.OpenRun](d, "runs", "--limit", "1")
	if s := r.Items[0]; len(r.Items) != 1 || r.Total != 2 || s.Simulation != ids[1] || s.Status != "provisioning" || s.Job != "available" || s.Worker != "" || s.AgeSeconds <= 0 {
		t.Errorf("runs says %+v", r)
	}
	said := d.output("runs")
	for _, want := range []string{"provisioning  -       1\n", "running       netsim  1\n", "available  worker-7  512 B of 1.5 KiB stalled for 3d 0h  acct_0000000000e008000000000001\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("runs says %q, want %q", said, want)
		}
	}
	var counted struct {
		Counts []api.OpenRunCount `json:"counts"`
	}
	if err := json.Unmarshal([]byte(d.output("runs", "--json")), &counted); err != nil || len(counted.Counts) != 2 {
		t.Errorf("runs counts %+v (%v)", counted, err)
	}
}
