package conformance_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"netsim/commands"
	"netsim/content/library"
	"netsim/events"
	"netsim/infra/objects"
	"netsim/internal/testworld"
)

// newMappingFile stores and records a mapping file for eight ranks, as an upload does.
func (w *world) newMappingFile(t *testing.T, workspace string) string {
	t.Helper()
	var text strings.Builder
	for rank := range 8 {
		fmt.Fprintf(&text, "%d %d\n", rank, rank)
	}
	made := events.MappingFileCreated{
		AccountID: w.account, WorkspaceID: workspace, Name: "mapping.txt", Hash: "crc64nvme:AAAAAAAAAAA",
		SizeBytes: int64(text.Len()), RankCount: 8, ObjectKey: "mappingfiles/" + events.NewID(events.MappingFilePrefix),
	}
	w.store(t, made.ObjectKey, text.String())
	id := events.NewID(events.MappingFilePrefix)
	testworld.In(t, w.program.Beside(t), workspace, id, commands.CreateMappingFile{Created: made})
	return id
}

// newTraceset stores and records a traceset with one file, as an upload does.
func (w *world) newTraceset(t *testing.T, workspace string) string {
	t.Helper()
	id := events.NewID(events.TracesetPrefix)
	sum := sha256.Sum256([]byte(id))
	file := events.TracesetFile{
		Name: "set.0.et", ContentType: "application/octet-stream", Hash: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(id)), Role: "primary",
	}
	hash := library.Hash([]events.TracesetFile{file})
	file.ObjectKey = library.Key(hash, file.Hash)
	w.store(t, file.ObjectKey, id)
	testworld.In(t, w.program.Beside(t), workspace, id, commands.CreateTraceset{Created: events.TracesetCreated{
		AccountID: w.account, WorkspaceID: workspace, Name: "set", Format: "chakra_et_v1", Files: []events.TracesetFile{file},
		LibraryHash: hash, TotalSize: file.Size, TTLDays: 7, RankCount: 1, Status: commands.TracesetReady,
	}})
	return id
}

func (w *world) store(t *testing.T, key, content string) {
	t.Helper()
	c := w.program.Config
	store := objects.New(objects.Config{
		Endpoint: c.S3Endpoint, Region: c.S3Region, Bucket: c.S3Bucket, AccessKey: c.S3AccessKey, SecretKey: c.S3SecretKey,
	})
	if _, err := store.Put(t.Context(), key, "text/plain", strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}

const formType = "multipart/form-data; boundary=end"

// formOf returns a form of type formType that uploads a traceset.
func formOf(name string) []byte {
	return []byte(strings.ReplaceAll(
		"--end\nContent-Disposition: form-data; name=\"name\"\n\n"+name+
			"\n--end\nContent-Disposition: form-data; name=\"file\"; filename=\"a.0.et\"\n\nbytes\n--end--\n", "\n", "\r\n"))
}

// uploaded opens an upload session with the body and puts content to every link of the
// session. It returns the session's id, and the part numbers and ETags of each file.
func (w *world) uploaded(t *testing.T, path, body, content string) (id string, files [][]map[string]any) {
	t.Helper()
	type link struct {
		PartNumber int
		URL        string
	}
	var session struct {
		UploadID string
		Parts    []link
		Files    []struct{ Parts []link }
	}
	w.client(t).Post(path, json.RawMessage(body)).Want(200).Into(&session)
	all := [][]link{}
	for _, f := range session.Files {
		all = append(all, f.Parts)
	}
	if session.Parts != nil {
		all = append(all, session.Parts)
	}
	for _, links := range all {
		parts := []map[string]any{}
		for _, l := range links {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, l.URL, strings.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			reply, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			reply.Body.Close() //nolint:errcheck // the body is not read
			parts = append(parts, map[string]any{"partNumber": l.PartNumber, "etag": reply.Header.Get("ETag")})
		}
		files = append(files, parts)
	}
	return session.UploadID, files
}
