package readapi

import (
	"context"
	"fmt"

	"netsim/api"
	"netsim/events"
	"netsim/fault"
	"netsim/infra/objects"
	"netsim/infra/web"
	"netsim/projections"
	"netsim/readapi/access"
	"netsim/simulator/mapping"
)

// maxMappingFiles is the largest page of mapping files. A larger limit is reduced
// to it (completions.md sections 1.4, 9 item 12).
const maxMappingFiles = 100

// mappingFileTag is the entity tag of every mapping file, because a mapping file
// never changes (completions.md section 1.5).
const mappingFileTag = `"0"`

// ListMappingFiles implements GET /mapping-files: those of one workspace. The
// list of a missing workspace is empty (completions.md section 6.6).
func (a *API) ListMappingFiles(ctx context.Context, r api.ListMappingFilesRequestObject) (api.ListMappingFilesResponseObject, error) {
	l, err := a.listing(ctx, r, 50)
	if err != nil {
		return nil, err
	}
	l.page.Limit = min(l.page.Limit, maxMappingFiles)
	if exists, err := a.HasWorkspace(ctx, r.Params.WorkspaceID); err != nil || !exists {
		return api.ListMappingFiles200JSONResponse{Items: []api.MappingFileItem{}, Pagination: l.pagination(0, nil)}, err
	}
	rows, next, err := projections.ListMappingFiles(ctx, a.DB, projections.MappingFileQuery{
		Scope: access.Owned(l.caller).In(r.Params.WorkspaceID), Page: l.page,
	})
	if err != nil {
		return nil, err
	}
	items := api.Each(rows, func(m *projections.MappingFile) api.MappingFileItem {
		return api.MappingFileItem{
			ID: m.ID, Name: m.Name, WorkspaceID: m.WorkspaceID, SizeBytes: m.SizeBytes, RankCount: m.RankCount,
			ScaleUpGroupCount: m.ScaleUpGroupCount, HasScaleUp: m.ScaleUpGroupCount > 0, CreatedAt: timestamp(m.CreatedAt),
		}
	})
	return api.ListMappingFiles200JSONResponse{Items: items, Pagination: l.pagination(len(items), next)}, nil
}

// GetMappingFile implements GET /mapping-files/{mapping_file_id}.
func (a *API) GetMappingFile(ctx context.Context, r api.GetMappingFileRequestObject) (api.GetMappingFileResponseObject, error) {
	m, err := a.mappingFile(ctx, r.MappingFileID)
	if err != nil {
		return nil, err
	}
	if web.NotModified(r.Params.IfNoneMatch, mappingFileTag) {
		return api.GetMappingFile304Response{Headers: api.NotModifiedResponseHeaders{ETag: mappingFileTag}}, nil
	}
	return api.GetMappingFile200JSONResponse{
		Body: mappingFileView(&m), Headers: api.GetMappingFile200ResponseHeaders{ETag: mappingFileTag},
	}, nil
}

// GetMappingFileDownload implements GET
// /mapping-files/{mapping_file_id}/download.
func (a *API) GetMappingFileDownload(ctx context.Context, r api.GetMappingFileDownloadRequestObject) (api.GetMappingFileDownloadResponseObject, error) {
	m, err := a.mappingFile(ctx, r.MappingFileID)
	if err != nil {
		return nil, err
	}
	link, err := a.Objects.PresignGet(ctx, m.ObjectKey, m.Name, "text/plain", objects.LinkLife)
	if err != nil {
		return nil, err
	}
	return api.GetMappingFileDownload200JSONResponse{URL: link.URL, ExpiresAt: timestamp(link.Expires)}, nil
}

// MappingFile returns the event that created a mapping file, and whether the file
// is live. A missing file is not live.
func (a *API) MappingFile(ctx context.Context, id string) (made events.MappingFileCreated, live bool, err error) {
	m, err := projections.FindMappingFile(ctx, a.DB, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return made, false, nil
	case err != nil:
		return made, false, err
	}
	return events.MappingFileCreated{
		AccountID: m.AccountID, WorkspaceID: m.WorkspaceID, Name: m.Name, Description: m.Description,
		Hash: m.Hash, ContentHash: m.ContentHash, SizeBytes: m.SizeBytes,
		RankCount: m.RankCount, ScaleUpGroupCount: m.ScaleUpGroupCount, ObjectKey: m.ObjectKey,
	}, !m.Deleted, nil
}

// Servers returns the server of each rank from the stored file.
func (a *API) Servers(ctx context.Context, file events.MappingFileCreated) ([]uint32, error) {
	body, _, err := a.Objects.Get(ctx, file.ObjectKey)
	if err != nil {
		// The file was stored before its event, so its absence is an internal error:
		// err is not wrapped, because it may have the code NotFound.
		return nil, fmt.Errorf("read mapping file %s: %s", file.ObjectKey, err.Error())
	}
	defer body.Close() //nolint:errcheck // it was only read
	parsed, err := mapping.Parse(body)
	if err != nil {
		return nil, fmt.Errorf("read mapping file %s: %w", file.ObjectKey, err)
	}
	servers := make([]uint32, len(parsed.Places))
	for rank := range parsed.Places {
		servers[rank] = parsed.Places[rank].Server
	}
	return servers, nil
}

// mappingFile reads a mapping file that the caller may use. It returns
// MappingFileDeleted for a deleted file.
func (a *API) mappingFile(ctx context.Context, id string) (projections.MappingFile, error) {
	m, err := a.MappingFileRow(ctx, id)
	if err == nil && m.Deleted {
		err = fault.New(fault.MappingFileDeleted, "mapping file %s is deleted", id)
	}
	return m, err
}

func mappingFileView(m *projections.MappingFile) api.MappingFile {
	return api.MappingFile{
		ID: m.ID, Name: m.Name, WorkspaceID: m.WorkspaceID, Description: m.Description, SizeBytes: m.SizeBytes,
		RankCount: m.RankCount, ScaleUpGroupCount: m.ScaleUpGroupCount, HasScaleUp: m.ScaleUpGroupCount > 0,
		CreatedAt: timestamp(m.CreatedAt), Hash: m.Hash, Etag: mappingFileTag,
	}
}

// mappingFileReference returns the reference to a mapping file in configurations
// and simulations, whether or not the file is deleted; nil for "".
func (a *API) mappingFileReference(ctx context.Context, id string) (*api.MappingFileReference, error) {
	if id == "" {
		return nil, nil
	}
	made, live, err := a.MappingFile(ctx, id)
	if err != nil {
		return nil, err
	}
	return &api.MappingFileReference{ID: id, Name: made.Name, Deleted: !live}, nil
}
