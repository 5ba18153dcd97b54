package readapi

import (
	"context"
	"fmt"

	"netsim/api"
	"netsim/commands"
	"netsim/content/library"
	"netsim/events"
	"netsim/fault"
	"netsim/projections"
	"netsim/readapi/access"
)

// maxMatches limits the tracesets shown of a library, and the libraries shown for
// a hash prefix.
const maxMatches = 100

// ListLibraries implements GET /libraries (completions.md section 2.7).
func (a *API) ListLibraries(ctx context.Context, r api.ListLibrariesRequestObject) (api.ListLibrariesResponseObject, error) {
	p := r.Params
	l, err := a.listing(ctx, r, 20)
	if err != nil {
		return nil, err
	}
	if err := access.Member(ctx, p.WorkspaceID); err != nil {
		return nil, err
	}
	q := projections.LibraryQuery{Seen: access.TracesetsFrom(l.caller, p.WorkspaceID), Scope: string(p.Scope), Page: l.page}
	if p.Scope == api.LibraryScopeGlobal {
		q.Scope = commands.ScopePublic
	}
	rows, next, err := projections.ListLibraries(ctx, a.DB, q)
	if err != nil {
		return nil, err
	}
	items := api.Each(rows, a.libraryItem)
	return api.ListLibraries200JSONResponse{Items: items, Pagination: l.pagination(len(items), next)}, nil
}

// GetLibrary implements GET /libraries/{id}. The id may be a prefix of the hash.
func (a *API) GetLibrary(ctx context.Context, r api.GetLibraryRequestObject) (api.GetLibraryResponseObject, error) {
	caller, err := access.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := access.Member(ctx, r.Params.WorkspaceID); err != nil {
		return nil, err
	}
	q := projections.LibraryQuery{Seen: access.TracesetsFrom(caller, r.Params.WorkspaceID)}
	id, prefix := r.ID, ""
	if !events.ValidID(events.LibraryPrefix, r.ID) {
		id, prefix = "", r.ID
	}
	found, err := projections.FindLibraries(ctx, a.DB, q, id, prefix, maxMatches)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fault.Missing("library", r.ID)
	case len(found) > 1:
		return choices(found, r.ID), nil
	}
	referring, err := projections.ListLibraryTracesets(ctx, a.DB, q, found[0].Hash, maxMatches)
	if err != nil {
		return nil, err
	}
	return a.library(&found[0], referring)
}

func choices(found []projections.Library, prefix string) api.GetLibrary300JSONResponse {
	var r api.GetLibrary300JSONResponse
	r.Error.Code = api.LibraryChoicesErrorCodeMULTIPLECHOICES
	r.Error.Message = fmt.Sprintf("the hashes of %d libraries begin with %s", len(found), prefix)
	for _, l := range found {
		r.Matches = append(r.Matches, api.LibraryMatch{ID: l.ID, HashShort: l.Hash[:12]})
	}
	return r
}

func (a *API) libraryItem(l *projections.Library) api.LibraryItem {
	item := api.LibraryItem{
		ID: l.ID, Hash: l.Hash, HashShort: l.Hash[:12], Format: l.Format, Layout: api.LibraryLayout(l.Layout),
		Scope: api.LibraryScope(l.Scope), TotalSize: l.TotalSize, ReferenceCount: l.References,
		StorageURL: a.Storage.url(library.PrefixOf(l.ID)), WorkloadType: l.Family,
	}
	if l.Scope == commands.ScopePublic {
		item.Scope = api.LibraryScopeGlobal
	}
	if l.Status == commands.TracesetReady {
		item.RankCount = &l.RankCount
	}
	return item
}

func (a *API) library(l *projections.Library, referring []projections.Traceset) (api.GetLibrary200JSONResponse, error) {
	item := a.libraryItem(l)
	whole := api.GetLibrary200JSONResponse{
		ID: item.ID, Hash: item.Hash, HashShort: item.HashShort, Format: item.Format, Layout: item.Layout,
		Scope: item.Scope, TotalSize: item.TotalSize, ReferenceCount: item.ReferenceCount, RankCount: item.RankCount,
		StorageURL: item.StorageURL, WorkloadType: item.WorkloadType, CreatedAt: timestamp(l.CreatedAt),
		MetadataStatus: api.LibraryMetadataStatus(metadataStatus(l.Status)),
	}
	files, err := l.FileList()
	if err != nil {
		return whole, err
	}
	whole.FileCount = int64(len(files))
	if l.Layout == events.LayoutFolder {
		whole.FileCount = l.FileCount
	}
	if i := first(files); i >= 0 {
		whole.ContentType = files[i].ContentType
	}
	for _, t := range referring {
		whole.Tracesets = append(whole.Tracesets, api.LibraryTraceset{ID: t.ID, Name: t.Name, WorkspaceID: t.WorkspaceID})
	}
	return whole, nil
}
