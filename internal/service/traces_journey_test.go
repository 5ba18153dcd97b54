package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netsim/internal/servicetest"
)

// TestTraces follows a user with the traces of a job: the user uploads them, attaches them
// to a network, maps the ranks to servers, and simulates. Uploads and downloads go
// directly to the object store.
func TestTraces(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	j := journey{t: t, c: p.User(t, account)}
	j.workspace = text(t, p.Service(t, account).Post("/api/v1/workspaces", object{"name": "traces"}).Want(201), "id")

	ring := traces(t, "ring")
	j.traceset = j.upload(ring)
	j.ready(8)
	j.library(ring)
	j.clone("Leaf-spine, 64 servers, non-blocking")
	j.c.Patch(j.at("/traceset"), object{"tracesetId": j.traceset}).Want(200)
	j.c.Patch(j.at("/applications/workload/parameters"), object{"ChakraConfiguration": object{
		"ScaleUpHeaderSize":   object{"value": 0, "type": "bytes", "unit": "B"},
		"ScaleUpStatsEnabled": object{"value": true, "type": "bool"},
	}}).Want(200)

	// All ranks are in one rack, one on each server. The run has 14 messages, one after
	// another, and 7 computations of 7 us.
	near := j.simulate()
	if least := int64(7*7_000_000 + 14*131072*8*10/4); near <= least || near > least*12/10 { // 400 Gbps are 2.5 ps a bit
		t.Errorf("the ring takes %d ps, want a little more than %d of links and computations", near, least)
	}

	// Each rack has two ranks.
	var places strings.Builder
	for rank := range 8 {
		fmt.Fprintf(&places, "%d, %d\n", rank, 8*rank)
	}
	apart := j.mapping("apart.txt", places.String())
	j.attachMapping(apart)
	if far := j.simulate(); far <= near {
		t.Errorf("the ring takes %d ps across racks, want more than the %d ps in one rack", far, near)
	}

	// All ranks are in one scale-up group of 50 GiB/s, without headers. ASTRA-sim takes
	// 97,174 ns for this trace with a latency of 1 us. It truncates times to whole ns, so
	// a latency of 999.593 ns gives exactly its result.
	inside := j.mapping("inside.txt", strings.ReplaceAll(places.String(), "\n", ", 0, 0\n")+"@ one group\n0, 429.496729600, 999.593, 0\n")
	j.attachMapping(inside)
	if in := j.simulate(); in != 97_174_000 {
		t.Errorf("the ring takes %d ps in a scale-up group, want 97174 ns", in)
	}

	j.c.Delete("/api/v1/mapping-files/" + inside).Want(204)
	if now := j.c.Get(j.at("")).Want(200).Object()["activeMappingFile"].(object); now["id"] != inside || now["deleted"] != true {
		t.Errorf("the attached mapping file is %v after its deletion, want it marked as deleted", now)
	}
	j.start().Refused(409, "MAPPING_FILE_DELETED_REFERENCE")
	j.c.Delete(j.at("/mapping-file")).Want(200)
	if again := j.simulate(); again != near {
		t.Errorf("after detaching the mapping file the ring takes %d ps, want %d", again, near)
	}
}

// TestTracesInOneRequest: a traceset can be uploaded as one form. Sending it again returns
// the same traceset.
func TestTracesInOneRequest(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	j := journey{t: t, c: p.User(t, account)}
	j.workspace = text(t, p.Service(t, account).Post("/api/v1/workspaces", object{"name": "traces"}).Want(201), "id")
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, f := range traces(t, "json") {
		part, err := w.CreateFormFile("file", f.name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write(f.content)
	}
	_ = w.WriteField("name", "four ranks")
	_ = w.Close()
	send := func() servicetest.Reply {
		return j.c.Post("/api/v1/tracesets?workspaceId="+j.workspace, form.Bytes(), servicetest.Header{Name: "Content-Type", Value: w.FormDataContentType()})
	}
	j.traceset = text(t, send().Want(201), "id")
	j.ready(4)
	if again := text(t, send().Want(200), "id"); again != j.traceset {
		t.Errorf("the repeated upload returned %s, want %s", again, j.traceset)
	}
}

// journey has the steps of a user of one account in one workspace.
type journey struct {
	t                                  *testing.T
	c                                  *servicetest.Client
	workspace, traceset, configuration string
}

// allToAlls submits a simple simulation with count allToAlls of size bytes.
func (j *journey) allToAlls(name string, ranks, count, size int) (simulation string) {
	j.t.Helper()
	phases := make([]object, count)
	for i := range phases {
		phases[i] = object{"operationType": "allToAll", "dataSize": size}
	}
	return text(j.t, j.c.Post("/api/v1/simple/simulations", object{
		"name": name, "workload": object{"ranks": ranks, "phases": phases},
	}).Want(202), "simulationId")
}

// ringApart creates a validated configuration with the traces of the ring, and attaches a
// mapping file that spreads the ranks over the racks. It returns the mapping file.
func (j *journey) ringApart(service *servicetest.Client) (mapping string) {
	j.t.Helper()
	j.workspace = text(j.t, service.Post("/api/v1/workspaces", object{"name": "traces"}).Want(201), "id")
	j.traceset = j.upload(traces(j.t, "ring"))
	j.ready(8)
	j.clone("Leaf-spine, 64 servers, non-blocking")
	j.c.Patch(j.at("/traceset"), object{"tracesetId": j.traceset}).Want(200)
	var places strings.Builder
	for rank := range 8 {
		fmt.Fprintf(&places, "%d, %d\n", rank, 8*rank)
	}
	mapping = j.mapping("apart.txt", places.String())
	j.attachMapping(mapping)
	j.c.Post(j.at("/validate"), nil).Want(200)
	return mapping
}

type traceFile struct {
	name    string
	content []byte
}

// traces returns a set of trace files from the test data of package chakra.
func traces(t *testing.T, set string) (files []traceFile) {
	t.Helper()
	names, err := filepath.Glob("../../simulator/chakra/testdata/" + set + "/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("no traces of %s: %v", set, err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, traceFile{filepath.Base(name), content})
	}
	return files
}

func text(t *testing.T, r servicetest.Reply, name string) string {
	t.Helper()
	value, _ := r.Object()[name].(string)
	if value == "" {
		t.Fatalf("no %s in %s", name, r.Body)
	}
	return value
}

type partLink struct {
	PartNumber int
	URL        string
}

// upload uploads a traceset in parts and returns its id.
func (j *journey) upload(files []traceFile) string {
	j.t.Helper()
	var specs []object
	for _, f := range files {
		specs = append(specs, object{"name": f.name, "size": len(f.content)})
	}
	var session struct {
		UploadID string
		Files    []struct {
			Name  string
			Parts []partLink
		}
	}
	j.c.Post("/api/v1/tracesets/upload-url", object{
		"name": "a ring of eight", "workspaceId": j.workspace, "files": specs, "ttlDays": 3, "workloadMetadata": object{"workloadFamily": "ring"},
	}).Want(200).Into(&session)
	var list struct{ Items []struct{ Status string } }
	j.c.Get("/api/v1/tracesets?workspaceId=" + j.workspace + "&status=uploading").Want(200).Into(&list)
	if len(list.Items) != 1 {
		j.t.Errorf("%d tracesets are listed as uploading, want 1", len(list.Items))
	}
	var put []object
	for i, f := range session.Files {
		put = append(put, object{"name": f.Name, "parts": j.put(f.Parts, files[i].content)})
	}
	completion := object{"uploadId": session.UploadID, "files": put}
	made := text(j.t, j.c.Post("/api/v1/tracesets/upload-url/complete", completion).Want(201), "id")
	if again := text(j.t, j.c.Post("/api/v1/tracesets/upload-url/complete", completion).Want(200), "id"); again != made {
		j.t.Errorf("the repeated completion returned %s, want %s", again, made)
	}
	return made
}

// mapping uploads a mapping file and returns its id.
func (j *journey) mapping(name, content string) string {
	j.t.Helper()
	var session struct {
		UploadID string
		Parts    []partLink
	}
	j.c.Post("/api/v1/mapping-files/upload-url", object{"name": name, "workspaceId": j.workspace, "sizeBytes": len(content)}).Want(200).Into(&session)
	return text(j.t, j.c.Post("/api/v1/mapping-files/upload-url/complete", object{
		"uploadId": session.UploadID, "parts": j.put(session.Parts, []byte(content)),
	}).Want(201), "id")
}

// put sends the content to the object store as a single part.
func (j *journey) put(links []partLink, content []byte) []object {
	j.t.Helper()
	r, err := http.NewRequestWithContext(j.t.Context(), http.MethodPut, links[0].URL, bytes.NewReader(content))
	if err != nil {
		j.t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		j.t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // the body is empty
	if reply.StatusCode != 200 || len(links) != 1 {
		j.t.Fatalf("got %s for one of %d parts, want 200 for a single part", reply.Status, len(links))
	}
	return []object{{"partNumber": links[0].PartNumber, "etag": reply.Header.Get("ETag")}}
}

// fetch downloads a file from the object store.
func (j *journey) fetch(link string) []byte {
	j.t.Helper()
	r, err := http.NewRequestWithContext(j.t.Context(), http.MethodGet, link, nil)
	if err != nil {
		j.t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		j.t.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // the body is read completely
	content, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != 200 {
		j.t.Fatalf("download: got %s, %v: %s", reply.Status, err, content)
	}
	return content
}

// ready waits until the metadata of the traceset is extracted, and checks it.
func (j *journey) ready(ranks float64) {
	j.t.Helper()
	made := j.c.Eventually("/api/v1/tracesets/"+j.traceset, func(r servicetest.Reply) bool { return r.Want(200).Object()["status"] != "processing" }).Object()
	if made["status"] != "ready" || made["rankCount"] != ranks {
		j.t.Fatalf("the traceset is %v, want ready with %v ranks", made, ranks)
	}
	for i, f := range made["files"].([]any) {
		rank := float64(i)
		if f := f.(object); f["metadataStatus"] != "complete" || f["rankRange"].(object)["start"] != rank || f["rankRange"].(object)["end"] != rank {
			j.t.Errorf("file %d is %v, want complete with rank %d", i, f, i)
		}
	}
	if until, err := time.Parse(time.RFC3339, made["expiresAt"].(string)); err != nil || until.Before(time.Now().Add(71*time.Hour)) {
		j.t.Errorf("the traceset expires at %v, want in 72 hours", made["expiresAt"])
	}
}

// library checks the library of the traceset's content, and the locations of its files.
func (j *journey) library(files []traceFile) {
	j.t.Helper()
	var libraries struct {
		Items []struct {
			ID           string
			RankCount    int    `json:"rank_count"`
			HashShort    string `json:"hash_short"`
			WorkloadType string `json:"workload_type"`
		}
	}
	j.c.Get("/api/v1/libraries?scope=workspace&workspaceId=" + j.workspace).Want(200).Into(&libraries)
	if len(libraries.Items) != 1 || libraries.Items[0].RankCount != len(files) || libraries.Items[0].WorkloadType != "ring" {
		j.t.Fatalf("got libraries %+v, want one of the ring", libraries)
	}
	if id := text(j.t, j.c.Get("/api/v1/libraries/"+libraries.Items[0].HashShort+"?workspaceId="+j.workspace).Want(200), "id"); id != libraries.Items[0].ID {
		j.t.Errorf("the short hash finds library %s, want %s", id, libraries.Items[0].ID)
	}
	resolved := j.c.Get("/api/v1/tracesets/" + j.traceset + "/resolve").Want(200).Object()
	if found, _ := resolved["files"].([]any); resolved["layout"] != "cas" || len(found) != len(files) {
		j.t.Errorf("resolve returned %v, want layout cas and %d files", resolved, len(files))
	}
	link := j.c.Get("/api/v1/tracesets/" + j.traceset + "/download").Want(200).Object()
	if link["file"] != files[0].name || !bytes.Equal(j.fetch(link["url"].(string)), files[0].content) {
		j.t.Errorf("the download of %v differs from the upload", link["file"])
	}
}

// clone creates a configuration from the curated template with the name.
func (j *journey) clone(template string) {
	j.t.Helper()
	var list struct{ Templates []struct{ ID, Name string } }
	j.c.Get("/api/v1/templates?limit=100").Want(200).Into(&list)
	for _, made := range list.Templates {
		if made.Name == template {
			j.configuration = text(j.t, j.c.Post("/api/v1/templates/"+made.ID+"/clone",
				object{"name": "ring", "workspaceId": j.workspace}).Want(201), "id")
			return
		}
	}
	j.t.Fatalf("no template %s", template)
}

func (j *journey) at(path string) string { return "/api/v1/configurations/" + j.configuration + path }

// attachMapping attaches a mapping file, and checks that the application uses it.
func (j *journey) attachMapping(id string) {
	j.t.Helper()
	now := j.c.Patch(j.at("/mapping-file"), object{"mappingFileId": id}).Want(200).Object()
	coordinator := now["applications"].([]any)[0].(object)["typedParameters"].(object)["ChakraConfiguration"].(object)
	if now["activeMappingFile"].(object)["id"] != id || coordinator["UseMapping"].(object)["value"] != true {
		j.t.Errorf("after attaching %s: mapping file %v, application %v", id, now["activeMappingFile"], coordinator)
	}
}

func (j *journey) start() servicetest.Reply {
	j.t.Helper()
	return j.c.Post("/api/v1/simulations", object{"configurationId": j.configuration, "name": "ring", "duration": "1s"})
}

// simulate validates the traceset and the configuration, runs the configuration, and
// returns the simulated time in picoseconds.
func (j *journey) simulate() int64 {
	j.t.Helper()
	checked := j.c.Post("/api/v1/tracesets/"+j.traceset+"/validate", object{"topologyId": j.configuration}).Want(200)
	report := j.c.Post(j.at("/validate"), nil).Want(200)
	if checked.Object()["valid"] != true || report.Object()["valid"] != true {
		j.t.Errorf("not valid: traceset %s\nconfiguration %s", checked.Body, report.Body)
	}
	sim := "/api/v1/simulations/" + text(j.t, j.start().Want(201), "id")
	ended := j.c.Eventually(sim, func(r servicetest.Reply) bool {
		status := r.Want(200).Object()["status"]
		return status == "completed" || status == "failed" || status == "invalid"
	})
	if ended.Object()["status"] != "completed" {
		j.t.Fatalf("the simulation did not complete: %s", ended.Body)
	}
	var summary struct {
		SimulatedTimePs, PayloadBytes int64
		Ranks                         int
	}
	link := text(j.t, j.c.Get(sim+"/results/download-url?fileName=summary.json").Want(200), "downloadUrl")
	if err := json.Unmarshal(j.fetch(link), &summary); err != nil {
		j.t.Fatal(err)
	}
	if summary.Ranks != 8 || summary.PayloadBytes != 8*14*131072 {
		j.t.Errorf("got summary %+v, want 8 ranks and %d bytes", summary, 8*14*131072)
	}
	return summary.SimulatedTimePs
}
