package service_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"netsim/internal/servicetest"
)

// TestReceipts repeats simulations from their receipts. It uses only the program and the
// files that a user can download, without a service or its settings. Resources that were
// deleted after the run are not needed.
func TestReceipts(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	j := journey{t: t, c: p.User(t, account)}
	binary := buildNetsim(t)

	simple := j.completed(text(t, j.c.Post("/api/v1/simple/simulations", simpleSubmission(8)).Want(202), "simulationId"))
	dir := j.reproducible(simple)
	j.c.Delete("/api/v1/simulations/" + simple).Want(200)
	want := fmt.Sprintf("reproduced: %d files equal\n", receiptFiles(t, dir))
	if said, err := offline(t, binary, dir); err != nil || said != want {
		t.Errorf("simple: %v: %q, want %q", err, said, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "summary.json")); err != nil {
		t.Error(err)
	}

	long := j.allToAlls("long", 128, 1000, 1<<40)
	j.c.Eventually("/api/v1/simulations/"+long, hasStatus("running"))
	j.c.Post("/api/v1/simulations/"+long+"/terminate", nil).Want(200)
	j.c.Eventually("/api/v1/simulations/"+long+"/results", func(r servicetest.Reply) bool { return r.Status == 200 })
	dir = j.reproducible(long)
	want = fmt.Sprintf("reproduced: %d files equal\n", receiptFiles(t, dir))
	if said, err := offline(t, binary, dir); err != nil || said != want {
		t.Errorf("terminated: %v: %q, want %q", err, said, want)
	}

	mapping := j.ringApart(p.Service(t, account))
	replayed := j.completed(text(t, j.start().Want(201), "id"))
	j.c.Delete("/api/v1/mapping-files/" + mapping).Want(204)
	j.c.Delete("/api/v1/configurations/" + j.configuration).Want(204)
	dir = j.reproducible(replayed)
	want = fmt.Sprintf("reproduced: %d files equal\n", receiptFiles(t, dir))
	if said, err := offline(t, binary, dir); err != nil || said != want {
		t.Errorf("replayed: %v: %q, want %q", err, said, want)
	}

	rewrite(t, filepath.Join(dir, "receipt.json"), func(text string) string {
		i := strings.Index(text, `"name": "run.log"`)
		j := i + strings.Index(text[i:], "sha256:") + len("sha256:")
		return text[:j] + "0000" + text[j+4:]
	})
	if said, err := offline(t, binary, dir); err == nil || !strings.Contains(said, "1 differ") || !strings.Contains(said, "run.log has ") || !strings.Contains(said, "sha256:0000") {
		t.Errorf("a changed result: got %v: %s; want it reported", err, said)
	}
	rewrite(t, filepath.Join(dir, "custom_allreduce.3.et.gz"), func(text string) string { return text[:20] + "x" + text[21:] })
	if said, err := offline(t, binary, dir); err == nil || !strings.Contains(said, "1 of 9 input files") || !strings.Contains(said, "custom_allreduce.3.et.gz has the hash sha256:") {
		t.Errorf("a changed input: got %v: %s; want it reported", err, said)
	}
}

// completed waits until the simulation has ended, and fails the test unless it has
// completed.
func (j *journey) completed(id string) string {
	j.t.Helper()
	ended := j.c.Eventually("/api/v1/simulations/"+id, func(r servicetest.Reply) bool {
		status := r.Want(200).Object()["status"]
		return status == "completed" || status == "failed" || status == "invalid"
	})
	if ended.Object()["status"] != "completed" {
		j.t.Fatalf("the simulation did not complete: %s", ended.Body)
	}
	return id
}

// reproducible downloads the receipt of a simulation, and the files that the receipt
// names, into a directory.
func (j *journey) reproducible(simulation string) string {
	j.t.Helper()
	dir := j.t.TempDir()
	download := func(path, member, name string) []byte {
		content := j.fetch(text(j.t, j.c.Get(path).Want(200), member))
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			j.t.Fatal(err)
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
		j.t.Fatal(err)
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

// receiptFiles returns how many result files the receipt in a directory lists.
func receiptFiles(t *testing.T, dir string) int {
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

// offline runs "netsim engine run" in a directory, with an empty environment.
func offline(t *testing.T, binary, dir string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "engine", "run", "receipt.json", "--files", ".", "--out", "out")
	cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func rewrite(t *testing.T, path string, change func(string) string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(change(string(content))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// buildNetsim builds the program.
func buildNetsim(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "netsim")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "netsim/cmd/netsim").CombinedOutput(); err != nil {
		t.Fatalf("build netsim: %v\n%s", err, out)
	}
	return binary
}
