package chakra_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"netsim/simulator/chakra"
)

// nodesOf reads a trace. Offsets are those of a file, and are left out.
func nodesOf(t *testing.T, text []byte) (meta chakra.Metadata, nodes []chakra.Node) {
	t.Helper()
	r, err := chakra.NewReader(bytes.NewReader(text), chakra.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		n, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Metadata(), nodes
		}
		if err != nil {
			t.Fatal(err)
		}
		c := *n
		c.Offset, c.Data, c.Control = 0, append([]uint64{}, n.Data...), append([]uint64{}, n.Control...)
		nodes = append(nodes, c)
	}
}

// TestWriteBinary: every public trace, in whatever form, has the same nodes after it was
// written in the binary form, and writing it once more gives the same bytes.
func TestWriteBinary(t *testing.T) {
	t.Parallel()
	var files []string
	for _, folder := range []string{"microbench", "collectives", "gzip", "json", "ring", "pytorch", "graph"} {
		found, err := filepath.Glob("testdata/" + folder + "/*")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no files (%v)", folder, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			t.Fatal(err)
		}
		write := func(from []byte) []byte {
			r, err := chakra.NewReader(bytes.NewReader(from), chakra.Limits{})
			if err != nil {
				t.Fatal(file, err)
			}
			var out bytes.Buffer
			if _, err := chakra.WriteBinary(&out, r); err != nil {
				t.Fatal(file, err)
			}
			return out.Bytes()
		}
		first := write(text)
		meta, nodes := nodesOf(t, text)
		written, again := nodesOf(t, first)
		if diff := cmp.Diff(nodes, again); diff != "" || meta != written || len(nodes) == 0 {
			t.Errorf("%s: %d nodes, the metadata %v and then %v (-read +written):\n%.2000s", file, len(nodes), meta, written, diff)
		}
		if second := write(first); !slices.Equal(first, second) {
			t.Errorf("%s: written twice, it has other bytes", file)
		}
	}
}
