package rating_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"netsim/events"
	"netsim/rating"
)

// TestModelsAreDocumented: the contract and docs/rating.md list exactly the rate
// models.
func TestModelsAreDocumented(t *testing.T) {
	t.Parallel()
	contract := find(t, "../api/openapi.yaml", `(?m)^ +rateType: \{type: string, enum: \[(.*)\]\}$`)
	if diff := gocmp.Diff(rating.ModelNames(), strings.Split(contract[0], ", ")); diff != "" {
		t.Errorf("rateType of the contract (-models +contract):\n%s", diff)
	}
	page := find(t, "../docs/rating.md", "(?m)^\\| `([a-z]+)` \\| (?:q|1|the units|ceil)[^|]*\\|$")
	if diff := gocmp.Diff(rating.ModelNames(), page); diff != "" {
		t.Errorf("rateTypes of docs/rating.md (-models +page):\n%s", diff)
	}
}

// find returns the first group of every match in a file.
func find(t *testing.T, file, pattern string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		found = append(found, match[1])
	}
	if len(found) == 0 {
		t.Fatalf("%s has no match of %s", file, pattern)
	}
	return found
}

// TestManyUnits: units times the microseconds of a day may be more than an int64 has. The
// second model goes through the units one by one, so it is not asked.
func TestManyUnits(t *testing.T) {
	t.Parallel()
	day := at(t, "2026-04-15 00:00:00")
	for _, units := range []int64{1 << 20, 1 << 27, 1 << 40} {
		usage := (&book{t: t}).record("2026-04-14 12:00:00", 1, "start", units).record("2026-04-15 18:00:00", 1, "stop", 0).usage
		for kind, rate := range map[string]events.RateSet{
			rating.Unit: rate(1, rating.Unit, "4", rating.PerDay), rating.Graduated: tier(rate(1, rating.Graduated, "4", rating.PerDay), 0, 0),
			rating.Volume: tier(rate(1, rating.Volume, "4", rating.PerDay), 0, 0),
		} {
			rows := rating.Day(day, priceOn(t, day, rate), usage, rating.Newest)
			if want := fmt.Sprint(3 * units); len(rows) != 1 || rows[0].Cost != want {
				t.Errorf("%s, %d units: %+v, want %s", kind, units, rows, want)
			}
		}
	}
}
