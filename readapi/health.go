package readapi

import (
	"context"
	"sync"
	"time"

	"netsim/api"
)

// Build says which program answers.
type Build struct {
	Version   string
	Commit    string
	StartedAt time.Time
}

// Check is one part that the service needs.
type Check struct {
	Name string // eventLog, readStore, objectStore, projections, engine or billing
	Run  func(context.Context) State
}

// State is how a part does.
type State struct {
	Failed     bool
	Message    string   // of a part that fails or needs attention; "" is well
	LagEvents  *int64   // of the projections
	LagSeconds *float64 // of the projections
}

const checkTimeout = 2 * time.Second

// GetHealth implements GET /health (completions.md section 2.1): the process
// answers.
func (a *API) GetHealth(context.Context, api.GetHealthRequestObject) (api.GetHealthResponseObject, error) {
	return api.GetHealth200JSONResponse{
		Status: api.HealthStatusOk, Version: a.Build.Version, Commit: a.Build.Commit,
		StartedAt:     timestamp(a.Build.StartedAt),
		UptimeSeconds: int64(a.Now().Sub(a.Build.StartedAt) / time.Second),
	}, nil
}

// GetReadiness implements GET /health/ready: every part is asked at the same
// time, and given two seconds.
func (a *API) GetReadiness(ctx context.Context, _ api.GetReadinessRequestObject) (api.GetReadinessResponseObject, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	checks := make([]api.ReadinessCheck, len(a.Checks))
	var asked sync.WaitGroup
	for i, check := range a.Checks {
		asked.Go(func() { checks[i] = a.run(ctx, check) })
	}
	asked.Wait()
	ready := api.Readiness{Status: readiness(checks), Checks: checks, CheckedAt: timestamp(a.Now())}
	if ready.Status == api.ReadinessStatusUnavailable {
		return api.GetReadiness503JSONResponse(ready), nil
	}
	return api.GetReadiness200JSONResponse(ready), nil
}

func (a *API) run(ctx context.Context, check Check) api.ReadinessCheck {
	start := a.Now()
	state := check.Run(ctx)
	took := float64(a.Now().Sub(start).Microseconds()) / 1000
	c := api.ReadinessCheck{
		Name: api.ReadinessCheckName(check.Name), Status: api.ReadinessCheckStatusPass, Message: state.Message,
		LatencyMs: &took, LagEvents: state.LagEvents, LagSeconds: state.LagSeconds,
	}
	switch {
	case state.Failed:
		c.Status = api.ReadinessCheckStatusFail
	case state.Message != "":
		c.Status = api.ReadinessCheckStatusWarn
	}
	return c
}

// readiness is unavailable when a part fails that everything needs, degraded
// when another is not well.
func readiness(checks []api.ReadinessCheck) api.ReadinessStatus {
	status := api.ReadinessStatusReady
	for _, c := range checks {
		if c.Status == api.ReadinessCheckStatusPass {
			continue
		}
		status = api.ReadinessStatusDegraded
		switch c.Name {
		case "eventLog", "readStore", "objectStore":
			if c.Status == api.ReadinessCheckStatusFail {
				return api.ReadinessStatusUnavailable
			}
		}
	}
	return status
}
