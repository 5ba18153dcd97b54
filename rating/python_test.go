//go:build tools

package rating_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/rating"
)

// python rates the vectors with rerate.py, which was written from docs/rating.md
// alone.
func python(t *testing.T, vectors []vector) (rows [][]vectorRow) {
	t.Helper()
	given, err := json.Marshal(vectors)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "python3", "testdata/rerate.py")
	command.Stdin, command.Stderr = bytes.NewReader(given), t.Output()
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(output, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestPythonRatesTheVectors: rerate.py computes the rows of the stored vectors.
func TestPythonRatesTheVectors(t *testing.T) {
	t.Parallel()
	vectors := storedVectors(t)
	for i, rows := range python(t, vectors) {
		if diff := gocmp.Diff(vectors[i].Rows, rows); diff != "" {
			t.Errorf("%s (-vector +python):\n%s", vectors[i].Name, diff)
		}
	}
}

// TestThePageIsEnough: a program that was written from docs/rating.md alone and
// package rating compute the same rows for random days.
func TestThePageIsEnough(t *testing.T) {
	t.Parallel()
	drawn := rapid.Custom(func(t *rapid.T) vector {
		day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 1000).Draw(t, "day"))
		return vector{
			Rule: rapid.SampledFrom([]string{rating.Rule1, rating.EngineVersion}).Draw(t, "rule"),
			Day:  day.Format(time.DateOnly), Account: "acct_1", RateName: "cluster", Rates: anyRates(t), Usage: anyUsage(t, day),
		}
	})
	vectors := make([]vector, 400)
	for i := range vectors {
		vectors[i] = drawn.Example(i)
	}
	for i, rows := range python(t, vectors) {
		v := &vectors[i]
		if diff := gocmp.Diff(v.rated(t), rows); diff != "" {
			text, _ := json.Marshal(v)
			t.Errorf("%s\n(-rated +python):\n%s", text, diff)
		}
	}
}
