package table_test

import (
	"strings"
	"testing"

	"netsim/cmd/table"
)

func TestSizesForPeople(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 30: "5.0 GiB", 1<<63 - 1: "8.0 EiB"} {
		if got := table.Size(bytes); got != want {
			t.Errorf("Size(%d) is %q, want %q", bytes, got, want)
		}
	}
}

// TestATableIsForPeople: cells are aligned, none is empty, and none controls the terminal.
func TestATableIsForPeople(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := table.Write(&out, "nothing", "ID NAME", [][]string{{"1", ""}, {"20", "a\x1b[2J"}}); err != nil {
		t.Fatal(err)
	}
	if want := "ID  NAME\n1   -\n20  a [2J\n"; out.String() != want {
		t.Errorf("the table is %q, want %q", out.String(), want)
	}
	out.Reset()
	if err := table.Write(&out, "nothing", "ID", nil); err != nil || out.String() != "nothing\n" {
		t.Errorf("without rows it is %q, %v", out.String(), err)
	}
}
