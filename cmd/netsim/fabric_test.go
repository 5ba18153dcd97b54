package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFabric: the command converts a public InfraGraph document to a configuration and back,
// says what is left out, and refuses what is neither.
func TestFabric(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	public := "../../simulator/infragraph/testdata/closfabric.yaml"
	configuration, graph := filepath.Join(dir, "clos.json"), filepath.Join(dir, "graph.json")
	_, trouble, code := netsim(t, "engine", "fabric", public, "--to", "configuration", "--out", configuration)
	if want := "note: link leaf-link has no latency: 100 ns is assumed\n"; code != 0 || !strings.Contains(trouble, want) {
		t.Errorf("exit code %d and %s, want %s", code, trouble, want)
	}
	_, trouble, code = netsim(t, "engine", "fabric", configuration, "--to", "infragraph", "--out", graph)
	if want := "note: application workload is left out\n"; code != 0 || !strings.Contains(trouble, want) {
		t.Errorf("exit code %d and %s, want %s", code, trouble, want)
	}
	again, trouble, code := netsim(t, "engine", "fabric", graph, "--to", "configuration")
	if code != 0 {
		t.Errorf("exit code %d: %s", code, trouble)
	}
	first, err := os.ReadFile(configuration)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), again); diff != "" || !strings.HasPrefix(again, "{\n \"name\": \"closfabric\",\n") {
		t.Errorf("the configuration read back (-want +got):\n%s", diff)
	}
	for _, to := range []string{"infragraph", "configuration"} {
		if _, trouble, code := netsim(t, "engine", "fabric", "fabric_test.go", "--to", to); code != 1 || !strings.Contains(trouble, "fabric_test.go: ") {
			t.Errorf("exit code %d and %q for a file that is no document", code, trouble)
		}
	}
}
