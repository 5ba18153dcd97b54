package rating_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/events"
	"netsim/rating"
)

// vector is an entry of vectors.json: an account's usage of a rate name on one
// day, and the costs of that usage.
type vector struct {
	Name     string                 `json:"name"`
	Rule     string                 `json:"rule"`
	Day      string                 `json:"day"`
	Account  string                 `json:"account"`
	RateName string                 `json:"rateName"`
	Rates    []events.RateSet       `json:"rates"`
	Usage    []events.UsageRecorded `json:"usage"`
	Rows     []vectorRow            `json:"rows"`
}

type vectorRow struct {
	BillingItemID int64  `json:"billingItemId"`
	RateID        int64  `json:"rateId"`
	Cost          string `json:"cost"`
	Quantity      int64  `json:"quantity"`
	DayPrice      string `json:"dayPrice"`
	UnitDays      string `json:"unitDays"`
}

// rated rates the vector with package rating.
func (v *vector) rated(t testing.TB) []vectorRow {
	t.Helper()
	day, err := time.Parse(time.DateOnly, v.Day)
	if err != nil {
		t.Fatal(err)
	}
	price, err := rating.PriceOn(day, v.Account, v.RateName, v.Rates)
	if err != nil {
		t.Fatal(err)
	}
	rows := []vectorRow{}
	for _, r := range rating.Day(day, price, v.Usage, func(int64) string { return v.Rule }) {
		rows = append(rows, vectorRow{r.BillingItemID, r.RateID, r.Cost, r.Quantity, r.DayPrice, r.UnitDays})
	}
	return rows
}

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

const vectorsFile = "testdata/vectors.json"

// learn fills in the rows of new vectors. The rows of existing vectors must never
// change.
var learn = flag.Bool("learn", false, "fill in the rows of new vectors")

// TestVectors: package rating and rerate.py both compute the rows of the stored
// vectors.
func TestVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	fromPython := python(t, vectors)
	for i := range vectors {
		v := &vectors[i]
		rows := v.rated(t)
		if v.Rows == nil && *learn {
			v.Rows = rows
		}
		if diff := gocmp.Diff(v.Rows, rows); diff != "" {
			t.Errorf("%s (-vector +rated):\n%s", v.Name, diff)
		}
		if diff := gocmp.Diff(v.Rows, fromPython[i]); diff != "" {
			t.Errorf("%s (-vector +python):\n%s", v.Name, diff)
		}
	}
	if *learn {
		text, err := json.MarshalIndent(vectors, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorsFile, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
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
