//go:build faults

package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRestarts is not in internal/faults because it orders runs as the other tests of this
// package do.

// TestRestarts: a directory has one host at a time. A restarted host knows no runs,
// and removes the files of those before the restart.
func TestRestarts(t *testing.T) {
	p := serveNetsim(t)
	e := engineAt{t, p.url, token}
	run := e.start(e.order("endless", endless()))
	second := exec.CommandContext(t.Context(), p.cmd.Path, "engine", "serve", "--data", "data", "--listen", "127.0.0.1:0")
	second.Dir, second.Env = p.cmd.Dir, p.cmd.Env
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "another engine uses the directory") {
		t.Errorf("a second host in the directory: got %v: %s, want a refusal", err, out)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Wait() //nolint:errcheck // it was killed
	data := filepath.Join(p.cmd.Dir, "data")
	if left, _ := filepath.Glob(filepath.Join(data, "run-*")); len(left) != 1 {
		t.Errorf("the killed host has left %v, want one run", left)
	}

	p = start(t, p.cmd.Dir, p.cmd.Path, "engine", "serve", "--data", "data", "--listen", "127.0.0.1:0")
	e.url = p.url
	e.unknown(run)
	again := e.start(e.order("endless", endless()))
	e.until("the run has progressed", func() bool { return e.call("GET", "/runs/"+again, nil).want(200)["simulatedTimeNs"].(float64) > 0 })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the terminated host ended with %v, want no error", err)
	}
	left, err := os.ReadDir(data)
	names := []string{}
	for _, f := range left {
		names = append(names, f.Name())
	}
	if diff := cmp.Diff([]string{"lock"}, names); err != nil || diff != "" {
		t.Errorf("files after the end (-want +got): %v (%v)", diff, err)
	}
}
