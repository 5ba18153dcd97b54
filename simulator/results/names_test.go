package results

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFilePrefix: whatever a name is, the names of its files fit between two
// slashes, are whole characters, and lead back to their record. Orders from
// elsewhere may have names that the service's rule does not accept.
func TestFilePrefix(t *testing.T) {
	t.Parallel()
	for _, character := range []string{"n", "*", "_", "-", "é", "本", "🚀", "\xff"} {
		for _, length := range []int{1, 107, 108, 199, 200, 201, 228, 255} {
			name := strings.Repeat(character, length)
			prefix := filePrefix(name)
			if n := utf8.RuneCountInString(prefix); n > 200 || n < min(length, 200) && len(prefix) <= 215-utf8.UTFMax {
				t.Errorf("%d of %q: %d characters", length, character, n)
			}
			if utf8.ValidString(name) != utf8.ValidString(prefix) || strings.Contains(prefix, "*") {
				t.Errorf("%d of %q: %q", length, character, prefix)
			}
			file := prefix + "-collective-percentiles-12345678.csv"
			if len(file) > 255 {
				t.Errorf("%d of %q: a file's name has %d bytes", length, character, len(file))
			}
			if got := RecordOf(name, file); got != "collective-percentiles" {
				t.Errorf("%d of %q: the record is %q", length, character, got)
			}
			if got := RecordOf(name, strings.ReplaceAll(name, "*", "_")+"-perf-0.csv"); got != "perf" {
				t.Errorf("%d of %q: the record of a file from before is %q", length, character, got)
			}
		}
	}
}
