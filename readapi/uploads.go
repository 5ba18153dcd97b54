package readapi

import (
	"context"

	"netsim/api"
	"netsim/projections"
)

// UploadedMappingFile returns the mapping file of an upload, and its entity tag.
// duplicate says that the file existed before the upload.
func (a *API) UploadedMappingFile(ctx context.Context, id string, duplicate bool) (api.MappingFile, string, error) {
	m, err := projections.FindMappingFile(ctx, a.DB, id)
	if err != nil {
		return api.MappingFile{}, "", err
	}
	view := mappingFileView(&m)
	view.DuplicateOfExisting = duplicate
	return view, mappingFileTag, nil
}
