package rating_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

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
