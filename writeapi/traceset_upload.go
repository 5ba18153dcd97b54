package writeapi

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"path"
	"regexp"
	"strconv"
	"strings"

	"netsim/api"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/fault"
	"netsim/simulator/chakra"
)

// DirectUploads accepts tracesets that are uploaded in one request.
type DirectUploads interface {
	// Stage stores a file of an upload until all its files have arrived.
	Stage(ctx context.Context, upload, name, contentType string, r io.Reader) (events.TracesetFile, error)
	// Keep makes a traceset from the staged files, or returns an existing traceset
	// with the same files and name.
	Keep(ctx context.Context, upload string, to handle.Target, from handle.Origin, t events.TracesetCreated) (traceset string, fresh bool, err error)
	// Discard removes the staged files.
	Discard(ctx context.Context, upload string)
}

// maxDirect limits the total bytes of the files in a direct upload (completions
// 6.2).
const maxDirect = 100_000_000

// UploadTraceset implements POST /tracesets (completions 6.2). Each file is staged
// as it arrives, because the rest of the form is known only at its end.
func (a *API) UploadTraceset(ctx context.Context, r api.UploadTracesetRequestObject) (api.UploadTracesetResponseObject, error) {
	w, err := change(ctx, "UploadTraceset", "", "", nil)
	if err != nil {
		return nil, err
	}
	if err := oneAccount(w.caller); err != nil {
		return nil, err
	}
	workspace, err := a.destination(ctx, r.Params.WorkspaceID)
	if err != nil {
		return nil, err
	}
	if err := a.Quotas.AdmitUpload(ctx, w.caller.AccountID, 1); err != nil { // its size is known after the last file
		return nil, err
	}
	upload := events.NewID(events.UploadPrefix)
	defer a.Direct.Discard(ctx, upload)
	t := events.TracesetCreated{AccountID: w.caller.AccountID, WorkspaceID: workspace, TTLDays: defaultTTLDays}
	if err := a.readForm(ctx, upload, r.Body, &t); err != nil {
		return nil, err
	}
	w, err = create(ctx, "UploadTraceset", events.TracesetPrefix, r.Params.IdempotencyKey, t)
	if err != nil {
		return nil, err
	}
	done, err := a.repeated(ctx, w)
	if err != nil {
		return nil, err
	}
	traceset, fresh := w.stream, true
	if !done {
		if err := a.Quotas.AdmitUpload(ctx, w.caller.AccountID, sizeOf(t.Files)); err != nil {
			return nil, err
		}
		if traceset, fresh, err = a.Direct.Keep(ctx, upload, w.to(workspace), w.origin, t); err != nil {
			return nil, err
		}
	}
	made, err := a.Views.TracesetView(ctx, traceset)
	if err != nil {
		return nil, err
	}
	if !fresh {
		return api.UploadTraceset200JSONResponse(made), nil
	}
	return api.UploadTraceset201JSONResponse{Body: made, Headers: api.UploadTraceset201ResponseHeaders{
		Location: "/api/v1/tracesets/" + made.ID,
	}}, nil
}

func sizeOf(files []events.TracesetFile) (size int64) {
	for _, f := range files {
		size += f.Size
	}
	return size
}

// readForm reads the whole form, stages its files and fills in t. The form's
// fields have been checked against the contract.
func (a *API) readForm(ctx context.Context, upload string, form *multipart.Reader, t *events.TracesetCreated) error {
	left := int64(maxDirect)
	for {
		part, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // a wrapped io.EOF means that the form ends too early
			break
		}
		if err != nil {
			return err
		}
		if part.FormName() == "file" {
			err = a.readFile(ctx, upload, part, &left, t)
		} else {
			err = readField(part, t)
		}
		if err != nil {
			return err
		}
	}
	first := t.Files[0].Name
	t.Name = cmp.Or(t.Name, strings.TrimSuffix(first, path.Ext(first)), first)
	return nil
}

// readField reads a field that is not a file.
func readField(part *multipart.Part, t *events.TracesetCreated) error {
	text, err := io.ReadAll(part)
	if err != nil {
		return err
	}
	switch part.FormName() {
	case "name":
		t.Name = string(text)
	case "description":
		t.Description = string(text)
	case "tags":
		t.Tags = append(t.Tags, string(text))
	case "ttlDays":
		t.TTLDays, err = strconv.ParseInt(string(text), 10, 64)
	case "workloadMetadata":
		var m api.WorkloadMetadata
		if err = json.Unmarshal(text, &m); err == nil {
			t.Workload, err = workloadText(&m)
		}
	}
	return err
}

func (a *API) readFile(ctx context.Context, upload string, part *multipart.Part, left *int64, t *events.TracesetCreated) error {
	_, disposition, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	name := disposition["filename"] // Part.FileName would remove the directories
	if err != nil || !fileName.MatchString(name) || len(name) > 255 {
		return fault.New(fault.Validation, "file must be named with 1 to 255 letters, digits, '.', '_' and '-', without '..' and not '.', got '%.300s'", name)
	}
	for _, f := range t.Files {
		if f.Name == name {
			return fault.New(fault.Validation, "file '%s' is given twice", name)
		}
	}
	if len(t.Files) == a.MaxFiles {
		return fault.New(fault.Validation, "file must be given at most %d times", a.MaxFiles)
	}
	contentType := cmp.Or(part.Header.Get("Content-Type"), defaultContentType)
	if !mediaType.MatchString(contentType) || len(contentType) > 255 {
		return fault.New(fault.Validation, "the content type of file '%s' must be 1 to 255 ASCII characters, got '%.300s'", name, contentType)
	}
	f, err := a.Direct.Stage(ctx, upload, name, contentType, &metered{part, left})
	if err != nil {
		return err
	}
	f.Role = roleOf(name)
	t.Files = append(t.Files, f)
	return nil
}

// The patterns of a file's name and content type, as in the contract.
var (
	fileName  = regexp.MustCompile(`^\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$`)
	mediaType = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)
)

// roleOf returns the role of a file by its name: primary for a rank's trace or an
// archive of traces, otherwise supporting (completions 6.2, 6.3).
func roleOf(name string) string {
	if _, err := chakra.RankOf(name); err == nil {
		return string(api.UploadRolePrimary)
	}
	for _, archive := range []string{".tar", ".tar.gz", ".tar.zst"} {
		if strings.HasSuffix(name, archive) {
			return string(api.UploadRolePrimary)
		}
	}
	return string(api.UploadRoleSupporting)
}

// metered is a reader that fails after too many bytes.
type metered struct {
	r    io.Reader
	left *int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if *m.left -= int64(n); *m.left < 0 {
		return 0, fault.New(fault.PayloadTooLarge, "the files have more than %d bytes together; upload them in parts", maxDirect)
	}
	return n, err
}
