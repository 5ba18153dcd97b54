package main

import (
	"os/exec"
	"slices"
	"testing"
)

// Every mutant applies to the sources of today, changes them, and compiles.
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
			if _, err := m.overlay(t.Context(), root, t.TempDir()); err != nil {
				t.Error(err)
			}
			for _, kind := range m.faults {
				if !slices.ContainsFunc(kinds(), func(k faultKind) bool { return k.name == kind }) {
					t.Errorf("there is no kind of fault %q", kind)
				}
			}
		})
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Error(err)
	}
}
