package service_test

import (
	"encoding/json"
	"testing"

	"netsim/internal/servicetest"
)

// TestRunsWithoutTransfers: a run without transfers between servers completes. Its
// simulated time is the time of its computations, or 0.
func TestRunsWithoutTransfers(t *testing.T) {
	t.Parallel()
	const head = `{"version":"0.0.4"}`
	const computing = `{"id":"1","type":"COMP_NODE","durationMicros":"7"}{"id":"2","type":"COMP_NODE","dataDeps":["1"],"durationMicros":"5"}`
	const alone = `{"id":"3","type":"COMM_COLL_NODE","attr":[{"name":"comm_type","int64Val":"0"},{"name":"comm_size","int64Val":"1000"},{"name":"pg_name","stringVal":"own"}]}`
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	user, service := p.User(t, account), p.Service(t, account)
	for name, c := range map[string]struct {
		files []traceFile
		ranks float64
		want  int64 // ps
	}{
		"one rank that computes":          {[]traceFile{{"rank_0.chakra.json", []byte(head + computing)}}, 1, 12_000_000},
		"two ranks that compute":          {[]traceFile{{"rank_0.chakra.json", []byte(head + computing)}, {"rank_1.chakra.json", []byte(head + computing)}}, 2, 12_000_000},
		"an all-reduce in a group of one": {[]traceFile{{"rank_0.chakra.json", []byte(head + alone)}, {"comm_groups.json", []byte(`{"own":[0]}`)}}, 1, 0},
		"the same after computing":        {[]traceFile{{"rank_0.chakra.json", []byte(head + computing + alone)}, {"comm_groups.json", []byte(`{"own":[0]}`)}}, 1, 12_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJourney(t, user)
			j.Workspace = service.Post("/api/v1/workspaces", object{"name": name}).Want(201).Text("id")
			j.traceset = j.upload(c.files)
			made := user.Eventually("/api/v1/tracesets/"+j.traceset, func(r servicetest.Reply) bool { return r.Want(200).Object()["status"] != "processing" }).Object()
			if made["status"] != "ready" || made["rankCount"] != c.ranks {
				t.Fatalf("the traceset is %v, want ready with %v ranks", made, c.ranks)
			}
			j.clone("Leaf-spine, 64 servers, non-blocking")
			user.Patch(j.At("/traceset"), object{"tracesetId": j.traceset}).Want(200)
			if report := user.Post(j.At("/validate"), nil).Want(200); report.Object()["valid"] != true {
				t.Fatalf("the configuration is not valid: %s", report.Body)
			}
			sim := "/api/v1/simulations/" + j.start().Want(201).Text("id")
			ended := user.Eventually(sim, func(r servicetest.Reply) bool {
				status := r.Want(200).Object()["status"]
				return status == "completed" || status == "failed" || status == "invalid"
			})
			if ended.Object()["status"] != "completed" {
				t.Fatalf("the simulation did not complete: %s", ended.Body)
			}
			var summary struct{ SimulatedTimePs, PayloadBytes int64 }
			link := user.Get(sim + "/results/download-url?fileName=summary.json").Want(200).Text("downloadUrl")
			if err := json.Unmarshal(j.Fetch(link), &summary); err != nil {
				t.Fatal(err)
			}
			if summary.SimulatedTimePs != c.want || summary.PayloadBytes != 0 {
				t.Errorf("summary %+v, want a time of %d ps", summary, c.want)
			}
		})
	}
}
