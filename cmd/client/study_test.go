package client_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestStudiesForPeople follows a user: a study, its points, and their drawing, which is never
// wider than the terminal.
func TestStudiesForPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.study()
	m, id := w.m, w.ids["study"]
	for pattern, args := range map[string][]string{
		`^` + id + ` completed: 2 points, 2 of 2 runs completed\n$`:                    {"study", "watch", id},
		`(?m)^STUDY +STATUS .*\n^` + id + ` +completed +2 .* radix$`:                   {"study", "list"},
		`(?m)^POINT .*\n^0 +completed +[\d.]+us +\d+(\.\d+)? .* switchRadix=64x800G$`:  {"study", "table", id},
		`(?m)^ *[\d.]+us \|.*#(.*\n)+.*\+-+\n(.*\n)+^POINT +TIME +PRICE .*\n^\d .*us `: {"study", "pareto", id},
	} {
		if out := m.wants(args...); !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("netsim %s prints\n%s\nwant %s", strings.Join(args, " "), out, pattern)
		}
	}
	for _, m.Columns = range []int{0, 40, 100} {
		width := max(m.Columns, 40)
		if m.Columns == 0 {
			width = 80
		}
		drawing, _, _ := strings.Cut(m.wants("study", "pareto", id), "\nPOINT")
		for line := range strings.Lines(drawing) {
			if n := len(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("at %d columns there is a line of %d: %s", width, n, line)
			}
		}
	}
	m.fails(2, "unknown field", "study", "start", w.written("wrong.json", `{"axis": []}`))
	m.fails(3, "404", "study", "table", "study_01kahcfv4ge3brkm7dy5s5h2k3")
}
