package rating_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

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

const vectorsFile = "testdata/vectors.json"

// learn fills in the rows of new vectors. The rows of existing vectors must never
// change.
var learn = flag.Bool("learn", false, "fill in the rows of new vectors")

// storedVectors returns the vectors in vectors.json.
func storedVectors(t *testing.T) (vectors []vector) {
	t.Helper()
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// TestVectors: package rating computes the rows of the stored vectors.
func TestVectors(t *testing.T) {
	t.Parallel()
	vectors := storedVectors(t)
	for i := range vectors {
		v := &vectors[i]
		rows := v.rated(t)
		if v.Rows == nil && *learn {
			v.Rows = rows
		}
		if diff := gocmp.Diff(v.Rows, rows); diff != "" {
			t.Errorf("%s (-vector +rated):\n%s", v.Name, diff)
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
