package service_test

import (
	"strings"
	"testing"

	"netsim/api/contract"
	"netsim/events"
	"netsim/infra/replicas"
	"netsim/internal/servicetest"
)

// TestEveryReadTakesAToken sends each read that takes a token one that is not a token, one
// of another log, and too many of them. Each is refused.
func TestEveryReadTakesAToken(t *testing.T) {
	t.Parallel()
	p, other := servicetest.Shared(t), servicetest.Start(t)
	account := servicetest.NewAccount()
	user, service := p.User(t, account), p.Service(t, account)
	foreign := other.Service(t, servicetest.NewAccount()).Post("/api/v1/workspaces", map[string]any{"name": "elsewhere"}).Want(201).Token()
	own := service.Post("/api/v1/workspaces", map[string]any{"name": "here"}).Want(201).Token()
	terms, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	for _, op := range terms.Operations() {
		if !op.Takes(replicas.Header) {
			continue
		}
		reads++
		client := user
		if op.Access.Token == "service" {
			client = service
		}
		path := examplePath(op)
		for token, want := range map[string]string{
			"AAAAAAAA":                         "Consistency-Token is not a token of this service",
			foreign:                            "Consistency-Token is a token of another event log; repeat the request without it",
			strings.Repeat(own+", ", 16) + own: "Consistency-Token",
			"any, " + own:                      "Consistency-Token",
		} {
			if got := client.Get(path, servicetest.Header{Name: replicas.Header, Value: token}).Refused(400, "VALIDATION_ERROR"); !strings.HasPrefix(got, want) {
				t.Errorf("%s %s: %q, want %q", op.ID, token, got, want)
			}
		}
	}
	if reads < 30 {
		t.Errorf("%d operations take a token, want at least 30", reads)
	}
}

// examplePath returns the path of a read of something that does not exist, with its
// required parameters.
func examplePath(op *contract.Operation) string {
	ids := map[string]string{
		"sim_id": events.NewID(events.SimulationPrefix), "other_id": events.NewID(events.SimulationPrefix), "config_id": events.NewID(events.ConfigurationPrefix), "template_id": events.NewID(events.ConfigurationPrefix),
		"mapping_file_id": events.NewID(events.MappingFilePrefix), "workspace_id": events.NewID(events.WorkspacePrefix),
		"study_id": events.NewID(events.StudyPrefix), "webhook_id": events.NewID(events.WebhookPrefix), "stream_id": events.NewID(events.StudyPrefix), "correlation_id": "01a215d5-ccca-7aad-96d9-c5e69610ba18", "version": "1", "container_name": "rack", "id": "12", "name": "2026-11-20",
	}
	if strings.Contains(op.Path, "/tracesets/") {
		ids["id"] = events.NewID(events.TracesetPrefix)
	}
	if strings.Contains(op.Path, "/libraries/") {
		ids["id"] = events.NewID(events.LibraryPrefix)
	}
	path := op.Path
	for name, id := range ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	return path + map[string]string{
		"GetResultDownload": "?fileName=a.csv", "GetResultData": "?metric=perf",
		"ListMappingFiles": "?workspaceId=" + events.NewID(events.WorkspacePrefix),
		"ListCosts":        "?startDate=2026-11-01&endDate=2026-11-30", "GetCostSummary": "?startDate=2026-11-01&endDate=2026-11-30",
		"GetFocusDataset": "?startDate=2026-11-01&endDate=2026-11-30", "GetFocusDatasetParquet": "?startDate=2026-11-01&endDate=2026-11-30",
	}[op.ID]
}
