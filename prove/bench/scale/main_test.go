package main

import (
	"bytes"
	"strings"
	"testing"

	"netsim/simulator/collective"
	"netsim/simulator/engine"
)

// TestMeasure: a case runs to its end, with results and without, and prints its row.
func TestMeasure(t *testing.T) {
	t.Parallel()
	w := work{"small", 8, collective.AllToAll, collective.Interleaved, engine.ECMP, engine.Lossless, 1 << 20}
	for _, bare := range []bool{true, false} {
		var out bytes.Buffer
		if err := w.measure(t.Context(), &out, bare); err != nil {
			t.Fatal(err)
		}
		if row := out.String(); !strings.HasPrefix(row, "| small | ") || !strings.Contains(row, " | 56 | ") {
			t.Errorf("bare %t: got the row %q, want one with 56 transfers", bare, row)
		}
	}
}
