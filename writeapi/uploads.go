package writeapi

import (
	"cmp"
	"context"
	"time"

	"netsim/api"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/archive"
	"netsim/simulator/mapping"
)

// Sessions opens and reads upload sessions.
type Sessions interface {
	// Open opens a session. Repeating it changes nothing.
	Open(ctx context.Context, to handle.Target, from handle.Origin, opened events.UploadOpened) error
	// Links returns the upload links of each file's parts, and when they expire.
	Links(ctx context.Context, upload string) ([]api.UploadFileLinks, time.Time, error)
	// Finish returns the resource of a completed session, and whether it existed
	// before.
	Finish(ctx context.Context, upload string) (result string, duplicate bool, err error)
}

// Completions makes resources from uploaded files.
type Completions interface {
	// CompleteTraceset completes a session. It returns the traceset, and whether it is new.
	CompleteTraceset(ctx context.Context, upload string, files []api.UploadedFile, from handle.Origin) (traceset string, fresh bool, err error)
	// CompleteMappingFile completes a session. It returns the mapping file, and whether it
	// existed before.
	CompleteMappingFile(ctx context.Context, upload string, parts []api.UploadedPart, from handle.Origin) (file string, duplicate bool, err error)
}

// Defaults of uploads (document 2, completions 6.2).
const (
	defaultTTLDays     = 7
	defaultContentType = "application/octet-stream"
)

// OpenTracesetUpload implements POST /tracesets/upload-url.
func (a *API) OpenTracesetUpload(ctx context.Context, r api.OpenTracesetUploadRequestObject) (api.OpenTracesetUploadResponseObject, error) {
	opened := events.UploadOpened{
		Kind: events.UploadTraceset, WorkspaceID: cmp.Or(r.Body.WorkspaceID, events.TracesetWorkspace), Name: r.Body.Name,
		Description: r.Body.Description, Tags: r.Body.Tags, TTLDays: cmp.Or(r.Body.TTLDays, defaultTTLDays),
	}
	var err error
	if opened.Workload, err = workloadText(&r.Body.WorkloadMetadata); err != nil {
		return nil, err
	}
	if opened.Files, err = a.filesToUpload(r.Body.Files); err != nil {
		return nil, err
	}
	upload, err := a.open(ctx, "OpenTracesetUpload", r.Params.IdempotencyKey, r.Body, opened)
	if err != nil {
		return nil, err
	}
	links, until, err := a.Sessions.Links(ctx, upload)
	if err != nil {
		return nil, err
	}
	return api.OpenTracesetUpload200JSONResponse{
		UploadID: upload, ChecksumAlgorithm: api.TracesetUploadSessionChecksumAlgorithmSHA256, ExpiresAt: api.Timestamp{Time: until}, Files: links,
	}, nil
}

// OpenMappingFileUpload implements POST /mapping-files/upload-url.
func (a *API) OpenMappingFileUpload(ctx context.Context, r api.OpenMappingFileUploadRequestObject) (api.OpenMappingFileUploadResponseObject, error) {
	name := cmp.Or(r.Body.Name, mapping.Name)
	upload, err := a.open(ctx, "OpenMappingFileUpload", r.Params.IdempotencyKey, r.Body, events.UploadOpened{
		Kind: events.UploadMappingFile, WorkspaceID: r.Body.WorkspaceID, Name: name, Description: r.Body.Description,
		Files: []events.UploadFile{{Name: name, ContentType: "text/plain", Size: r.Body.SizeBytes}},
	})
	if err != nil {
		return nil, err
	}
	links, until, err := a.Sessions.Links(ctx, upload)
	if err != nil {
		return nil, err
	}
	return api.OpenMappingFileUpload200JSONResponse{
		UploadID: upload, ChecksumAlgorithm: api.MappingFileUploadSessionChecksumAlgorithmCrc64Nvme, ExpiresAt: api.Timestamp{Time: until}, Parts: links[0].Parts,
	}, nil
}

// open opens a session and returns its id.
func (a *API) open(ctx context.Context, operation, key string, body any, opened events.UploadOpened) (string, error) {
	w, err := create(ctx, operation, events.UploadPrefix, key, body)
	if err != nil {
		return "", err
	}
	if err := oneAccount(w.caller); err != nil {
		return "", err
	}
	done, err := a.repeated(ctx, w)
	if err != nil || done {
		return w.stream, err
	}
	if opened.WorkspaceID, err = a.destination(ctx, opened.WorkspaceID); err != nil {
		return "", err
	}
	opened.AccountID = w.caller.AccountID
	var size int64
	for _, f := range opened.Files {
		size += f.Size
	}
	if err := a.Quotas.AdmitUpload(ctx, opened.AccountID, size); err != nil {
		return "", err
	}
	return w.stream, a.Sessions.Open(ctx, w.to(opened.WorkspaceID), w.origin, opened)
}

// filesToUpload checks and returns the files of a new session.
func (a *API) filesToUpload(asked []api.UploadFile) ([]events.UploadFile, error) {
	if len(asked) > a.MaxFiles {
		return nil, fault.New(fault.Validation, "files must have at most %d items, got %d", a.MaxFiles, len(asked))
	}
	files, seen := make([]events.UploadFile, len(asked)), map[string]bool{}
	for i, f := range asked {
		if seen[f.Name] {
			return nil, fault.New(fault.Validation, "files[%d].name '%s' is given twice", i, f.Name)
		}
		seen[f.Name] = true
		files[i] = events.UploadFile{
			Name: f.Name, ContentType: cmp.Or(f.ContentType, defaultContentType),
			Role: sessionRole(f), Size: f.Size,
		}
	}
	return files, nil
}

// sessionRole returns the role of a file in a session: the requested role, or
// primary by default. The file of process groups is always supporting.
func sessionRole(f api.UploadFile) string {
	if f.Name == archive.GroupsFile {
		return string(api.UploadRoleSupporting)
	}
	return string(cmp.Or(f.Role, api.UploadRolePrimary))
}

// CompleteTracesetUpload implements POST /tracesets/upload-url/complete.
func (a *API) CompleteTracesetUpload(ctx context.Context, r api.CompleteTracesetUploadRequestObject) (api.CompleteTracesetUploadResponseObject, error) {
	id := r.Body.UploadID
	w, err := a.completion(ctx, "CompleteTracesetUpload", events.UploadTraceset, id, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	var traceset string
	var fresh bool
	done, err := a.once(ctx, w, func() (err error) {
		traceset, fresh, err = a.Completions.CompleteTraceset(ctx, id, r.Body.Files, w.origin)
		return err
	})
	if err == nil && !done && !fresh {
		done, err = a.repeated(ctx, w) // the same request may have completed it in the meantime
	}
	if err == nil && done {
		fresh = true // as in the response to the first request
		traceset, _, err = a.Sessions.Finish(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	made, err := a.Views.TracesetView(ctx, traceset)
	if err != nil {
		return nil, err
	}
	if !fresh {
		return api.CompleteTracesetUpload200JSONResponse(made), nil
	}
	return api.CompleteTracesetUpload201JSONResponse{Body: made, Headers: api.CompleteTracesetUpload201ResponseHeaders{
		Location: "/api/v1/tracesets/" + made.ID,
	}}, nil
}

// CompleteMappingFileUpload implements POST
// /mapping-files/upload-url/complete.
func (a *API) CompleteMappingFileUpload(ctx context.Context, r api.CompleteMappingFileUploadRequestObject) (api.CompleteMappingFileUploadResponseObject, error) {
	id := r.Body.UploadID
	w, err := a.completion(ctx, "CompleteMappingFileUpload", events.UploadMappingFile, id, r.Params.IdempotencyKey, r.Body)
	if err != nil {
		return nil, err
	}
	var file string
	var duplicate bool
	done, err := a.once(ctx, w, func() (err error) {
		file, duplicate, err = a.Completions.CompleteMappingFile(ctx, id, r.Body.Parts, w.origin)
		return err
	})
	if err == nil && done {
		file, duplicate, err = a.Sessions.Finish(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	made, tag, err := a.Views.UploadedMappingFile(ctx, file, duplicate)
	if err != nil {
		return nil, err
	}
	if duplicate {
		return api.CompleteMappingFileUpload200JSONResponse{
			Body: made, Headers: api.CompleteMappingFileUpload200ResponseHeaders{ETag: tag},
		}, nil
	}
	return api.CompleteMappingFileUpload201JSONResponse{Body: made, Headers: api.CompleteMappingFileUpload201ResponseHeaders{
		Location: "/api/v1/mapping-files/" + made.ID, ETag: tag,
	}}, nil
}

// completion returns the write that completes a session, and checks that the
// caller may use the session.
func (a *API) completion(ctx context.Context, operation, kind, id, key string, body any) (write, error) {
	w, err := change(ctx, operation, id, key, body)
	if err == nil {
		_, err = a.Views.AdmitUpload(ctx, id, kind)
	}
	return w, err
}
