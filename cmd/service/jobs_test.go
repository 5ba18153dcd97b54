package service

import (
	"encoding/json"
	"testing"

	"netsim/billing"
	"netsim/cmd/checkpoints"
	"netsim/content/traces"
	"netsim/content/uploads"
	"netsim/infra/jobs"
	"netsim/reactions"
	"netsim/runs"
)

// TestStoredJobs: the names and arguments of jobs stay the same, because another release
// may have enqueued them.
func TestStoredJobs(t *testing.T) {
	t.Parallel()
	for want, args := range map[string]jobs.Args{
		`run_simulation {"simulationId":"sim_a"}`:    runs.RunSimulation{SimulationID: "sim_a"},
		`follow_simulation {"simulationId":"sim_a"}`: runs.FollowSimulation{SimulationID: "sim_a"},
		`purge_simulation {"simulationId":"sim_a"}`:  runs.PurgeSimulation{SimulationID: "sim_a"},
		`extract_traceset {"tracesetId":"ts_a"}`:     traces.ExtractTraceset{TracesetID: "ts_a"},
		`clear_upload {"uploadId":"upl_a"}`:          uploads.ClearUpload{UploadID: "upl_a"},
		`expire_uploads {}`:                          uploads.ExpireUploads{},
		`sweep_tracesets {}`:                         reactions.SweepTracesets{},
		`release_holds {}`:                           billing.ReleaseHolds{},
		`accrue_day {"date":"2026-03-01"}`:           billing.AccrueDay{Date: "2026-03-01"},
		`publish_checkpoint {"date":"2026-03-01"}`:   checkpoints.PublishCheckpoint{Date: "2026-03-01"},
	} {
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if got := args.Kind() + " " + string(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
