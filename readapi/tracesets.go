package readapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"netsim/api"
	"netsim/commands"
	"netsim/content/traces"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/simulator/validation"
)

// ListTracesets implements GET /tracesets (completions.md sections 6.1, 6.4).
func (a *API) ListTracesets(ctx context.Context, r api.ListTracesetsRequestObject) (api.ListTracesetsResponseObject, error) {
	p := r.Params
	l, err := a.listing(ctx, r, 20)
	if err != nil {
		return nil, err
	}
	q := projections.TracesetQuery{Seen: access.Tracesets(l.caller), Page: l.page}
	if p.WorkspaceID != "" {
		if exists, err := a.HasWorkspace(ctx, p.WorkspaceID); err != nil || !exists {
			return api.ListTracesets200JSONResponse{Items: []api.TracesetItem{}, Pagination: l.pagination(0, nil)}, err
		}
		q.Seen = access.TracesetsFrom(l.caller, p.WorkspaceID)
	}
	if p.Status != "" {
		q.Statuses = strings.Split(p.Status, ",")
	}
	rows, next, err := projections.ListTracesets(ctx, a.DB, q)
	if err != nil {
		return nil, err
	}
	items := api.Each(rows, func(t *projections.TracesetItem) api.TracesetItem {
		return api.TracesetItem{
			ID: t.ID, Name: t.Name, Status: api.TracesetStatus(t.Status), FileCount: t.FilesCount, CreatedAt: timestamp(t.CreatedAt),
		}
	})
	return api.ListTracesets200JSONResponse{Items: items, Pagination: l.pagination(len(items), next)}, nil
}

// GetTraceset implements GET /tracesets/{id}.
func (a *API) GetTraceset(ctx context.Context, r api.GetTracesetRequestObject) (api.GetTracesetResponseObject, error) {
	t, err := a.traceset(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	view, err := tracesetView(&t)
	return api.GetTraceset200JSONResponse(view), err
}

// TracesetView returns a traceset as GET does. It does not check access, because
// its callers respond to a permitted write. It returns NotFound for a traceset
// that was deleted before the write was repeated.
func (a *API) TracesetView(ctx context.Context, id string) (api.Traceset, error) {
	t, err := projections.FindTraceset(ctx, a.DB, id)
	if err != nil {
		return api.Traceset{}, err
	}
	if t.Status == projections.Deleted {
		return api.Traceset{}, fault.Missing("traceset", id)
	}
	return tracesetView(&t)
}

// traceset reads a traceset that the caller may see. A traceset whose upload is
// open or aborted has files without hashes.
func (a *API) traceset(ctx context.Context, id string) (projections.Traceset, error) {
	t, err := a.TracesetRow(ctx, id)
	if !fault.Is(err, fault.NotFound) {
		return t, err
	}
	u, err := a.TracesetUploadRow(ctx, id)
	if err != nil {
		return t, err
	}
	if u.Status == commands.UploadCompleted || u.Reason == commands.ReasonDeleted {
		return t, fault.Missing("traceset", id)
	}
	return sessionView(&u)
}

// Traceset returns the data of a traceset that validation needs. A missing
// traceset counts as deleted.
func (a *API) Traceset(ctx context.Context, id string) (validation.Traceset, error) {
	t, err := projections.FindTraceset(ctx, a.DB, id)
	if fault.Is(err, fault.NotFound) {
		return validation.Traceset{Status: projections.Deleted}, nil
	}
	if err != nil {
		return validation.Traceset{}, err
	}
	sums, err := traces.ReadSummary(t.Summary)
	return validation.Traceset{Status: t.Status, Ranks: t.RankCount, Groups: sums.GroupSizes}, err
}

// sessionView returns the traceset of an upload whose files are not stored yet.
func sessionView(u *projections.Upload) (projections.Traceset, error) {
	t := projections.Traceset{
		ID: u.ResultID, AccountID: u.AccountID, WorkspaceID: u.WorkspaceID, Name: u.Name, Description: u.Description,
		Tags: u.Tags, Workload: u.Workload, Status: projections.TracesetUploading, Scope: commands.ScopeWorkspace, CreatedAt: u.CreatedAt,
	}
	if u.Status == commands.UploadAborted {
		t.Status, t.Failure = projections.TracesetUploadFailed, "the upload was aborted: "+u.Reason
	}
	declared, err := u.FileList()
	if err != nil {
		return t, err
	}
	files := make([]events.TracesetFile, len(declared))
	for i, f := range declared {
		files[i] = events.TracesetFile{Name: f.Name, ContentType: f.ContentType, Size: f.Size, Role: f.Role}
		t.TotalSize += f.Size
	}
	text, err := json.Marshal(files)
	t.Files = string(text)
	return t, err
}

func tracesetView(t *projections.Traceset) (api.Traceset, error) {
	view := api.Traceset{
		ID: t.ID, Name: t.Name, Description: t.Description, Tags: []string{}, Status: api.TracesetStatus(t.Status),
		WorkspaceID: t.WorkspaceID, TotalSize: t.TotalSize, CreatedAt: timestamp(t.CreatedAt), ExpiresAt: timestampOf(t.ExpiresAt),
		Scope: api.TracesetScope(t.Scope), LibraryHash: t.LibraryHash, StatusMessage: t.Failure, Files: []api.TracesetFile{},
	}
	if t.Status == commands.TracesetReady {
		view.RankCount = &t.RankCount
	}
	files, err := t.FileList()
	if err != nil {
		return view, err
	}
	var ranges []events.RankRange
	for _, part := range []struct {
		text string
		into any
	}{{t.Tags, &view.Tags}, {t.Ranges, &ranges}, {t.Workload, &view.WorkloadMetadata}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return view, fmt.Errorf("traceset %s: %w", t.ID, err)
		}
	}
	for _, f := range files {
		shown := api.TracesetFile{
			Name: f.Name, ContentType: f.ContentType, Hash: f.Hash, Size: f.Size,
			Role: api.UploadRole(f.Role), MetadataStatus: api.TracesetFileMetadataStatus(metadataStatus(t.Status)),
		}
		for _, r := range ranges {
			if r.File == f.Name {
				shown.RankRange = &struct {
					End   int64 `json:"end"`
					Start int64 `json:"start"`
				}{r.End, r.Start}
			}
		}
		view.Files = append(view.Files, shown)
	}
	return view, nil
}
