package doctor

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestMachine: settings that fit the machine are good. What it lacks is named.
func TestMachine(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := []File{{"NETSIM_POSTGRES_FILE", secret}}
	for _, c := range (Machine{Files: 1, Memory: 1, Temporary: 1, Secrets: files}).Checks() {
		want(t, c.Run(t.Context()), OK)
	}
	lacks := Machine{Files: math.MaxInt64, Memory: math.MaxInt64, Temporary: math.MaxInt64, Secrets: []File{{"NETSIM_POSTGRES_FILE", "/nowhere"}}}
	want(t, run(t, lacks.Checks(), "file descriptors"), Warn, "LimitNOFILE")
	want(t, run(t, lacks.Checks(), "memory"), Warn, "NETSIM_WORKERS")
	want(t, run(t, lacks.Checks(), "temporary files"), Warn, "TMPDIR")
	want(t, run(t, lacks.Checks(), "secret files"), Fail, "NETSIM_POSTGRES_FILE", "/nowhere")
	if err := os.Chmod(secret, 0o644); err != nil {
		t.Fatal(err)
	}
	want(t, run(t, Machine{Secrets: files}.Checks(), "secret files"), Warn, "NETSIM_POSTGRES_FILE (mode 0644)", "defaultMode")
}
