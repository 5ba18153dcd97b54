package presets_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/collective"
	"netsim/simulator/document"
	"netsim/simulator/presets"
	"netsim/simulator/topology"
)

var learn = flag.Bool("learn", false, "rewrite the golden files")

// TestSimpleDocumentsStay: simple submissions give, byte for byte, the same
// documents as in earlier releases. One document is stored as text, the others
// as hashes.
func TestSimpleDocumentsStay(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for _, radix := range topology.Radixes() {
		for _, ratio := range topology.Ratios() {
			for _, n := range []int{1, 8, 64, 100, 129, 1024, 3000, 9000} {
				s, _ := submission(t, radix, ratio, n)
				fmt.Fprintf(&lines, "%s %s %d %s\n", radix, ratio, n, hashOf(t, s))
			}
		}
	}
	for _, c := range collective.Matrix() {
		for _, algorithm := range c.AllowedAlgorithms {
			phase := collective.Phase{OperationType: c.OperationType, Algorithm: algorithm, DataSize: 1 << 20}
			s, _, err := presets.NewSimple(nil, nil, []collective.GroupSpec{{Count: 4, GroupSize: 16, Phases: []collective.Phase{phase}}})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, "%s %s %s\n", c.OperationType, algorithm, hashOf(t, s))
		}
	}
	golden(t, "testdata/simple.txt", lines.String())

	s, _ := submission(t, "64x800G", "2:1", 100)
	golden(t, "testdata/simple.json", textOf(t, s)+"\n")
}

func textOf(t *testing.T, s presets.Simple) string {
	t.Helper()
	d, err := s.Document()
	if err != nil {
		t.Fatal(err)
	}
	text, err := document.Canonical(d)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func hashOf(t *testing.T, s presets.Simple) string {
	t.Helper()
	sum := sha256.Sum256([]byte(textOf(t, s)))
	return hex.EncodeToString(sum[:])
}

// golden compares got with a file. With -learn it writes the file first.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *learn {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
