package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Every mutant applies to the sources of today, and what it changes compiles.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	all, err := mutants()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Errorf("there are %d mutants, want at least 10", len(all))
	}
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			overlay, err := m.overlay(t.Context(), root, dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range m.files() {
				changed := filepath.Dir(file)
				build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "./"+changed)
				build.Dir = root
				if out, err := build.CombinedOutput(); err != nil {
					t.Errorf("%s does not compile: %v\n%s", changed, err, out)
				}
			}
			for _, kind := range m.faults {
				if !slices.ContainsFunc(kinds(), func(k faultKind) bool { return k.name == kind }) {
					t.Errorf("there is no kind of fault %q", kind)
				}
			}
		})
	}
}
