package tables

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

// -learn appends the columns of new members of events. It changes and removes none:
// files that were written keep their ids and names.
var learn = flag.Bool("learn", false, "seal the columns of new members of events")

// TestColumnsAreSealed: every member of every event has a column that is sealed.
func TestColumnsAreSealed(t *testing.T) {
	t.Parallel()
	_, missing := build(parse(sealed))
	if len(missing) == 0 {
		return
	}
	lines := strings.Join(missing, "\n") + "\n"
	if !*learn {
		t.Fatalf("columns that are not sealed yet (go test ./stream/tables -learn appends them):\n%s", lines)
	}
	if err := os.WriteFile("testdata/columns.txt", []byte(sealed+lines), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNamesAreUnique: a table has no two columns of one name, also for readers that
// ignore case.
func TestNamesAreUnique(t *testing.T) {
	t.Parallel()
	for _, table := range All() {
		var names []string
		for i, c := range table.Columns {
			if slices.Contains(names, strings.ToLower(c.Name)) {
				t.Errorf("%s has two columns %s", table.Name, c.Name)
			}
			names = append(names, strings.ToLower(c.Name))
			if int(c.ID) != i+1 {
				t.Errorf("%s.%s has the id %d at index %d", table.Name, c.Name, c.ID, i)
			}
		}
	}
}

// TestEverySealedColumnHasAMember: no member of an event was removed, renamed or given
// another type.
func TestEverySealedColumnHasAMember(t *testing.T) {
	t.Parallel()
	for _, table := range All() {
		for _, c := range table.Columns[frameColumns:] {
			if len(c.Events) == 0 {
				t.Errorf("no event has a member for %s.%s", table.Name, c.Name)
			}
		}
	}
}

// TestTablesAreDocumented: docs/tables.md lists the columns.
func TestTablesAreDocumented(t *testing.T) {
	t.Parallel()
	const path = "../../docs/tables.md"
	if *learn {
		if err := os.WriteFile(path, []byte(Document()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != Document() {
		t.Errorf("%s is not what go test ./stream/tables -learn writes (%v)", path, err)
	}
}

// TestAmountsAndDaysAreTyped: what docs/events.md calls a decimal or a day is one.
func TestAmountsAndDaysAreTyped(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	event, found := "", 0
	for line := range strings.Lines(string(text)) {
		if name, is := strings.CutPrefix(line, "#### "); is {
			event = strings.TrimSpace(name)
		}
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(strings.TrimSpace(cells[2]), "string") {
			continue
		}
		name, meaning := strings.Trim(cells[1], " `"), strings.TrimSpace(cells[3])
		want := Text
		switch {
		case strings.HasPrefix(meaning, "decimal"):
			want = Decimal
		case strings.HasPrefix(meaning, "YYYY-MM-DD"), name == "endDate":
			want = Date
		default:
			continue
		}
		found++
		if got := textType(event, name); got != want {
			t.Errorf("%s of %s is %q, and has the type %s", name, event, meaning, got)
		}
	}
	if found < 10 {
		t.Errorf("docs/events.md has %d decimals and days", found)
	}
}
