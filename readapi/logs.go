package readapi

import (
	"context"
	"slices"

	"netsim/api"
	"netsim/projections"
)

// logLevels are the severities as the log stores them, least first.
func logLevels() []api.LogLevel {
	return []api.LogLevel{api.LogLevelDebug, api.LogLevelInfo, api.LogLevelWarn, api.LogLevelError}
}

// GetLogs implements GET /simulations/{sim_id}/logs (completions.md section
// 5.8): in the order in which the entries were written.
func (a *API) GetLogs(ctx context.Context, r api.GetLogsRequestObject) (api.GetLogsResponseObject, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return nil, err
	}
	p := r.Params
	l, err := a.listing(caller, "logs", asked{p.Limit, 100, p.Next, p.Cursor}, r.SimID, string(p.Level), p.Component)
	if err != nil {
		return nil, err
	}
	if _, err := a.simulation(ctx, r.SimID); err != nil {
		return nil, err
	}
	levels := logLevels()
	lines, next, err := projections.ListLogs(ctx, a.DB, projections.LogQuery{
		Simulation: r.SimID, MinLevel: max(slices.Index(levels, p.Level), 0), Component: p.Component, Page: l.page,
	})
	if err != nil {
		return nil, err
	}
	entries := make([]api.LogEntry, len(lines))
	for i, line := range lines {
		entries[i] = api.LogEntry{
			Timestamp: timestamp(line.At), Level: levels[min(max(line.Level, 0), len(levels)-1)],
			Component: line.Component, Message: line.Message,
		}
	}
	return api.GetLogs200JSONResponse{Logs: entries, Pagination: l.pagination(len(entries), next)}, nil
}
