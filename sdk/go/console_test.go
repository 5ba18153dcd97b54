package netsim_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// TestTheConsolesProgramCompiles: what the pages of the console offer in Go (console/src/lib/sdk.ts)
// passes vet, all in one program.
func TestTheConsolesProgramCompiles(t *testing.T) {
	t.Parallel()
	var programs struct{ Go string }
	if err := json.Unmarshal([]byte(read(t, "../cases/console.json")), &programs); err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/main.go"
	if err := os.WriteFile(file, []byte(programs.Go+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "gofmt", "-l", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("it is not formatted: %v %s", err, out)
	}
}
