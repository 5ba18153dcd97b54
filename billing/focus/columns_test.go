package focus_test

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"netsim/billing/focus"
)

// supported returns the applicability criteria of FOCUS that are true of this
// service.
func supported() []string {
	return []string{
		"BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED", "NEGOTIATED_PRICING_SUPPORTED",
		"PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED", "PUBLIC_PRICE_LIST_SUPPORTED", "RESOURCE_TYPE_ASSIGNMENT_SUPPORTED",
		"SUB_ACCOUNT_SUPPORTED", "TAGGING_SUPPORTED", "UNIT_PRICING_SUPPORTED", "USAGE_MEASUREMENT_SUPPORTED", "VIRTUAL_CURRENCY_SUPPORTED",
	}
}

// specified is a column of the specification.
type specified struct {
	presence string
	when     []string // the criteria that make a conditional column required
	kind     focus.Type
	nullable bool
	values   []string // allowed ones; nil for any
}

func specification(t *testing.T) map[string]specified {
	t.Helper()
	file, err := os.Open("testdata/columns-1.2.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	in := csv.NewReader(file)
	in.Comment = '#'
	rows, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]specified{}
	for _, r := range rows[1:] {
		all[r[0]] = specified{r[1], list(r[2]), focus.Type(r[3]), r[4] == "yes", list(r[5])}
	}
	if len(all) != 57 {
		t.Fatalf("%d columns, want the 57 of FOCUS 1.2", len(all))
	}
	return all
}

func list(joined string) []string {
	if joined == "" {
		return nil
	}
	return strings.Split(joined, "|")
}

// TestColumns checks the columns against the specification: every required column
// is present, has the specified type, and is nullable only if the specification
// allows null.
func TestColumns(t *testing.T) {
	t.Parallel()
	spec := specification(t)
	have := map[string]focus.Column{}
	var names []string
	for _, c := range focus.Columns() {
		have[c.Name] = c
		names = append(names, c.Name)
		s, standard := spec[c.Name]
		switch {
		case !standard && !strings.HasPrefix(c.Name, "x_"):
			t.Errorf("%s is not a column of FOCUS, and does not begin with x_", c.Name)
		case standard && c.Type != s.kind:
			t.Errorf("%s has type %s, want %s", c.Name, c.Type, s.kind)
		case standard && c.Nullable && !s.nullable:
			t.Errorf("%s may be null, which FOCUS forbids", c.Name)
		}
	}
	if !slices.IsSorted(names) {
		t.Error("the columns are not sorted by name: their order would differ between Parquet and CSV")
	}
	for name, s := range spec {
		required := s.presence != "conditional" || !slices.ContainsFunc(s.when, func(c string) bool { return !slices.Contains(supported(), c) })
		if _, ok := have[name]; required && !ok {
			t.Errorf("column %s, which is %s, is missing", name, s.presence)
		}
	}
}

// TestSchemaID: other columns give another schema id. A change of the columns
// must also change schemaCreated in metadata.go.
func TestSchemaID(t *testing.T) {
	t.Parallel()
	columns := focus.Columns()
	if got, want := focus.SchemaID(columns), "netsim-focus-1.2-a92e212644aa"; got != want {
		t.Errorf("schema id %s, want %s: after a change of the columns, set schemaCreated to today", got, want)
	}
	if focus.SchemaID(columns[1:]) == focus.SchemaID(columns) {
		t.Error("the id does not depend on the columns")
	}
}
