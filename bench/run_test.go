package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain runs the test's program as one of the bench's own servers when the bench
// starts it as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		exit(child(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// TestDurablePart: the smallest run of the durable part, with real servers as
// processes, measures every figure that the table of this part has.
func TestDurablePart(t *testing.T) {
	t.Parallel()
	b := smallBench(t)
	if err := b.writes(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	b.report.compare()
	var out bytes.Buffer
	if err := b.report.print(&out); err != nil {
		t.Fatal(err)
	}
	measured := map[string]figure{}
	for _, f := range b.report.Figures {
		measured[f.Name] = f
	}
	for name, limits := range map[string]int{
		"idle, CPU of service, broker and PostgreSQL": 3, "idle, memory of the service": 0,
		"one hot stream, fsync, 64 clients": 2, "create to visible, fsync, 1 client": 3, "create to visible, fsync, 64 clients": 3,
		"reactions beside 64 clients, lag of each": 0, "memory, highest under this load": 0,
	} {
		f, is := measured[name]
		idle := strings.HasPrefix(name, "idle, CPU") // its clock counts hundredths of a second
		if !is || f.Value <= 0 && !idle || f.Reach == "" || len(f.Limits) != limits || !strings.Contains(out.String(), "| "+name) {
			t.Errorf("%s is measured: %t, as %+v; want a value, a target and %d limits", name, is, f, limits)
		}
		for _, l := range f.Limits {
			if l.Value <= 0 && !idle {
				t.Errorf("%s: its limit %q is %v", name, l.Name, l.Value)
			}
		}
		delete(measured, name)
	}
	if len(measured) > 0 {
		t.Errorf("it also measures %q", slices.Sorted(maps.Keys(measured)))
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// smallBench is a bench whose measurements are as short as they can be.
func smallBench(t *testing.T) *bench {
	t.Helper()
	dir, err := os.MkdirTemp("", "netsim-bench-test-") // not the test's own, which PostgreSQL's user cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: dir, root: root, report: newReport(t.Context(), true), scale: scale{
		warm: 50 * time.Millisecond, run: 200 * time.Millisecond, limit: 50 * time.Millisecond, idle: 100 * time.Millisecond,
		clients: []int{1, 64},
	}}
	b.binaries = binaries{service: filepath.Join(dir, "netsim"), stack: os.Getenv("NETSIM_DEV_BIN")}
	if b.binaries.stack == "" {
		if b.binaries, err = build(t.Context(), root, dir); err != nil {
			t.Fatal(err)
		}
		return b
	}
	if b.binaries.self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", b.binaries.service, "netsim/cmd/netsim").CombinedOutput(); err != nil {
		t.Fatalf("build the service: %v\n%s", err, out)
	}
	return b
}
