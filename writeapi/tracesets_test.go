package writeapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/cmd/settings"
	"netsim/commands"
	"netsim/content/library"
	"netsim/events"
	"netsim/internal/servicetest"
	"netsim/internal/testworld"
)

// storeTraceset stores files, records a ready traceset of them without an upload,
// and returns its id. change modifies the event before it is recorded.
func storeTraceset(t *testing.T, p *servicetest.Program, account, workspace string, files []string, change func(*events.TracesetCreated)) string {
	t.Helper()
	made := events.TracesetCreated{
		AccountID: account, WorkspaceID: workspace, Name: "stored", Format: "chakra_et_v1", TTLDays: 7, RankCount: int64(len(files)), Status: commands.TracesetReady,
	}
	for _, name := range files {
		sum := sha256.Sum256([]byte(name + account))
		made.Files = append(made.Files, events.TracesetFile{
			Name: name, ContentType: "application/octet-stream", Hash: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(name + account)), Role: "primary",
		})
		made.TotalSize += int64(len(name + account))
	}
	made.LibraryHash = library.Hash(made.Files)
	for i := range made.Files {
		f := &made.Files[i]
		f.ObjectKey = library.Key(made.LibraryHash, f.Hash)
		if _, err := storeOf(p).Put(t.Context(), f.ObjectKey, f.ContentType, strings.NewReader(f.Name+account)); err != nil {
			t.Fatal(err)
		}
	}
	if change != nil {
		change(&made)
	}
	id := events.NewID(events.TracesetPrefix)
	testworld.In(t, p.Beside(t), workspace, id, commands.CreateTraceset{Created: made})
	return id
}

func TestDownloadATraceset(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	id := storeTraceset(t, p, account, workspace, []string{"a.10.et", "a.9.et", "b.et"}, func(c *events.TracesetCreated) {
		c.Files[2].Role = "supporting"
	})
	for query, name := range map[string]string{"": "a.9.et", "?file=a.10.et": "a.10.et", "?file=b.et": "b.et"} {
		got := user.Get(tracesets + "/" + id + "/download" + query).Want(200).Object()
		expires, err := time.Parse(time.RFC3339, got["expiresAt"].(string))
		if left := time.Until(expires); got["file"] != name || err != nil || left < 14*time.Minute || left > 15*time.Minute {
			t.Errorf("got the link %[2]v, want %[1]s for 15 minutes", name, got)
		}
		if content := fetch(t, got["url"].(string)); content != name+account {
			t.Errorf("%s: got the content %q", name, content)
		}
	}
	path := tracesets + "/" + id + "/download"
	user.Get(path+"?file=c.et").Refused(404, "NOT_FOUND")
	user.Get(path+"?file=").Refused(400, "VALIDATION_ERROR")
	user.Get(path+"?name=a").Refused(400, "VALIDATION_ERROR")
	user.Get(tracesets+"/"+events.NewID(events.TracesetPrefix)+"/download").Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Get(path).Refused(403, "FORBIDDEN")
	openFiles(t, user, workspace, [2]string{"a.0.et", "x"})
	user.Get(tracesets+"/"+openTracesetUploadOf(user, workspace)+"/download").Refused(404, "NOT_FOUND")
}

// openTracesetUploadOf returns the id of the traceset that is being uploaded to the
// workspace.
func openTracesetUploadOf(c *servicetest.Client, workspace string) string {
	return c.Get(tracesets + "?status=uploading&workspaceId=" + workspace).Want(200).Object()["items"].([]any)[0].(object)["id"].(string)
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestResolveATraceset(t *testing.T) {
	t.Parallel()
	// Without a worker no metadata is extracted, so the test records it.
	p := servicetest.Start(t, func(c *settings.Config) { c.Roles = []string{settings.RoleAPI, settings.RoleProjector} })
	account, workspace := servicetest.NewAccount(), events.DefaultWorkspace
	user := p.User(t, account)
	id := storeTraceset(t, p, account, workspace, []string{"a.0.et"}, nil)
	view := user.Get(tracesets + "/" + id).Want(200).Object()
	lib := events.DerivedID(events.LibraryPrefix, view["libraryHash"].(string))
	sum := strings.TrimPrefix(view["files"].([]any)[0].(object)["hash"].(string), "sha256:")
	key := "libraries/" + lib + "/" + sum[:2] + "/" + sum[2:]
	bucket := p.Config.S3Bucket
	want := object{
		"traceset_id": id, "name": "stored", "total_size": view["totalSize"], "layout": "cas",
		"dra": object{"bucket": bucket, "mount_path": p.Config.MountRoot + "/" + lib + "/", "store_path": "s3://" + bucket + "/libraries/" + lib + "/"},
		"files": []any{object{
			"name": "a.0.et", "role": "primary", "size": view["totalSize"], "mount_path": p.Config.MountRoot + "/" + strings.TrimPrefix(key, "libraries/"),
			"store_key": key, "store_path": "s3://" + bucket + "/" + key,
		}},
	}
	if diff := cmp.Diff(want, user.Get(tracesets+"/"+id+"/resolve").Want(200).Object()); diff != "" {
		t.Errorf("cas (-want +got):\n%s", diff)
	}

	w := p.Beside(t)
	prefix := func(files int64) string {
		id := storeTraceset(t, p, account, workspace, []string{"all.tar"}, func(c *events.TracesetCreated) { c.Status = "processing" })
		testworld.In(t, w, workspace, id, commands.RecordExtraction{ID: id, Extracted: events.TracesetMetadataExtracted{
			Format: "chakra_et_v1", Layout: "prefix", RankCount: 4, FileCount: files,
		}})
		return id
	}
	got := user.Get(tracesets + "/" + prefix(4) + "/resolve").Want(200).Object()
	root, _ := got["root_path"].(string)
	if got["layout"] != "prefix" || got["file_count"] != 4.0 || got["files"] != nil || !strings.HasPrefix(root, got["dra"].(object)["mount_path"].(string)) {
		t.Errorf("got %v, want 4 files below a prefix", got)
	}

	// The error for a traceset without files or without a library has a message and
	// no code.
	openFiles(t, user, workspace, [2]string{"a.0.et", "x"})
	for _, without := range []string{openTracesetUploadOf(user, workspace), prefix(0)} {
		reply := user.Get(tracesets + "/" + without + "/resolve").Want(400)
		failure := reply.Object()["error"].(object)
		if _, coded := failure["code"]; coded || !strings.Contains(failure["message"].(string), without) {
			t.Errorf("got %s, want a message with the id and no code", reply.Body)
		}
	}
	user.Get(tracesets+"/"+events.NewID(events.TracesetPrefix)+"/resolve").Refused(404, "NOT_FOUND")
	user.Get(tracesets+"/x/resolve").Refused(400, "VALIDATION_ERROR")
	elsewhere := storeTraceset(t, p, account, newWorkspace(t, p.Service(t, account), "mine"), []string{"a.0.et"}, nil)
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Get(tracesets+"/"+elsewhere+"/resolve").Refused(403, "FORBIDDEN")
}

func TestPromoteATraceset(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	stranger := p.User(t, servicetest.NewAccount())
	id := storeTraceset(t, p, account, workspace, []string{"a.0.et"}, nil)
	path := tracesets + "/" + id
	promote := func(body any) object { return user.Post(path+"/promote", body).Want(200).Object() }
	applied := func(scope string, yes bool) object {
		return object{"id": id, "scope": scope, "promotionApplied": yes}
	}
	known := object{"workloadFamily": "ring"}

	user.Post(path+"/promote", nil).Refused(412, "PRECONDITION_FAILED")
	user.Post(path+"/promote", object{"workloadMetadata": object{}}).Refused(412, "PRECONDITION_FAILED")
	user.Post(path+"/promote", object{"target": "public", "workloadMetadata": known}).Refused(412, "PRECONDITION_FAILED")
	user.Post(path+"/promote", object{"target": "workspace"}).Refused(400, "VALIDATION_ERROR")
	user.Post(path+"/promote", object{"workloadMetadata": object{"extensions": object{"x": strings.Repeat("y", 64<<10)}}}).Refused(400, "VALIDATION_ERROR")
	user.Post(path+"/promote", bytes.Repeat([]byte(" "), 8<<20+1)).Refused(413, "PAYLOAD_TOO_LARGE")
	user.Post(path+"/promote", []byte("x"), servicetest.Header{Name: "Content-Type", Value: "text/plain"}).Refused(415, "UNSUPPORTED_MEDIA_TYPE")
	stranger.Post(path+"/promote", nil).Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Post(path+"/promote", nil).Refused(403, "FORBIDDEN")

	body := object{"workloadMetadata": known, "description": "for all", "tags": []string{"a"}}
	first := user.Post(path+"/promote", body, key("p")).Want(200).Object()
	if diff := cmp.Diff(applied("tenant", true), first); diff != "" {
		t.Errorf("promoted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(first, user.Post(path+"/promote", body, key("p")).Want(200).Object()); diff != "" {
		t.Errorf("repetition (-first +second):\n%s", diff)
	}
	user.Post(path+"/promote", object{}, key("p")).Refused(422, "UNPROCESSABLE_ENTITY")
	if diff := cmp.Diff(applied("tenant", false), promote(nil)); diff != "" {
		t.Errorf("promoted again (-want +got):\n%s", diff)
	}
	got := user.Get(path).Want(200).Object()
	if got["scope"] != "tenant" || got["description"] != "for all" || !cmp.Equal(got["tags"], any([]any{"a"})) || got["expiresAt"] != nil ||
		got["workloadMetadata"].(object)["workloadFamily"] != "ring" {
		t.Errorf("got %v after the promotion", got)
	}
	// All members of the account see the traceset. Only members of its workspace can
	// change it.
	elsewhere := p.User(t, account, events.NewID(events.WorkspacePrefix))
	elsewhere.Get(path).Want(200)
	elsewhere.Delete(path).Refused(403, "FORBIDDEN")
	stranger.Get(path).Refused(404, "NOT_FOUND")
	if diff := cmp.Diff(applied("public", true), promote(object{"target": "public"})); diff != "" {
		t.Errorf("to everyone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(applied("public", false), promote(object{"target": "tenant"})); diff != "" {
		t.Errorf("back (-want +got):\n%s", diff)
	}
	stranger.Get(path).Want(200)
	stranger.Get(path + "/download").Want(200)
	stranger.Delete(path).Refused(403, "FORBIDDEN")
	stranger.Post(path+"/promote", nil).Refused(403, "FORBIDDEN")

	processing := storeTraceset(t, p, account, workspace, []string{"b.0.et"}, func(c *events.TracesetCreated) { c.Status, c.Workload = "metadata_failed", "{}" })
	user.Post(tracesets+"/"+processing+"/promote", nil).Refused(409, "CONFLICT")
	openFiles(t, user, workspace, [2]string{"a.0.et", "x"})
	user.Post(tracesets+"/"+openTracesetUploadOf(user, workspace)+"/promote", nil).Refused(409, "CONFLICT")
}

func TestDeleteATraceset(t *testing.T) {
	t.Parallel()
	p, account, workspace, user := newUploader(t)
	id := storeTraceset(t, p, account, workspace, []string{"a.0.et"}, nil)
	path := tracesets + "/" + id
	p.User(t, servicetest.NewAccount()).Delete(path).Refused(404, "NOT_FOUND")
	p.User(t, account, events.NewID(events.WorkspacePrefix)).Delete(path).Refused(403, "FORBIDDEN")
	user.Delete(path).Want(204)
	user.Delete(path).Refused(404, "NOT_FOUND")
	for _, gone := range []string{"", "/download", "/resolve"} {
		user.Get(path+gone).Refused(404, "NOT_FOUND")
	}
	user.Post(path+"/promote", nil).Refused(404, "NOT_FOUND")
	user.Delete(tracesets+"/x").Refused(400, "VALIDATION_ERROR")

	// Deleting a traceset that is being uploaded aborts the upload and removes the
	// staged files.
	s := openFiles(t, user, workspace, [2]string{"a.0.et", "abc"})
	completion := s.completion(t, "abc")
	under := openTracesetUploadOf(user, workspace)
	user.Delete(tracesets+"/"+under, key("u")).Want(204)
	user.Delete(tracesets+"/"+under, key("u")).Want(204)
	user.Delete(tracesets+"/"+under).Refused(404, "NOT_FOUND")
	user.Get(tracesets+"/"+under).Refused(404, "NOT_FOUND")
	user.Post(tracesets+"/"+under+"/promote", nil).Refused(404, "NOT_FOUND")
	user.Post(completeTraceset, completion).Refused(400, "VALIDATION_ERROR")
	awaitUnstaged(t, p, s.UploadID)

	// A traceset whose upload failed can be deleted, too.
	failed := openFiles(t, user, workspace, [2]string{"a.0.et", "abc"})
	testworld.In(t, p.Beside(t), workspace, failed.UploadID, commands.AbortUpload{ID: failed.UploadID, Reason: "storage"})
	items := user.Get(tracesets + "?workspaceId=" + workspace + "&status=upload_failed").Want(200).Object()["items"].([]any)
	nothing := tracesets + "/" + items[0].(object)["id"].(string)
	if view := user.Get(nothing).Want(200).Object(); view["status"] != "upload_failed" || view["statusMessage"] == nil {
		t.Errorf("got %v, want upload_failed with a message", view)
	}
	user.Delete(nothing).Want(204)
	user.Get(nothing).Refused(404, "NOT_FOUND")
	left := user.Get(tracesets + "?workspaceId=" + workspace).Want(200).Object()["items"].([]any)
	if slices.ContainsFunc(left, func(i any) bool { return i.(object)["status"] == "upload_failed" }) {
		t.Errorf("got %v, want no failed upload", left)
	}
}

// After an upload is completed and before its traceset is created, the traceset
// cannot be deleted.
func TestDeleteATracesetThatIsBeingMade(t *testing.T) {
	t.Parallel()
	// Without a worker, the traceset is never created.
	p := servicetest.Start(t, func(c *settings.Config) { c.Roles = []string{settings.RoleAPI, settings.RoleProjector} })
	user := p.User(t, servicetest.NewAccount())
	s := openFiles(t, user, events.DefaultWorkspace, [2]string{"a.0.et", "x"})
	id := openTracesetUploadOf(user, events.DefaultWorkspace)
	testworld.In(t, p.Beside(t), events.DefaultWorkspace, s.UploadID, commands.CompleteUpload{
		ID: s.UploadID, Completed: events.UploadCompleted{ResultID: id},
	})
	user.Delete(tracesets+"/"+id).Refused(409, "CONFLICT")
}

// Repeating the request that created a deleted traceset reports that the traceset
// is missing.
func TestRepeatTheCreationOfADeletedTraceset(t *testing.T) {
	t.Parallel()
	_, _, workspace, user := newUploader(t)
	completion := openFiles(t, user, workspace, [2]string{"a.0.et", "abc"}).completion(t, "abc")
	user.Delete(tracesets + "/" + user.Post(completeTraceset, completion).Want(201).Object()["id"].(string)).Want(204)
	user.Post(completeTraceset, completion).Refused(404, "NOT_FOUND")

	send := func() servicetest.Reply {
		return user.Post(tracesets+"?workspaceId="+workspace, []byte("--x\r\nContent-Disposition: form-data; name=file; filename=b.0.et\r\n\r\nabc\r\n--x--\r\n"),
			servicetest.Header{Name: "Content-Type", Value: "multipart/form-data; boundary=x"}, key("k"))
	}
	user.Delete(tracesets + "/" + send().Want(201).Object()["id"].(string)).Want(204)
	send().Refused(404, "NOT_FOUND")
}
