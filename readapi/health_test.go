package readapi_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/api"
	"netsim/infra/health"
	"netsim/internal/servicetest"
	"netsim/readapi"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	user := p.User(t, servicetest.NewAccount())
	if got := user.Get("/api/v1/health").Want(200).Object(); got["status"] != "ok" || got["startedAt"] == nil {
		t.Errorf("got %v, want the status ok and startedAt", got)
	}
	ready := user.Eventually("/api/v1/health/ready", func(r servicetest.Reply) bool { // once a worker has started
		return r.Object()["status"] == "ready"
	}).Object()
	var names []string
	for _, check := range ready["checks"].([]any) {
		names = append(names, check.(map[string]any)["name"].(string))
	}
	slices.Sort(names)
	if want := []string{"billing", "deadLetters", "engine", "eventLog", "issuerKeys", "lake", "objectStore", "parkedStreams", "projections", "publicTopics", "readStore", "schemaRegistry", "seals", "serving", "webhooks"}; !slices.Equal(names, want) {
		t.Errorf("checks of %v, want %v", names, want)
	}
	p.Bearer(t, "").Get("/api/v1/health").Refused(401, "UNAUTHORIZED")
}

// TestReadiness: a report does not show internal details to clients.
func TestReadiness(t *testing.T) {
	t.Parallel()
	lag := int64(7)
	a := &readapi.API{Now: time.Now, Health: &health.Checks{}}
	a.Health.Add(
		health.Check{Name: "eventLog", Required: true, Probe: func(context.Context) health.State {
			return health.Failed(errors.New("connection to 10.0.0.7 refused"))
		}},
		health.Check{Name: "projections", Probe: func(context.Context) health.State {
			return health.State{Message: "they are behind", LagRecords: &lag}
		}},
	)
	reply, err := a.GetReadiness(t.Context(), api.GetReadinessRequestObject{})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := reply.(api.GetReadiness503JSONResponse)
	if !ok {
		t.Fatalf("got %T, want a 503 response", reply)
	}
	for i := range got.Checks {
		if got.Checks[i].LatencyMs == nil {
			t.Error("a check has no latency")
		}
		got.Checks[i].LatencyMs = nil
	}
	want := []api.ReadinessCheck{
		{Name: "eventLog", Required: true, Status: "fail", Message: "it does not answer"},
		{Name: "projections", Status: "warn", Message: "they are behind", LagEvents: &lag},
	}
	if diff := cmp.Diff(want, got.Checks); diff != "" || got.Status != api.ReadinessStatusUnavailable {
		t.Errorf("%s (-want +got):\n%s", got.Status, diff)
	}
}
