package readapi

import (
	"context"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/projections"
	"netsim/readapi/access"
)

// ListTracesetCandidates implements GET /configurations/{config_id}/traceset
// (completions.md section 3.5 row 30): the tracesets that can be attached, newest
// first. The list is empty when the traceset routes are off.
func (a *API) ListTracesetCandidates(ctx context.Context, r api.ListTracesetCandidatesRequestObject) (api.ListTracesetCandidatesResponseObject, error) {
	p := r.Params
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	c, err := a.ConfigurationRow(ctx, r.ConfigID)
	if err != nil {
		return nil, err
	}
	q := projections.TracesetQuery{Seen: access.Tracesets(l.caller), Statuses: candidateStatuses(p.Status), Page: l.page}
	if p.Scope == api.ListTracesetCandidatesParamsScopeWorkspace {
		q.Seen = q.Seen.In(c.WorkspaceID)
	}
	var rows []projections.TracesetItem
	var next []string
	if a.TraceRoutes {
		if rows, next, err = projections.ListTracesets(ctx, a.DB, q); err != nil {
			return nil, err
		}
	}
	items := api.Each(rows, func(t *projections.TracesetItem) api.TracesetCandidate {
		return api.TracesetCandidate{
			ID: t.ID, Name: t.Name, Description: t.Description,
			Status: api.TracesetCandidateStatus(t.Status), MetadataStatus: metadataStatus(t.Status),
			Format: t.Format, Hash: t.LibraryHash, HashShort: t.LibraryHash[:min(12, len(t.LibraryHash))], TotalSize: t.TotalSize,
			CreatedAt: timestamp(t.CreatedAt), UpdatedAt: timestamp(t.ModifiedAt),
		}
	})
	return api.ListTracesetCandidates200JSONResponse{Tracesets: items, Pagination: l.pagination(len(items), next)}, nil
}

// candidateStatuses parses the status filter. Some words in it stand for several
// statuses. The result is nil for no filter.
func candidateStatuses(filter string) []string {
	if filter == "" {
		return nil
	}
	statuses := []string{}
	for _, word := range strings.Split(filter, ",") {
		switch word {
		case "completed":
			statuses = append(statuses, commands.TracesetReady)
		case "uploading":
			statuses = append(statuses, projections.TracesetUploading, commands.TracesetProcessing)
		case "failed":
			statuses = append(statuses, projections.TracesetUploadFailed, commands.TracesetMetadataFailed)
		case commands.TracesetProcessing, commands.TracesetReady, projections.TracesetUploadFailed, commands.TracesetMetadataFailed:
			statuses = append(statuses, word)
		}
	}
	return statuses
}

func metadataStatus(status string) api.TracesetCandidateMetadataStatus {
	switch status {
	case commands.TracesetReady:
		return api.TracesetCandidateMetadataStatusComplete
	case commands.TracesetMetadataFailed, projections.TracesetUploadFailed:
		return api.TracesetCandidateMetadataStatusFailed
	}
	return api.TracesetCandidateMetadataStatusPending
}
