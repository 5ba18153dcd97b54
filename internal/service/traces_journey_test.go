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

	"netsim/internal/service/servicetest"
)

// TestTraces is what somebody does who has the traces of a job: upload them,
// attach them to a network, place its ranks, and simulate. The bytes go straight
// to the object store and come from there.
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

	// A rank on each server of a rack: 14 messages, one after the other, and 7
	// computations of 7 us.
	near := j.simulate()
	if least := int64(7*7_000_000 + 14*131072*8*10/4); near <= least || near > least*12/10 { // 400 Gbps are 2.5 ps a bit
		t.Errorf("the ring takes %d ps, the links alone %d", near, least)
	}

	// Two ranks in each rack.
	var places strings.Builder
	for rank := range 8 {
		fmt.Fprintf(&places, "%d, %d\n", rank, 8*rank)
	}
	apart := j.mapping("apart.txt", places.String())
	j.attachMapping(apart)
	if far := j.simulate(); far <= near {
		t.Errorf("the ring takes %d ps across racks, %d ps in one", far, near)
	}

	// All in one scale-up group of 50 GiB/s, without headers. With the way of a
	// message as long as the fraction that ASTRA-sim cuts off leaves of 1 us, it
	// takes what ASTRA-sim says of this trace: 97,174 ns.
	inside := j.mapping("inside.txt", strings.ReplaceAll(places.String(), "\n", ", 0, 0\n")+"@ one group\n0, 429.496729600, 999.593, 0\n")
	j.attachMapping(inside)
	if in := j.simulate(); in != 97_174_000 {
		t.Errorf("the ring takes %d ps in a scale-up group, want 97174 ns", in)
	}

	j.c.Delete("/api/v1/mapping-files/" + inside).Want(204)
	if now := j.c.Get(j.at("")).Want(200).Object()["activeMappingFile"].(object); now["id"] != inside || now["deleted"] != true {
		t.Errorf("attached and deleted: %v", now)
	}
	j.start().Refused(409, "MAPPING_FILE_DELETED_REFERENCE")
	j.c.Delete(j.at("/mapping-file")).Want(200)
	if again := j.simulate(); again != near {
		t.Errorf("without a mapping file the ring takes %d ps, before it took %d", again, near)
	}
}

// TestTracesInOneRequest uploads a set as a form.
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
		t.Errorf("sent again it is %s, before it was %s", again, j.traceset)
	}
}

// journey is one account's, in one workspace.
type journey struct {
	t                                  *testing.T
	c                                  *servicetest.Client
	workspace, traceset, configuration string
}

// allToAlls submits a simple simulation of so many allToAlls of so many bytes.
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

// ringApart makes a validated configuration whose traces are those of the ring,
// and a mapping file that places its ranks in different racks.
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

// traces are files of the reader's test data.
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
		j.t.Errorf("%d tracesets are being uploaded", len(list.Items))
	}
	var put []object
	for i, f := range session.Files {
		put = append(put, object{"name": f.Name, "parts": j.put(f.Parts, files[i].content)})
	}
	completion := object{"uploadId": session.UploadID, "files": put}
	made := text(j.t, j.c.Post("/api/v1/tracesets/upload-url/complete", completion).Want(201), "id")
	if again := text(j.t, j.c.Post("/api/v1/tracesets/upload-url/complete", completion).Want(200), "id"); again != made {
		j.t.Errorf("completed again it is %s, before it was %s", again, made)
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

// put sends the bytes, which are few, to the object store as one part.
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
	defer reply.Body.Close() //nolint:errcheck // it has none
	if reply.StatusCode != 200 || len(links) != 1 {
		j.t.Fatalf("%s for one of %d parts", reply.Status, len(links))
	}
	return []object{{"partNumber": links[0].PartNumber, "etag": reply.Header.Get("ETag")}}
}

// fetch reads from the object store.
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
	defer reply.Body.Close() //nolint:errcheck // it is read whole
	content, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != 200 {
		j.t.Fatalf("%s, %v: %s", reply.Status, err, content)
	}
	return content
}

// ready waits until what the traceset holds is known.
func (j *journey) ready(ranks float64) {
	j.t.Helper()
	made := j.c.Eventually("/api/v1/tracesets/"+j.traceset, func(r servicetest.Reply) bool { return r.Want(200).Object()["status"] != "processing" }).Object()
	if made["status"] != "ready" || made["rankCount"] != ranks {
		j.t.Fatalf("traceset %v", made)
	}
	for i, f := range made["files"].([]any) {
		rank := float64(i)
		if f := f.(object); f["metadataStatus"] != "complete" || f["rankRange"].(object)["start"] != rank || f["rankRange"].(object)["end"] != rank {
			j.t.Errorf("file %v", f)
		}
	}
	if until, err := time.Parse(time.RFC3339, made["expiresAt"].(string)); err != nil || until.Before(time.Now().Add(71*time.Hour)) {
		j.t.Errorf("expires at %v", made["expiresAt"])
	}
}

// library looks the traceset up by what it holds, and where that is.
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
		j.t.Fatalf("libraries %+v", libraries)
	}
	if id := text(j.t, j.c.Get("/api/v1/libraries/"+libraries.Items[0].HashShort+"?workspaceId="+j.workspace).Want(200), "id"); id != libraries.Items[0].ID {
		j.t.Errorf("library %s", id)
	}
	resolved := j.c.Get("/api/v1/tracesets/" + j.traceset + "/resolve").Want(200).Object()
	if found, _ := resolved["files"].([]any); resolved["layout"] != "cas" || len(found) != len(files) {
		j.t.Errorf("resolved %v", resolved)
	}
	link := j.c.Get("/api/v1/tracesets/" + j.traceset + "/download").Want(200).Object()
	if link["file"] != files[0].name || !bytes.Equal(j.fetch(link["url"].(string)), files[0].content) {
		j.t.Errorf("another %v is served than was uploaded", link["file"])
	}
}

// clone makes a configuration of the curated template of that name.
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

// attachMapping attaches a mapping file, which reaches the application.
func (j *journey) attachMapping(id string) {
	j.t.Helper()
	now := j.c.Patch(j.at("/mapping-file"), object{"mappingFileId": id}).Want(200).Object()
	coordinator := now["applications"].([]any)[0].(object)["typedParameters"].(object)["ChakraConfiguration"].(object)
	if now["activeMappingFile"].(object)["id"] != id || coordinator["UseMapping"].(object)["value"] != true {
		j.t.Errorf("attached: %v, %v", now["activeMappingFile"], coordinator)
	}
}

func (j *journey) start() servicetest.Reply {
	j.t.Helper()
	return j.c.Post("/api/v1/simulations", object{"configurationId": j.configuration, "name": "ring", "duration": "1s"})
}

// simulate validates what there is now, runs it, and returns how many
// picoseconds that took.
func (j *journey) simulate() int64 {
	j.t.Helper()
	checked := j.c.Post("/api/v1/tracesets/"+j.traceset+"/validate", object{"topologyId": j.configuration}).Want(200)
	report := j.c.Post(j.at("/validate"), nil).Want(200)
	if checked.Object()["valid"] != true || report.Object()["valid"] != true {
		j.t.Errorf("traceset: %s\nconfiguration: %s", checked.Body, report.Body)
	}
	sim := "/api/v1/simulations/" + text(j.t, j.start().Want(201), "id")
	ended := j.c.Eventually(sim, func(r servicetest.Reply) bool {
		status := r.Want(200).Object()["status"]
		return status == "completed" || status == "failed" || status == "invalid"
	})
	if ended.Object()["status"] != "completed" {
		j.t.Fatalf("simulation %s", ended.Body)
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
		j.t.Errorf("summary %+v", summary)
	}
	return summary.SimulatedTimePs
}
