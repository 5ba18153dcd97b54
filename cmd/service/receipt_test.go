package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netsim/internal/servicetest"
	"netsim/internal/teststack"
)

// TestReceipts repeats simulations from their receipts. It uses only the program and the
// files that a user can download, without a service or its settings. Resources that were
// deleted after the run are not needed.
func TestReceipts(t *testing.T) {
	t.Parallel()
	p := servicetest.Shared(t)
	account := servicetest.NewAccount()
	p.Grant(t, account, "1000")
	j := newJourney(t, p.User(t, account))
	binary := teststack.Netsim(t)

	simple := j.Completed(j.Client.Post("/api/v1/simple/simulations", servicetest.SimpleSubmission(8)).Want(202).Text("simulationId"))
	dir := j.Reproducible(simple)
	j.Client.Delete("/api/v1/simulations/" + simple).Want(200)
	want := fmt.Sprintf("reproduced: %d files equal\n", servicetest.ReceiptFiles(t, dir))
	if said, err := servicetest.Offline(t, binary, dir); err != nil || said != want {
		t.Errorf("simple: %v: %q, want %q", err, said, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "summary.json")); err != nil {
		t.Error(err)
	}

	long := j.AllToAlls("long", 128, 1000, 1<<40)
	j.Client.Eventually("/api/v1/simulations/"+long, servicetest.HasStatus("running"))
	j.Client.Post("/api/v1/simulations/"+long+"/terminate", nil).Want(200)
	j.Client.Eventually("/api/v1/simulations/"+long+"/results", func(r servicetest.Reply) bool { return r.Status == 200 })
	dir = j.Reproducible(long)
	want = fmt.Sprintf("reproduced: %d files equal\n", servicetest.ReceiptFiles(t, dir))
	if said, err := servicetest.Offline(t, binary, dir); err != nil || said != want {
		t.Errorf("terminated: %v: %q, want %q", err, said, want)
	}

	mapping := j.ringApart(p.Service(t, account))
	replayed := j.Completed(j.start().Want(201).Text("id"))
	j.Client.Delete("/api/v1/mapping-files/" + mapping).Want(204)
	j.Client.Delete("/api/v1/configurations/" + j.Configuration).Want(204)
	dir = j.Reproducible(replayed)
	want = fmt.Sprintf("reproduced: %d files equal\n", servicetest.ReceiptFiles(t, dir))
	if said, err := servicetest.Offline(t, binary, dir); err != nil || said != want {
		t.Errorf("replayed: %v: %q, want %q", err, said, want)
	}

	rewrite(t, filepath.Join(dir, "receipt.json"), func(text string) string {
		i := strings.Index(text, `"name": "run.log"`)
		j := i + strings.Index(text[i:], "sha256:") + len("sha256:")
		return text[:j] + "0000" + text[j+4:]
	})
	if said, err := servicetest.Offline(t, binary, dir); err == nil || !strings.Contains(said, "1 differ") || !strings.Contains(said, "run.log has ") || !strings.Contains(said, "sha256:0000") {
		t.Errorf("a changed result: got %v: %s; want it reported", err, said)
	}
	rewrite(t, filepath.Join(dir, "custom_allreduce.3.et.gz"), func(text string) string { return text[:20] + "x" + text[21:] })
	if said, err := servicetest.Offline(t, binary, dir); err == nil || !strings.Contains(said, "1 of 9 input files") || !strings.Contains(said, "custom_allreduce.3.et.gz has the hash sha256:") {
		t.Errorf("a changed input: got %v: %s; want it reported", err, said)
	}
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
