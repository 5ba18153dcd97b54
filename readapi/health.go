package readapi

import (
	"context"
	"time"

	"netsim/api"
	"netsim/infra/health"
)

// Build identifies the program.
type Build struct {
	Version   string
	Commit    string
	StartedAt time.Time
}

// GetHealth implements GET /health (completions.md section 2.1). It checks no
// dependency, so it shows only that the process answers.
func (a *API) GetHealth(context.Context, api.GetHealthRequestObject) (api.GetHealthResponseObject, error) {
	return api.GetHealth200JSONResponse{
		Status: api.HealthStatusOk, Version: a.Build.Version, Commit: a.Build.Commit,
		StartedAt:     timestamp(a.Build.StartedAt),
		UptimeSeconds: int64(a.Now().Sub(a.Build.StartedAt) / time.Second),
	}, nil
}

// GetReadiness implements GET /health/ready: it probes the dependencies of this
// process concurrently.
func (a *API) GetReadiness(ctx context.Context, _ api.GetReadinessRequestObject) (api.GetReadinessResponseObject, error) {
	report := a.Health.Report(ctx)
	ready := api.Readiness{
		Status: api.ReadinessStatus(report.Status), CheckedAt: timestamp(a.Now()),
		Checks: make([]api.ReadinessCheck, len(report.Results)),
	}
	for i, r := range report.Results {
		took := float64(r.Latency.Microseconds()) / 1000
		ready.Checks[i] = api.ReadinessCheck{
			Name: api.ReadinessCheckName(r.Name), Required: r.Required, Status: api.ReadinessCheckStatus(r.Status),
			Message: r.Message, LatencyMs: &took, LagEvents: r.LagRecords, LagSeconds: r.LagSeconds,
		}
	}
	if report.Status == health.Unavailable {
		return api.GetReadiness503JSONResponse(ready), nil
	}
	return api.GetReadiness200JSONResponse(ready), nil
}
