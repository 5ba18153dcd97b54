package writeapi

import (
	"cmp"
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
	"netsim/fault"
	"netsim/simulator/document"
)

// maxWorkload bounds the stored text of workload metadata, in bytes
// (completions.md section 6.2).
const maxWorkload = 64 << 10

// DeleteTraceset implements DELETE /tracesets/{id}. If the traceset is still being
// uploaded, its upload is aborted.
func (a *API) DeleteTraceset(ctx context.Context, r api.DeleteTracesetRequestObject) (api.DeleteTracesetResponseObject, error) {
	w, err := change(ctx, "DeleteTraceset", r.ID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	_, err = a.once(ctx, w, func() error { return a.deleteTraceset(ctx, w) })
	return api.DeleteTraceset204Response{}, err
}

func (a *API) deleteTraceset(ctx context.Context, w write) error {
	id := w.stream
	partition, upload, err := a.Views.OwnTraceset(ctx, id)
	if err != nil {
		return err
	}
	if upload != "" {
		w.stream = upload
		_, err = handle.Command[commands.Upload](ctx, a.Commands, w.existing(partition), w.origin,
			commands.AbortUpload{ID: upload, Reason: commands.ReasonDeleted})
		return err
	}
	_, err = handle.Command[commands.Traceset](ctx, a.Commands, w.existing(partition), w.origin,
		commands.DeleteTraceset{ID: id, Reason: "request"})
	return err
}

// PromoteTraceset implements POST /tracesets/{id}/promote.
func (a *API) PromoteTraceset(ctx context.Context, r api.PromoteTracesetRequestObject) (api.PromoteTracesetResponseObject, error) {
	w, err := change(ctx, "PromoteTraceset", r.ID, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	cmd := commands.PromoteTraceset{ID: r.ID, Target: commands.ScopeTenant}
	if r.Body != nil {
		if cmd.Workload, err = workloadText(&r.Body.WorkloadMetadata); err != nil {
			return nil, err
		}
		cmd.Description, cmd.Tags = r.Body.Description, r.Body.Tags
		if r.Body.Target != "" {
			cmd.Target = string(r.Body.Target)
		}
	}
	partition, upload, err := a.Views.OwnTraceset(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if upload != "" {
		if _, err := a.Views.TracesetResolution(ctx, r.ID); fault.Is(err, fault.NotFound) { // it was deleted
			return nil, err
		}
		return nil, fault.New(fault.Conflict, "traceset %s is not uploaded, so it is not ready", r.ID)
	}
	result, err := handle.Command[commands.Traceset](ctx, a.Commands, w.existing(partition), w.origin, cmd)
	if err != nil {
		return nil, err
	}
	promoted := api.PromoteTraceset200JSONResponse{ID: r.ID, PromotionApplied: result.Event != nil || result.Repeated}
	if made, ok := result.State.(*commands.Traceset); ok {
		promoted.Scope = api.TracesetScope(made.Scope)
		return promoted, nil
	}
	t, err := a.Views.TracesetView(ctx, r.ID)
	promoted.Scope = t.Scope
	return promoted, err
}

// workloadText returns the stored form of workload metadata, "" if it is empty.
func workloadText(given *api.WorkloadMetadata) (string, error) {
	m := *given
	text, err := document.Canonical(m)
	if err != nil || text == "{}" {
		return "", err
	}
	m.SchemaVersion = cmp.Or(m.SchemaVersion, 1)
	if text, err = document.Canonical(m); err == nil && len(text) > maxWorkload {
		err = fault.New(fault.Validation, "workloadMetadata must be at most %d bytes, got %d", maxWorkload, len(text))
	}
	return text, err
}

// GetTracesetDownload implements GET /tracesets/{id}/download.
func (a *API) GetTracesetDownload(ctx context.Context, r api.GetTracesetDownloadRequestObject) (api.GetTracesetDownloadResponseObject, error) {
	link, err := a.Views.TracesetDownload(ctx, r.ID, r.Params.File)
	if err != nil {
		return nil, err
	}
	return api.GetTracesetDownload200JSONResponse(link), a.use(ctx, r.ID, "download")
}

// ResolveTraceset implements GET /tracesets/{id}/resolve. The error for a traceset
// without files has a message but no code (document 2).
func (a *API) ResolveTraceset(ctx context.Context, r api.ResolveTracesetRequestObject) (api.ResolveTracesetResponseObject, error) {
	resolved, err := a.Views.TracesetResolution(ctx, r.ID)
	if fault.Is(err, fault.Validation) {
		var none api.ResolveTraceset400JSONResponse
		none.Error.Message = err.Error()
		return none, nil
	}
	if err != nil {
		return nil, err
	}
	return api.ResolveTraceset200JSONResponse(resolved), a.use(ctx, r.ID, "resolve")
}

// use records a use of a traceset when the last recorded one is old enough.
func (a *API) use(ctx context.Context, id, what string) error {
	w, err := change(ctx, "UseTraceset", id, "", nil)
	if err != nil {
		return err
	}
	partition, due, err := a.Views.TracesetUse(ctx, id)
	if err != nil || !due {
		return err
	}
	_, err = handle.Command[commands.Traceset](ctx, a.Commands, w.existing(partition), w.origin, commands.UseTraceset{ID: id, Use: what})
	return err
}
