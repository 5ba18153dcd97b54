package readapi

import (
	"context"
	"slices"

	"netsim/api"
	"netsim/projections"
)

// logLevels returns the severities; the log stores their indexes.
func logLevels() []api.LogLevel {
	return []api.LogLevel{api.LogLevelDebug, api.LogLevelInfo, api.LogLevelWarn, api.LogLevelError}
}

// GetLogs implements GET /simulations/{sim_id}/logs (completions.md section
// 5.8): the entries in the order in which they were written.
func (a *API) GetLogs(ctx context.Context, r api.GetLogsRequestObject) (api.GetLogsResponseObject, error) {
	l, err := a.listing(ctx, r, 100)
	if err != nil {
		return nil, err
	}
	if _, err := a.SimulationRow(ctx, r.SimID); err != nil {
		return nil, err
	}
	levels := logLevels()
	lines, next, err := projections.ListLogs(ctx, a.DB, projections.LogQuery{
		Simulation: r.SimID, Page: l.page,
		Where: []projections.Filter{
			projections.AtLeast("level", slices.Index(levels, r.Params.Level)),
			projections.Equal("component", r.Params.Component),
		},
	})
	if err != nil {
		return nil, err
	}
	entries := api.Each(lines, func(line *projections.LogLine) api.LogEntry {
		return api.LogEntry{
			Timestamp: timestamp(line.At), Level: levels[min(max(line.Level, 0), len(levels)-1)],
			Component: line.Component, Message: line.Message,
		}
	})
	return api.GetLogs200JSONResponse{Logs: entries, Pagination: l.pagination(len(entries), next)}, nil
}
