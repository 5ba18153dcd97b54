package writeapi_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/infra/objects"
	"netsim/internal/servicetest"
	"netsim/internal/testwait"
	"netsim/simulator/mapping"
)

const (
	tracesets           = "/api/v1/tracesets"
	openTraceset        = tracesets + "/upload-url"
	completeTraceset    = openTraceset + "/complete"
	openMappingFile     = mappingFiles + "/upload-url"
	completeMappingFile = openMappingFile + "/complete"
)

// storeOf returns the object store of a program.
func storeOf(p *servicetest.Program) *objects.Store {
	return objects.New(objects.Config{
		Endpoint: p.Config.S3Endpoint, Region: p.Config.S3Region, Bucket: p.Config.S3Bucket,
		AccessKey: p.Config.S3AccessKey, SecretKey: p.Config.S3SecretKey,
	})
}

// session is the response that opens an upload session. The session of a mapping
// file has Parts instead of Files.
type session struct {
	UploadID          string
	ChecksumAlgorithm string
	ExpiresAt         time.Time
	Files             []sessionFile
	Parts             []partLink
}

type sessionFile struct {
	Name  string
	Parts []partLink
}

type partLink struct {
	PartNumber int
	URL        string
}

// openFiles opens a session for files with these names and contents.
func openFiles(t *testing.T, c *servicetest.Client, workspace string, files ...[2]string) session {
	t.Helper()
	body := object{"name": "set", "workspaceId": workspace}
	var list []object
	for _, f := range files {
		list = append(list, object{"name": f[0], "size": len(f[1])})
	}
	body["files"] = list
	var s session
	c.Post(openTraceset, body).Want(200).Into(&s)
	return s
}

func openMapping(t *testing.T, c *servicetest.Client, workspace, name string, size int) session {
	t.Helper()
	var s session
	c.Post(openMappingFile, object{"workspaceId": workspace, "name": name, "sizeBytes": size}).Want(200).Into(&s)
	return s
}

// putParts uploads content in parts to the links, and returns the parts for the
// completion.
func putParts(t *testing.T, links []partLink, content string) []object {
	t.Helper()
	parts := []object{}
	for i := 0; i == 0 || len(content) > 0; i++ {
		n := min(len(content), 16<<20)
		parts = append(parts, object{"partNumber": links[i].PartNumber, "etag": putPart(t, links[i].URL, content[:n])})
		content = content[n:]
	}
	return parts
}

func putPart(t *testing.T, link, content string) (etag string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, link, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // it is read whole
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("put a part: %s %s, %v", reply.Status, text, err)
	}
	return reply.Header.Get("ETag")
}

// completion uploads the files of a traceset, and returns the body that completes
// the session.
func (s session) completion(t *testing.T, contents ...string) object {
	t.Helper()
	files := make([]object, len(s.Files))
	for i, f := range s.Files {
		files[i] = object{"name": f.Name, "parts": putParts(t, f.Parts, contents[i])}
	}
	return object{"uploadId": s.UploadID, "files": files}
}

// mapping uploads a mapping file, and returns the body that completes the session.
func (s session) mapping(t *testing.T, content string) object {
	t.Helper()
	return object{"uploadId": s.UploadID, "parts": putParts(t, s.Parts, content)}
}

// uploadMapping uploads a mapping file in a new session.
func uploadMapping(t *testing.T, c *servicetest.Client, workspace, name, content string) servicetest.Reply {
	t.Helper()
	return c.Post(completeMappingFile, openMapping(t, c, workspace, name, len(content)).mapping(t, content))
}

// staged lists the staged objects of an upload, including those whose multipart
// upload has begun.
func staged(t *testing.T, p *servicetest.Program, upload string) (keys []string) {
	t.Helper()
	prefix := "staging/" + upload + "/"
	for o, err := range storeOf(p).List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	for b, err := range storeOf(p).ListBegun(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, b.Key+" begun")
	}
	return keys
}

// awaitUnstaged waits until an upload has no staged objects.
func awaitUnstaged(t *testing.T, p *servicetest.Program, upload string) {
	t.Helper()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	deadline := time.After(testwait.Limit(t))
	for len(staged(t, p, upload)) > 0 {
		select {
		case <-every.C:
		case <-deadline:
			t.Fatalf("the objects %v are still staged", staged(t, p, upload))
		}
	}
}

// download reads an object of the store.
func download(t *testing.T, p *servicetest.Program, key string) string {
	t.Helper()
	body, _, err := storeOf(p).Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// newUploader returns the shared program with a new account, a new workspace and a
// user of the account.
func newUploader(t *testing.T) (p *servicetest.Program, account, workspace string, user *servicetest.Client) {
	t.Helper()
	p = servicetest.Shared(t)
	account = servicetest.NewAccount()
	workspace = newWorkspace(t, p.Service(t, account), "uploads")
	return p, account, workspace, p.User(t, account)
}

func TestUploadATraceset(t *testing.T) {
	t.Parallel()
	p, _, workspace, user := newUploader(t)
	large := strings.Repeat("0123456789abcdef", 1<<20) + "the end" // two parts
	var s session
	user.Post(openTraceset, object{
		"name": "ring of two", "workspaceId": workspace, "description": "of a test", "tags": []string{"a", "b"}, "ttlDays": 3,
		"workloadMetadata": object{"workloadFamily": "ring", "shape": object{"rankCount": 2}, "extensions": object{"x": 1}},
		"files": []object{
			{"name": "ring.0.et", "size": len(large)},
			{"name": "comm_groups.json", "size": 2, "role": "supporting", "contentType": "application/json"},
		},
	}).Want(200).Into(&s)
	if s.ChecksumAlgorithm != "SHA256" || len(s.Files) != 2 || len(s.Files[0].Parts) != 2 || len(s.Files[1].Parts) != 1 ||
		s.Files[0].Parts[1].PartNumber != 2 || time.Until(s.ExpiresAt) < 23*time.Hour {
		t.Fatalf("got the session %+v", s)
	}
	putPart(t, s.Files[1].Parts[0].URL, "xx") // a part may be put again
	completion := s.completion(t, large, "{}")
	made := user.Post(completeTraceset, completion).Want(201)
	got := made.Object()
	id, hash := got["id"].(string), got["libraryHash"].(string)
	if made.Header.Get("Location") != tracesets+"/"+id {
		t.Errorf("got the Location %s, want that of the traceset", made.Header.Get("Location"))
	}
	// Extraction may already have failed, because the files are not traces.
	status := got["status"]
	metadataStatus := map[any]string{"processing": "pending", "metadata_failed": "failed"}[status]
	delete(got, "statusMessage")
	file := func(name, contentType, role, sha string, size int) object {
		return object{"name": name, "contentType": contentType, "hash": "sha256:" + sha, "size": float64(size), "role": role, "metadataStatus": metadataStatus}
	}
	want := object{
		"id": id, "name": "ring of two", "workspaceId": workspace, "description": "of a test", "tags": []any{"a", "b"},
		"status": status, "totalSize": float64(len(large) + 2), "createdAt": got["createdAt"], "expiresAt": got["expiresAt"],
		"scope": "workspace", "libraryHash": hash,
		"workloadMetadata": object{"workloadFamily": "ring", "shape": object{"rankCount": 2.0}, "extensions": object{"x": 1.0}, "schemaVersion": 1.0},
		"files": []any{
			file("ring.0.et", "application/octet-stream", "primary", hexSHA(large), len(large)),
			file("comm_groups.json", "application/json", "supporting", hexSHA("{}"), 2),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("traceset (-want +got):\n%s", diff)
	}
	created, _ := time.Parse(time.RFC3339, got["createdAt"].(string))
	if expires, _ := time.Parse(time.RFC3339, got["expiresAt"].(string)); expires.Sub(created) != 72*time.Hour {
		t.Errorf("got the expiry %s of a traceset created at %s, want 3 days later", expires, created)
	}
	library := events.DerivedID(events.LibraryPrefix, hash)
	for _, content := range []string{large, "{}"} {
		sum := hexSHA(content)
		if download(t, p, "libraries/"+library+"/"+sum[:2]+"/"+sum[2:]) != content {
			t.Error("the stored object differs from the uploaded file")
		}
	}
	again := user.Post(completeTraceset, completion).Want(200).Object()
	if again["id"] != id {
		t.Errorf("repetition: got %v, want the first traceset", again)
	}
	awaitUnstaged(t, p, s.UploadID)
	user.Post(completeTraceset, completion).Want(200)
}

func TestUploadAMappingFile(t *testing.T) {
	t.Parallel()
	p, _, workspace, user := newUploader(t)
	content := "# a comment\n0, 4, 7, 0\n1, 5, 7, 1\n@\n7, 3600, 250, 5.5\n"
	s := openMapping(t, user, workspace, "rows.txt", 64_000_000)
	if s.ChecksumAlgorithm != "crc64nvme" || len(s.Parts) != 4 || time.Until(s.ExpiresAt) < 23*time.Hour {
		t.Fatalf("got the session %+v", s)
	}
	body := s.mapping(t, content)
	made := user.Post(completeMappingFile, body).Want(201)
	got := made.Object()
	id := got["id"].(string)
	want := object{
		"id": id, "name": "rows.txt", "workspaceId": workspace, "sizeBytes": float64(len(content)), "rankCount": 2.0,
		"scaleUpGroupCount": 1.0, "hasScaleUp": true, "createdAt": got["createdAt"], "hash": checksum(content),
		"etag": `"0"`, "duplicateOfExisting": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mapping file (-want +got):\n%s", diff)
	}
	if made.Header.Get("Location") != mappingFiles+"/"+id || made.Header.Get("ETag") != `"0"` {
		t.Errorf("got the headers %v, want the Location and the entity tag of the new resource", made.Header)
	}
	if diff := cmp.Diff(got, user.Get(mappingFiles+"/"+id).Want(200).Object()); diff != "" {
		t.Errorf("the response and GET differ (-response +GET):\n%s", diff)
	}
	sum := hexSHA(content)
	if download(t, p, "mappingfiles/"+sum[:2]+"/"+sum[2:]) != content {
		t.Error("the stored object differs from the uploaded file")
	}
	if message := user.Post(completeMappingFile, body).Refused(409, "CONFLICT"); !strings.Contains(message, "completed") {
		t.Errorf("got the message %q, want that the session is completed", message)
	}
	awaitUnstaged(t, p, s.UploadID)

	// The same bytes under another name are a duplicate of the file. In another
	// workspace, or after the file is deleted, they are a new file.
	twin := uploadMapping(t, user, workspace, "other.txt", content).Want(200)
	if o := twin.Object(); o["id"] != id || o["name"] != "rows.txt" || o["duplicateOfExisting"] != true || twin.Header.Get("ETag") != `"0"` {
		t.Errorf("got %s, want the first mapping file as a duplicate", twin.Body)
	}
	elsewhere := uploadMapping(t, user, events.DefaultWorkspace, "rows.txt", content).Want(201).Object()
	user.Delete(mappingFiles + "/" + id).Want(204)
	reuploaded := uploadMapping(t, user, workspace, "rows.txt", content).Want(201).Object()
	if reuploaded["id"] == id || reuploaded["id"] == elsewhere["id"] {
		t.Errorf("got %v after the deletion, want a new mapping file, and not %v", reuploaded, elsewhere)
	}
	// The default name is the one that the simulator expects.
	var unnamed session
	user.Post(openMappingFile, object{"workspaceId": workspace, "sizeBytes": 4}).Want(200).Into(&unnamed)
	if name := user.Post(completeMappingFile, unnamed.mapping(t, "0,9\n")).Want(201).Object()["name"]; name != "chakra-mapping.txt" {
		t.Errorf("got the name %v, want chakra-mapping.txt", name)
	}
}

func TestUploadsAreKnownByTheirKey(t *testing.T) {
	t.Parallel()
	_, _, workspace, user := newUploader(t)
	body := object{"name": "set", "workspaceId": workspace, "files": []object{{"name": "a.0.et", "size": 3}}}
	var first, second session
	user.Post(openTraceset, body, key("k")).Want(200).Into(&first)
	user.Post(openTraceset, body, key("k")).Want(200).Into(&second)
	if first.UploadID != second.UploadID {
		t.Errorf("one key opened the sessions %s and %s", first.UploadID, second.UploadID)
	}
	user.Post(openTraceset, object{"name": "set", "files": body["files"]}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	completion := second.completion(t, "abc")
	ids := map[any]bool{}
	for range 2 {
		ids[user.Post(completeTraceset, completion, key("c")).Want(201).Object()["id"]] = true
	}
	if len(ids) != 1 {
		t.Errorf("one key made the tracesets %v", ids)
	}
	user.Post(completeTraceset, object{"uploadId": first.UploadID, "files": []object{{"name": "x", "parts": []object{{"partNumber": 1, "etag": "x"}}}}}, key("c")).
		Refused(422, "UNPROCESSABLE_ENTITY")

	mapped := openMapping(t, user, workspace, "m.txt", 100).mapping(t, "0,0\n")
	for range 2 {
		if user.Post(completeMappingFile, mapped, key("c")).Want(201).Object()["duplicateOfExisting"] != false {
			t.Error("the repetition is reported as a duplicate")
		}
	}
	user.Post(openMappingFile, object{"workspaceId": workspace, "sizeBytes": 1}, key("k")).Want(200)
	user.Post(openMappingFile, object{"workspaceId": workspace, "sizeBytes": 2}, key("k")).Refused(422, "UNPROCESSABLE_ENTITY")
	user.Post(completeMappingFile, object{"uploadId": mapped["uploadId"], "parts": []object{{"partNumber": 1, "etag": "x"}}}, key("c")).
		Refused(422, "UNPROCESSABLE_ENTITY")
}

func hexSHA(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func checksum(content string) string {
	crc := mapping.NewChecksum()
	_, _ = io.WriteString(crc, content)
	return mapping.FormatChecksum(crc.Sum64())
}
