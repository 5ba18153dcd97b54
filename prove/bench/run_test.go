package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain runs one of the bench's own servers instead of the tests when the bench starts
// the test binary as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		exit(child(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// TestWrites: the smallest runs of the parts that write, with real servers as processes,
// measure every figure of these parts. Each figure has a value and the listed number of
// limits.
func TestWrites(t *testing.T) {
	t.Parallel()
	b := smallBench(t)
	for part, figures := range map[string]map[string]int{
		"durable": {
			"idle, CPU of service, broker and PostgreSQL": 3, "idle, memory of the service": 0,
			"one hot stream, fsync, 64 clients": 2, "create to visible, fsync, 1 client": 3, "create to visible, fsync, 64 clients": 3,
			"reactions beside 64 clients, lag of each": 0, "memory, highest under this load": 0,
		},
		"fast": {
			"one hot stream, no fsync, 64 clients": 2, "create to visible, no fsync, 1 client": 3, "create to visible, no fsync, 64 clients": 3,
			"one hot stream, no fsync, 1,024 callers without HTTP": 1,
		},
	} {
		b.report = newReport(t.Context(), true)
		if err := b.writes(t.Context(), part == "durable"); err != nil {
			t.Fatalf("%s: %v", part, err)
		}
		for _, f := range b.report.Figures {
			limits, is := figures[f.Name]
			idle := strings.HasPrefix(f.Name, "idle, CPU") // its clock counts hundredths of a second
			if !is || f.Value <= 0 && !idle || len(f.Limits) != limits || part == "durable" && f.Reach == "" {
				t.Errorf("%s: %+v, want a value and %d limits, expected: %t", part, f, limits, is)
			}
			for _, l := range f.Limits {
				if l.Value <= 0 && !idle {
					t.Errorf("%s: the limit %q of %s is %v", part, l.Name, f.Name, l.Value)
				}
			}
			delete(figures, f.Name)
		}
		if len(figures) > 0 {
			t.Errorf("%s does not measure %q", part, slices.Sorted(maps.Keys(figures)))
		}
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
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", root, "-o", b.binaries.service, "./cmd/netsim").CombinedOutput(); err != nil {
		t.Fatalf("build the service: %v\n%s", err, out)
	}
	return b
}
