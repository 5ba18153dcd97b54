package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUntilEmpty: a backlog is empty after two empty polls in a row. The error names a
// backlog that never becomes empty.
func TestUntilEmpty(t *testing.T) {
	t.Parallel()
	polls := []backlog{{records: 3}, {}, {reactions: 2}, {jobs: 1}, {}, {}}
	polled := 0
	if _, err := untilEmpty(t.Context(), time.Microsecond, func() (backlog, error) { polled++; return polls[polled-1], nil }); err != nil || polled != len(polls) {
		t.Errorf("the backlog was empty after %d polls, want %d: %v", polled, len(polls), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := untilEmpty(ctx, time.Hour, func() (backlog, error) { cancel(); return backlog{reactions: 7}, nil })
	if err == nil || !strings.Contains(err.Error(), "7 reactions") {
		t.Errorf("got %v, want an error that names 7 reactions", err)
	}
}

// TestReportNamesItsCommit: the JSON report has the commit and whether the source
// differs from it, the Go version, the number of cores and the time.
func TestReportNamesItsCommit(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := newReport(t.Context(), true)
	r.add(figure{Name: "a", Value: 2, DrainedIn: 1.5})
	if err := r.save(folder); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %v, %v; want one report", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		At         time.Time
		Commit, Go string
		Changed    *bool
		Cores      int
		Figures    []struct{ DrainedInSeconds float64 }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	commit, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	want := strings.TrimSpace(string(commit))
	if err != nil {
		want = "unknown"
	}
	if got.Commit != want || got.Changed == nil || got.Go == "" || got.Cores < 1 || got.At.IsZero() || got.Figures[0].DrainedInSeconds != 1.5 {
		t.Errorf("the JSON says %s, want commit %s", text, want)
	}
}
