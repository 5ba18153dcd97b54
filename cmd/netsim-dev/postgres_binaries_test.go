package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInspectRefusesAWrapperScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "postgres"), []byte("#!/bin/sh\nexec true\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := inspect(dir, nil); err == nil || !strings.Contains(err.Error(), "is not a program") {
		t.Errorf("error = %v, want one that says it is not a program", err)
	}
}

func TestCheckVersion(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		major, data int
		want        string // part of the error; empty for no error
	}{
		"new cluster":             {15, 0, ""},
		"same version":            {16, 16, ""},
		"too old":                 {14, 0, "at least 15 is needed"},
		"data of another version": {16, 15, "the data was written by PostgreSQL 15"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := binaries{dir: "/somewhere", major: test.major}.checkVersion(test.data)
			if test.want == "" && err != nil {
				t.Errorf("error = %v, want none", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
}
