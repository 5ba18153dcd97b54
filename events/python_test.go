//go:build tools

package events

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPythonReachesTheSameVerdicts runs verdicts.py, the implementation for
// readers outside the service, on the golden files.
func TestPythonReachesTheSameVerdicts(t *testing.T) {
	t.Parallel()
	comparePython(t, allGolden(t), verdictsFile, sealsFile, headsFile)
}

// TestPythonJoinsWithTheSameVerdicts: verdicts.py, which joins at any offset of a golden log,
// gives the verdicts of the Go code.
func TestPythonJoinsWithTheSameVerdicts(t *testing.T) {
	t.Parallel()
	var joined []goldenCase
	for _, c := range fromTheBeginning(t) {
		joined = append(joined, joinedAnywhere(t, c)...)
	}
	file := filepath.Join(t.TempDir(), "joined.json")
	write(t, file, joined)
	comparePython(t, joined, file)
}

// comparePython compares the verdicts of cases with those of verdicts.py on files.
func comparePython(t *testing.T, cases []goldenCase, files ...string) {
	t.Helper()
	var want strings.Builder
	for _, c := range cases {
		fmt.Fprintln(&want, "#", c.Name)
		for _, r := range c.Records {
			fmt.Fprintln(&want, r.Verdict, r.Hash)
		}
		fmt.Fprintln(&want, c.Facts, c.Digest)
	}
	python := exec.CommandContext(t.Context(), "python3", append([]string{"testdata/golden/verdicts.py"}, files...)...)
	var stderr bytes.Buffer
	python.Stderr = &stderr
	got, err := python.Output()
	if err != nil {
		t.Fatalf("run verdicts.py: %v\n%s", err, &stderr)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("verdicts and hashes (-Go +Python):\n%s", diff)
	}
}
