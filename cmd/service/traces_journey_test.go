package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
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
	j := newJourney(t, p.User(t, account))
	j.Workspace = p.Service(t, account).Post("/api/v1/workspaces", object{"name": "traces"}).Want(201).Text("id")

	ring := traces(t, "ring")
	j.traceset = j.upload(ring)
	j.ready(8)
	j.library(ring)
	j.clone("Leaf-spine, 64 servers, non-blocking")
	j.Client.Patch(j.At("/traceset"), object{"tracesetId": j.traceset}).Want(200)
	j.Client.Patch(j.At("/applications/workload/parameters"), object{"ChakraConfiguration": object{
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
	apart := j.Mapping("apart.txt", places.String())
	j.attachMapping(apart)
	if far := j.simulate(); far <= near {
		t.Errorf("the ring takes %d ps across racks, want more than the %d ps in one rack", far, near)
	}

	// All ranks are in one scale-up group of 50 GiB/s, without headers. ASTRA-sim takes
	// 97,174 ns for this trace with a latency of 1 us. It truncates times to whole ns, so
	// a latency of 999.593 ns gives exactly its result.
	inside := j.Mapping("inside.txt", strings.ReplaceAll(places.String(), "\n", ", 0, 0\n")+"@ one group\n0, 429.496729600, 999.593, 0\n")
	j.attachMapping(inside)
	if in := j.simulate(); in != 97_174_000 {
		t.Errorf("the ring takes %d ps in a scale-up group, want 97174 ns", in)
	}

	j.Client.Delete("/api/v1/mapping-files/" + inside).Want(204)
	if now := j.Client.Get(j.At("")).Want(200).Object()["activeMappingFile"].(object); now["id"] != inside || now["deleted"] != true {
		t.Errorf("the attached mapping file is %v after its deletion, want it marked as deleted", now)
	}
	j.start().Refused(409, "MAPPING_FILE_DELETED_REFERENCE")
	j.Client.Delete(j.At("/mapping-file")).Want(200)
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
	j := newJourney(t, p.User(t, account))
	j.Workspace = p.Service(t, account).Post("/api/v1/workspaces", object{"name": "traces"}).Want(201).Text("id")
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
		return j.Client.Post("/api/v1/tracesets?workspaceId="+j.Workspace, form.Bytes(), servicetest.Header{Name: "Content-Type", Value: w.FormDataContentType()})
	}
	j.traceset = send().Want(201).Text("id")
	j.ready(4)
	if again := send().Want(200).Text("id"); again != j.traceset {
		t.Errorf("the repeated upload returned %s, want %s", again, j.traceset)
	}
}

// journey has the steps of a user of one account in one workspace.
type journey struct {
	servicetest.Journey
	traceset string // its id
}

func newJourney(t *testing.T, c *servicetest.Client) journey {
	return journey{Journey: servicetest.Journey{T: t, Client: c}}
}

// ringApart creates a validated configuration with the traces of the ring, and attaches a
// mapping file that spreads the ranks over the racks. It returns the mapping file.
func (j *journey) ringApart(service *servicetest.Client) (mapping string) {
	j.T.Helper()
	j.Workspace = service.Post("/api/v1/workspaces", object{"name": "traces"}).Want(201).Text("id")
	j.traceset = j.upload(traces(j.T, "ring"))
	j.ready(8)
	j.clone("Leaf-spine, 64 servers, non-blocking")
	j.Client.Patch(j.At("/traceset"), object{"tracesetId": j.traceset}).Want(200)
	var places strings.Builder
	for rank := range 8 {
		fmt.Fprintf(&places, "%d, %d\n", rank, 8*rank)
	}
	mapping = j.Mapping("apart.txt", places.String())
	j.attachMapping(mapping)
	j.Client.Post(j.At("/validate"), nil).Want(200)
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

// upload uploads a traceset in parts and returns its id.
func (j *journey) upload(files []traceFile) string {
	j.T.Helper()
	var specs []object
	for _, f := range files {
		specs = append(specs, object{"name": f.name, "size": len(f.content)})
	}
	var session struct {
		UploadID string
		Files    []struct {
			Name  string
			Parts []servicetest.PartLink
		}
	}
	j.Client.Post("/api/v1/tracesets/upload-url", object{
		"name": "a ring of eight", "workspaceId": j.Workspace, "files": specs, "ttlDays": 3, "workloadMetadata": object{"workloadFamily": "ring"},
	}).Want(200).Into(&session)
	var list struct{ Items []struct{ Status string } }
	j.Client.Get("/api/v1/tracesets?workspaceId=" + j.Workspace + "&status=uploading").Want(200).Into(&list)
	if len(list.Items) != 1 {
		j.T.Errorf("%d tracesets are listed as uploading, want 1", len(list.Items))
	}
	var put []object
	for i, f := range session.Files {
		put = append(put, object{"name": f.Name, "parts": j.Put(f.Parts, files[i].content)})
	}
	completion := object{"uploadId": session.UploadID, "files": put}
	made := j.Client.Post("/api/v1/tracesets/upload-url/complete", completion).Want(201).Text("id")
	if again := j.Client.Post("/api/v1/tracesets/upload-url/complete", completion).Want(200).Text("id"); again != made {
		j.T.Errorf("the repeated completion returned %s, want %s", again, made)
	}
	return made
}

// ready waits until the metadata of the traceset is extracted, and checks it.
func (j *journey) ready(ranks float64) {
	j.T.Helper()
	made := j.Client.Eventually("/api/v1/tracesets/"+j.traceset, func(r servicetest.Reply) bool { return r.Want(200).Object()["status"] != "processing" }).Object()
	if made["status"] != "ready" || made["rankCount"] != ranks {
		j.T.Fatalf("the traceset is %v, want ready with %v ranks", made, ranks)
	}
	for i, f := range made["files"].([]any) {
		rank := float64(i)
		if f := f.(object); f["metadataStatus"] != "complete" || f["rankRange"].(object)["start"] != rank || f["rankRange"].(object)["end"] != rank {
			j.T.Errorf("file %d is %v, want complete with rank %d", i, f, i)
		}
	}
	if until, err := time.Parse(time.RFC3339, made["expiresAt"].(string)); err != nil || until.Before(time.Now().Add(71*time.Hour)) {
		j.T.Errorf("the traceset expires at %v, want in 72 hours", made["expiresAt"])
	}
}

// library checks the library of the traceset's content, and the locations of its files.
func (j *journey) library(files []traceFile) {
	j.T.Helper()
	var libraries struct {
		Items []struct {
			ID           string
			RankCount    int    `json:"rank_count"`
			HashShort    string `json:"hash_short"`
			WorkloadType string `json:"workload_type"`
		}
	}
	j.Client.Get("/api/v1/libraries?scope=workspace&workspaceId=" + j.Workspace).Want(200).Into(&libraries)
	if len(libraries.Items) != 1 || libraries.Items[0].RankCount != len(files) || libraries.Items[0].WorkloadType != "ring" {
		j.T.Fatalf("got libraries %+v, want one of the ring", libraries)
	}
	if id := j.Client.Get("/api/v1/libraries/" + libraries.Items[0].HashShort + "?workspaceId=" + j.Workspace).Want(200).Text("id"); id != libraries.Items[0].ID {
		j.T.Errorf("the short hash finds library %s, want %s", id, libraries.Items[0].ID)
	}
	resolved := j.Client.Get("/api/v1/tracesets/" + j.traceset + "/resolve").Want(200).Object()
	if found, _ := resolved["files"].([]any); resolved["layout"] != "cas" || len(found) != len(files) {
		j.T.Errorf("resolve returned %v, want layout cas and %d files", resolved, len(files))
	}
	link := j.Client.Get("/api/v1/tracesets/" + j.traceset + "/download").Want(200).Object()
	if link["file"] != files[0].name || !bytes.Equal(j.Fetch(link["url"].(string)), files[0].content) {
		j.T.Errorf("the download of %v differs from the upload", link["file"])
	}
}

// clone creates a configuration from the curated template with the name.
func (j *journey) clone(template string) {
	j.T.Helper()
	var list struct{ Templates []struct{ ID, Name string } }
	j.Client.Get("/api/v1/templates?limit=100").Want(200).Into(&list)
	for _, made := range list.Templates {
		if made.Name == template {
			j.Configuration = j.Client.Post("/api/v1/templates/"+made.ID+"/clone",
				object{"name": "ring", "workspaceId": j.Workspace}).Want(201).Text("id")
			return
		}
	}
	j.T.Fatalf("no template %s", template)
}

// attachMapping attaches a mapping file, and checks that the application uses it.
func (j *journey) attachMapping(id string) {
	j.T.Helper()
	now := j.Client.Patch(j.At("/mapping-file"), object{"mappingFileId": id}).Want(200).Object()
	coordinator := now["applications"].([]any)[0].(object)["typedParameters"].(object)["ChakraConfiguration"].(object)
	if now["activeMappingFile"].(object)["id"] != id || coordinator["UseMapping"].(object)["value"] != true {
		j.T.Errorf("after attaching %s: mapping file %v, application %v", id, now["activeMappingFile"], coordinator)
	}
}

func (j *journey) start() servicetest.Reply {
	j.T.Helper()
	return j.Client.Post("/api/v1/simulations", object{"configurationId": j.Configuration, "name": "ring", "duration": "1s"})
}

// simulate validates the traceset and the configuration, runs the configuration, and
// returns the simulated time in picoseconds.
func (j *journey) simulate() int64 {
	j.T.Helper()
	checked := j.Client.Post("/api/v1/tracesets/"+j.traceset+"/validate", object{"topologyId": j.Configuration}).Want(200)
	report := j.Client.Post(j.At("/validate"), nil).Want(200)
	if checked.Object()["valid"] != true || report.Object()["valid"] != true {
		j.T.Errorf("not valid: traceset %s\nconfiguration %s", checked.Body, report.Body)
	}
	sim := "/api/v1/simulations/" + j.start().Want(201).Text("id")
	ended := j.Client.Eventually(sim, func(r servicetest.Reply) bool {
		status := r.Want(200).Object()["status"]
		return status == "completed" || status == "failed" || status == "invalid"
	})
	if ended.Object()["status"] != "completed" {
		j.T.Fatalf("the simulation did not complete: %s", ended.Body)
	}
	var summary struct {
		SimulatedTimePs, PayloadBytes int64
		Ranks                         int
	}
	link := j.Client.Get(sim + "/results/download-url?fileName=summary.json").Want(200).Text("downloadUrl")
	if err := json.Unmarshal(j.Fetch(link), &summary); err != nil {
		j.T.Fatal(err)
	}
	if summary.Ranks != 8 || summary.PayloadBytes != 8*14*131072 {
		j.T.Errorf("got summary %+v, want 8 ranks and %d bytes", summary, 8*14*131072)
	}
	return summary.SimulatedTimePs
}
