package writeapi_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/commands"
	"netsim/commands/handle"
	"netsim/events"
	"netsim/infra/objects"
	"netsim/internal/servicetest"
	"netsim/simulator/mapping"
)

const mappingFiles = "/api/v1/mapping-files"

// identityMapping returns a mapping file that places rank n on server n.
func identityMapping(ranks int) string {
	var text strings.Builder
	text.WriteString("# straight\n")
	for rank := range ranks {
		fmt.Fprintf(&text, "%d, %d\n", rank, rank)
	}
	return text.String()
}

// recorder creates mapping files without an upload.
type recorder struct {
	t        *testing.T
	commands *handle.Handler
	store    *objects.Store
}

func newRecorder(t *testing.T, p *servicetest.Program) recorder {
	t.Helper()
	return recorder{t, p.Beside(t).Commands, objects.New(objects.Config{
		Endpoint: p.Config.S3Endpoint, Region: p.Config.S3Region, Bucket: p.Config.S3Bucket,
		AccessKey: p.Config.S3AccessKey, SecretKey: p.Config.S3SecretKey,
	})}
}

// record stores a mapping file, records its creation, and returns its id.
func (s recorder) record(account, workspace, name, content string) string {
	s.t.Helper()
	file, err := mapping.Parse(strings.NewReader(content))
	if err != nil {
		s.t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(content))
	hash := hex.EncodeToString(sum[:])
	crc := mapping.NewChecksum()
	_, _ = io.WriteString(crc, content)
	made := events.MappingFileCreated{
		AccountID: account, WorkspaceID: workspace, Name: name, Description: "of " + name,
		Hash: mapping.FormatChecksum(crc.Sum64()), ContentHash: "sha256:" + hash, SizeBytes: int64(len(content)),
		RankCount: int64(file.RankCount()), ScaleUpGroupCount: int64(file.ScaleUpGroupCount()),
		ObjectKey: "mappingfiles/" + hash[:2] + "/" + hash[2:],
	}
	if _, err := s.store.Put(s.t.Context(), made.ObjectKey, "text/plain", strings.NewReader(content)); err != nil {
		s.t.Fatal(err)
	}
	id := events.NewID(events.MappingFilePrefix)
	to := handle.Target{Stream: id, PartitionKey: workspace, Fresh: true}
	if _, err := handle.Command(s.t.Context(), s.commands, to, handle.Origin{Actor: "tester"},
		commands.Command[commands.MappingFile](commands.CreateMappingFile{Created: made})); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// A list has the live mapping files of one workspace, newest first (document 2,
// completions 1.4, 6.6).
func TestListMappingFiles(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user, files := p.User(t, account), newRecorder(t, p)
	own := newWorkspace(t, p.Service(t, account), "own")
	list := func(c *servicetest.Client, query string) servicetest.Reply { return c.Get(mappingFiles + "?" + query) }

	var newest []string
	for i := range 5 {
		newest = append([]string{files.record(account, own, fmt.Sprintf("m%d.txt", i), identityMapping(i+1))}, newest...)
	}
	user.Delete(mappingFiles + "/" + newest[1]).Want(204)
	newest = append(newest[:1], newest[2:]...)
	var got []string
	next := ""
	for {
		page := list(user, "workspaceId="+own+"&limit=3"+next).Want(200).Object()
		for _, item := range page["items"].([]any) {
			got = append(got, item.(object)["id"].(string))
		}
		cursor, more := page["pagination"].(object)["nextCursor"].(string)
		if !more {
			break
		}
		next = "&next=" + cursor
		list(user, "workspaceId="+events.DefaultWorkspace+"&limit=3"+next).Refused(400, "VALIDATION_ERROR") // of another list
	}
	if diff := cmp.Diff(newest, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	item := list(user, "workspaceId="+own+"&limit=4294967295").Want(200).Object()["items"].([]any)[0].(object)
	delete(item, "createdAt")
	same(t, "item", any(object{
		"id": newest[0], "name": "m4.txt", "workspaceId": own, "sizeBytes": 36.0,
		"rankCount": 5.0, "scaleUpGroupCount": 0.0, "hasScaleUp": false,
	}), any(item))

	for _, query := range []string{
		"", "workspaceId=", "workspaceId=%20", "workspaceId=x", "workspaceId=" + newest[0],
		"workspaceId=" + own + "&limit=0", "workspaceId=" + own + "&limit=-1", "workspaceId=" + own + "&limit=4294967296",
		"workspaceId=" + own + "&limit=many", "workspaceId=" + own + "&limit=1.5", "workspaceId=" + own + "&next=x",
	} {
		list(user, query).Refused(400, "VALIDATION_ERROR")
	}
	nothing := []any{}
	same(t, "an unknown workspace", any(nothing), list(user, "workspaceId="+events.NewID(events.WorkspacePrefix)).Want(200).Object()["items"])
	same(t, "another account", any(nothing), list(p.User(t, servicetest.NewAccount()), "workspaceId="+own).Want(200).Object()["items"])
	list(p.User(t, account, events.NewID(events.WorkspacePrefix)), "workspaceId="+own).Refused(403, "FORBIDDEN")
	list(p.Bearer(t, ""), "workspaceId="+own).Refused(401, "UNAUTHORIZED")
	p.Service(t, account).Delete(workspaces + "/" + own).Want(202)
	same(t, "a deleted workspace", any(nothing), list(user, "workspaceId="+own).Want(200).Object()["items"])
	user.Get(mappingFiles+"/"+newest[0]).Refused(404, "NOT_FOUND")
}

func TestReadAndDeleteAMappingFile(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	user := p.User(t, account)
	own := newWorkspace(t, p.Service(t, account), "own")
	const content = "0 0 7 0 # first\n1 1 7 1\n@\n7 3600 250 5.5" // no line end
	id := newRecorder(t, p).record(account, own, "two.txt", content)
	path := mappingFiles + "/" + id

	reply := user.Get(path).Want(200)
	m := reply.Object()
	if tag := reply.Header.Get("ETag"); tag != `"0"` || m["etag"] != tag {
		t.Errorf("got the ETag header %s and the member %v, want \"0\"", tag, m["etag"])
	}
	if hash, _ := m["hash"].(string); !strings.HasPrefix(hash, "crc64nvme:") {
		t.Errorf("got the hash %v, want one of crc64nvme", m["hash"])
	}
	delete(m, "createdAt")
	delete(m, "hash")
	same(t, "file", any(object{
		"id": id, "name": "two.txt", "description": "of two.txt", "workspaceId": own, "sizeBytes": float64(len(content)),
		"rankCount": 2.0, "scaleUpGroupCount": 1.0, "hasScaleUp": true, "etag": `"0"`, "duplicateOfExisting": false,
	}), any(m))
	user.Get(path, servicetest.Header{Name: "If-None-Match", Value: `"0"`}).Want(304)

	var link struct{ URL string }
	user.Get(path + "/download").Want(200).Into(&link)
	served, err := http.Get(link.URL) //nolint:gosec // the test's own store
	if err != nil {
		t.Fatal(err)
	}
	defer served.Body.Close()
	if bytes, err := io.ReadAll(served.Body); err != nil || string(bytes) != content {
		t.Errorf("downloaded %q, %v, want the content", bytes, err)
	}

	unknown := mappingFiles + "/" + events.NewID(events.MappingFilePrefix)
	stranger, outsider := p.User(t, servicetest.NewAccount()), p.User(t, account, events.NewID(events.WorkspacePrefix))
	for _, send := range []func(c *servicetest.Client, path string) servicetest.Reply{
		func(c *servicetest.Client, path string) servicetest.Reply { return c.Get(path) },
		func(c *servicetest.Client, path string) servicetest.Reply { return c.Get(path + "/download") },
		func(c *servicetest.Client, path string) servicetest.Reply { return c.Delete(path) },
	} {
		send(user, unknown).Refused(404, "NOT_FOUND")
		send(user, mappingFiles+"/mapfile_x").Refused(400, "VALIDATION_ERROR")
		send(stranger, path).Refused(404, "NOT_FOUND")
		send(outsider, path).Refused(403, "FORBIDDEN")
		send(p.Bearer(t, ""), path).Refused(401, "UNAUTHORIZED")
	}
	user.Delete(path, key("k")).Want(204)
	user.Delete(path, key("k")).Want(204)
	user.Delete(path).Refused(404, "NOT_FOUND")
	user.Get(path).Refused(410, "MAPPING_FILE_DELETED")
	user.Get(path, servicetest.Header{Name: "If-None-Match", Value: `"0"`}).Refused(410, "MAPPING_FILE_DELETED")
	user.Get(path+"/download").Refused(410, "MAPPING_FILE_DELETED")
	stranger.Get(path).Refused(404, "NOT_FOUND")
}
