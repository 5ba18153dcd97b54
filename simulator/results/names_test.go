package results

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFilePrefix: for any simulation name, file names have at most 255 bytes and
// whole characters, and RecordOf finds their record. Names that the service refuses are
// among them.
func TestFilePrefix(t *testing.T) {
	t.Parallel()
	for _, character := range []string{"n", "*", "_", "-", "é", "本", "🚀", "\xff"} {
		for _, length := range []int{1, 107, 108, 199, 200, 201, 228, 255} {
			name := strings.Repeat(character, length)
			prefix := filePrefix(name)
			if n := utf8.RuneCountInString(prefix); n > 200 || n < min(length, 200) && len(prefix) <= 215-utf8.UTFMax {
				t.Errorf("%d of %q: the prefix has %d characters, want at most 200 and as many as fit", length, character, n)
			}
			if utf8.ValidString(name) != utf8.ValidString(prefix) || strings.Contains(prefix, "*") {
				t.Errorf("%d of %q: prefix %q has a part of a character or a *", length, character, prefix)
			}
			file := prefix + "-collective-percentiles-12345678.csv"
			if len(file) > 255 {
				t.Errorf("%d of %q: a file name has %d bytes, want at most 255", length, character, len(file))
			}
			if got := RecordOf(name, file); got != "collective-percentiles" {
				t.Errorf("%d of %q: record %q, want collective-percentiles", length, character, got)
			}
			if got := RecordOf(name, strings.ReplaceAll(name, "*", "_")+"-perf-0.csv"); got != "perf" {
				t.Errorf("%d of %q: record %q of a file with the uncut name, want perf", length, character, got)
			}
		}
	}
}
