package writeapi

import (
	"context"

	"netsim/api"
	"netsim/commands"
	"netsim/commands/handle"
)

// DeleteMappingFile implements DELETE /mapping-files/{mapping_file_id}.
// Configurations keep their reference to it.
func (a *API) DeleteMappingFile(ctx context.Context, r api.DeleteMappingFileRequestObject) (api.DeleteMappingFileResponseObject, error) {
	w, err := change(ctx, "DeleteMappingFile", r.MappingFileID, r.Params.IdempotencyKey, nil)
	if err != nil {
		return nil, err
	}
	_, err = a.once(ctx, w, func() error {
		workspace, err := a.Views.AdmitMappingFile(ctx, r.MappingFileID)
		if err != nil {
			return err
		}
		_, err = handle.Command[commands.MappingFile](ctx, a.Commands, w.existing(workspace), w.origin,
			commands.DeleteMappingFile{ID: r.MappingFileID, Reason: "request"})
		return err
	})
	return api.DeleteMappingFile204Response{}, err
}

// AttachMappingFile implements PATCH /configurations/{config_id}/mapping-file
// (document 2; completions.md section 3.5 row 35).
func (a *API) AttachMappingFile(ctx context.Context, r api.AttachMappingFileRequestObject) (api.AttachMappingFileResponseObject, error) {
	id := r.Body.MappingFileID
	whole, tag, err := a.editWhole(ctx, edit{"AttachMappingFile", []string{r.ConfigID}, headers(r.Params), r.Body},
		func(c commands.Configuration, m commands.Match) (decision, error) {
			made, live, err := a.Views.MappingFile(ctx, id)
			return commands.AttachMappingFile{
				ID: r.ConfigID, Match: m, MappingFileID: id, RankCount: made.RankCount,
				Live: live && made.WorkspaceID == c.WorkspaceID && made.AccountID == c.AccountID,
			}, err
		})
	if err != nil {
		return nil, err
	}
	return api.AttachMappingFile200JSONResponse{Body: whole, Headers: api.AttachMappingFile200ResponseHeaders{ETag: tag}}, nil
}

// DetachMappingFile implements DELETE /configurations/{config_id}/mapping-file
// (row 36).
func (a *API) DetachMappingFile(ctx context.Context, r api.DetachMappingFileRequestObject) (api.DetachMappingFileResponseObject, error) {
	whole, tag, err := a.editWhole(ctx, edit{"DetachMappingFile", []string{r.ConfigID}, headers(r.Params), nil},
		always(func(m commands.Match) decision { return commands.DetachMappingFile{ID: r.ConfigID, Match: m} }))
	if err != nil {
		return nil, err
	}
	return api.DetachMappingFile200JSONResponse{Body: whole, Headers: api.DetachMappingFile200ResponseHeaders{ETag: tag}}, nil
}
