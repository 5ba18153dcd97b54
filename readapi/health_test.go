package readapi_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/api"
	"netsim/cmd/netsim/program/programtest"
	"netsim/readapi"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	p := programtest.Shared(t)
	user := p.User(t, programtest.NewAccount())
	if got := user.Get("/api/v1/health").Want(200).Object(); got["status"] != "ok" || got["startedAt"] == nil {
		t.Errorf("%v", got)
	}
	ready := user.Eventually("/api/v1/health/ready", func(r programtest.Reply) bool { // once a worker has begun
		return r.Object()["status"] == "ready"
	}).Object()
	var names []string
	for _, check := range ready["checks"].([]any) {
		names = append(names, check.(map[string]any)["name"].(string))
	}
	slices.Sort(names)
	if want := []string{"billing", "engine", "eventLog", "objectStore", "projections", "readStore"}; !slices.Equal(names, want) {
		t.Errorf("checks of %v, want %v", names, want)
	}
	p.Bearer(t, "").Get("/api/v1/health").Refused(401, "UNAUTHORIZED")
}

// TestReadiness: what fails decides whether the service is degraded or
// unavailable (completions 2.1).
func TestReadiness(t *testing.T) {
	t.Parallel()
	well, lagging, failed := readapi.State{}, readapi.State{Message: "behind"}, readapi.State{Failed: true, Message: "gone"}
	for name, c := range map[string]struct {
		states map[string]readapi.State
		want   api.ReadinessStatus
	}{
		"all well":             {map[string]readapi.State{"eventLog": well, "engine": well}, api.ReadinessStatusReady},
		"a part lags":          {map[string]readapi.State{"eventLog": well, "projections": lagging}, api.ReadinessStatusDegraded},
		"a part fails":         {map[string]readapi.State{"eventLog": well, "billing": failed}, api.ReadinessStatusDegraded},
		"the log fails":        {map[string]readapi.State{"eventLog": failed, "billing": well}, api.ReadinessStatusUnavailable},
		"the read store lags":  {map[string]readapi.State{"readStore": lagging}, api.ReadinessStatusDegraded},
		"the read store fails": {map[string]readapi.State{"readStore": failed, "engine": lagging}, api.ReadinessStatusUnavailable},
		"the objects fail":     {map[string]readapi.State{"objectStore": failed}, api.ReadinessStatusUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &readapi.API{Now: time.Now}
			for part, state := range c.states {
				a.Checks = append(a.Checks, readapi.Check{Name: part, Run: func(context.Context) readapi.State { return state }})
			}
			reply, err := a.GetReadiness(t.Context(), api.GetReadinessRequestObject{})
			if err != nil {
				t.Fatal(err)
			}
			var got api.ReadinessStatus
			switch r := reply.(type) {
			case api.GetReadiness200JSONResponse:
				got = r.Status
			case api.GetReadiness503JSONResponse:
				got = r.Status
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}
