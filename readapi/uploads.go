package readapi

import (
	"context"

	"netsim/api"
	"netsim/fault"
	"netsim/projections"
)

// AdmitUpload checks that an upload session is there for the caller and of the
// kind. It returns its workspace.
func (a *API) AdmitUpload(ctx context.Context, id, kind string) (workspace string, err error) {
	u, err := projections.FindUpload(ctx, a.DB, id)
	if err != nil {
		return "", err
	}
	if err := a.admitLive(ctx, "upload", id, u.AccountID, u.WorkspaceID); err != nil {
		return "", err
	}
	if u.Kind != kind {
		return "", fault.New(fault.Validation, "uploadId %s is an upload of another kind, %s", id, u.Kind)
	}
	return u.WorkspaceID, nil
}

// UploadedMappingFile returns the mapping file that an upload became, or that
// it was a duplicate of, and its entity tag.
func (a *API) UploadedMappingFile(ctx context.Context, id string, duplicate bool) (api.MappingFile, string, error) {
	m, err := projections.FindMappingFile(ctx, a.DB, id)
	if err != nil {
		return api.MappingFile{}, "", err
	}
	view := mappingFileView(&m)
	view.DuplicateOfExisting = duplicate
	return view, mappingFileTag, nil
}
