package servicetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

type object = map[string]any

// Journey has the steps of a user of one account in one workspace.
type Journey struct {
	T                        *testing.T
	Client                   *Client
	Workspace, Configuration string // ids
}

// SimpleSubmission returns a simple submission of one small allReduce.
func SimpleSubmission(ranks int) map[string]any {
	return object{
		"name": "small",
		"workload": object{
			"ranks":  ranks,
			"phases": []any{object{"operationType": "allReduce", "dataSize": 1 << 20}},
		},
	}
}

// AllToAlls submits a simple simulation with count allToAlls of size bytes.
func (j *Journey) AllToAlls(name string, ranks, count, size int) (simulation string) {
	j.T.Helper()
	phases := make([]object, count)
	for i := range phases {
		phases[i] = object{"operationType": "allToAll", "dataSize": size}
	}
	return j.Client.Post("/api/v1/simple/simulations", object{
		"name": name, "workload": object{"ranks": ranks, "phases": phases},
	}).Want(202).Text("simulationId")
}

// At returns a path below that of the configuration.
func (j *Journey) At(path string) string { return "/api/v1/configurations/" + j.Configuration + path }

// UseRemoteEngine changes the configuration so that it runs at a remote engine.
func (j *Journey) UseRemoteEngine() {
	j.T.Helper()
	j.Client.Patch(j.At("/parameters"), object{"EngineParameters": object{"Engine": object{"value": "remote", "type": "string"}}}).Want(200)
	j.Client.Post(j.At("/validate"), nil).Want(200)
}

// Completed waits until the simulation has ended, and fails the test unless it has
// completed.
func (j *Journey) Completed(id string) string {
	j.T.Helper()
	ended := j.Client.Eventually("/api/v1/simulations/"+id, func(r Reply) bool {
		status := r.Want(200).Object()["status"]
		return status == "completed" || status == "failed" || status == "invalid"
	})
	if ended.Object()["status"] != "completed" {
		j.T.Fatalf("the simulation did not complete: %s", ended.Body)
	}
	return id
}

// PartLink is where a part of an upload is sent.
type PartLink struct {
	PartNumber int
	URL        string
}

// Mapping uploads a mapping file and returns its id.
func (j *Journey) Mapping(name, content string) string {
	j.T.Helper()
	var session struct {
		UploadID string
		Parts    []PartLink
	}
	j.Client.Post("/api/v1/mapping-files/upload-url", object{"name": name, "workspaceId": j.Workspace, "sizeBytes": len(content)}).Want(200).Into(&session)
	return j.Client.Post("/api/v1/mapping-files/upload-url/complete", object{
		"uploadId": session.UploadID, "parts": j.Put(session.Parts, []byte(content)),
	}).Want(201).Text("id")
}

// Put sends the content to the object store as a single part.
func (j *Journey) Put(links []PartLink, content []byte) []map[string]any {
	j.T.Helper()
	r, err := http.NewRequestWithContext(j.T.Context(), http.MethodPut, links[0].URL, bytes.NewReader(content))
	if err != nil {
		j.T.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		j.T.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // the body is empty
	if reply.StatusCode != 200 || len(links) != 1 {
		j.T.Fatalf("got %s for one of %d parts, want 200 for a single part", reply.Status, len(links))
	}
	return []object{{"partNumber": links[0].PartNumber, "etag": reply.Header.Get("ETag")}}
}

// Fetch downloads a file from the object store.
func (j *Journey) Fetch(link string) []byte {
	j.T.Helper()
	r, err := http.NewRequestWithContext(j.T.Context(), http.MethodGet, link, nil)
	if err != nil {
		j.T.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		j.T.Fatal(err)
	}
	defer reply.Body.Close() //nolint:errcheck // the body is read completely
	content, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != 200 {
		j.T.Fatalf("download: got %s, %v: %s", reply.Status, err, content)
	}
	return content
}

// Reproducible downloads the receipt of a simulation, and the files that the receipt
// names, into a directory.
func (j *Journey) Reproducible(simulation string) string {
	j.T.Helper()
	dir := j.T.TempDir()
	download := func(path, member, name string) []byte {
		content := j.Fetch(j.Client.Get(path).Want(200).Text(member))
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			j.T.Fatal(err)
		}
		return content
	}
	result := func(name string) []byte {
		return download("/api/v1/simulations/"+simulation+"/results/download-url?fileName="+name, "downloadUrl", name)
	}
	var receipt struct {
		Traceset struct {
			ID, Format string
			Files      []struct{ Name string }
		}
		MappingFile *struct{ Name string }
	}
	if err := json.Unmarshal(result("receipt.json"), &receipt); err != nil {
		j.T.Fatal(err)
	}
	for _, f := range receipt.Traceset.Files {
		if receipt.Traceset.Format == "simple_v1" {
			result(f.Name)
		} else {
			download("/api/v1/tracesets/"+receipt.Traceset.ID+"/download?file="+f.Name, "url", f.Name)
		}
	}
	if receipt.MappingFile != nil {
		result(receipt.MappingFile.Name)
	}
	return dir
}

// ReceiptFiles returns how many result files the receipt in a directory lists.
func ReceiptFiles(t testing.TB, dir string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "receipt.json"))
	if err != nil {
		t.Fatal(err)
	}
	var receipt struct{ Files []any }
	if err := json.Unmarshal(content, &receipt); err != nil {
		t.Fatal(err)
	}
	return len(receipt.Files)
}

// Offline runs "netsim engine run" in a directory, with an empty environment.
func Offline(t testing.TB, binary, dir string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "engine", "run", "receipt.json", "--files", ".", "--out", "out")
	cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
