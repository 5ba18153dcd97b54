package events

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPlainTime: plainTime accepts exactly the texts on which time.Parse and
// Format agree.
func TestPlainTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(-62_200_000_000_000, 253_402_300_800_000).Draw(t, "ms")).UTC()
		text := []byte(at.Format(TimeLayout))
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("0123456789-:.,TZ ")).Draw(t, "byte")
		}
		want, err := time.Parse(TimeLayout, string(text))
		isTime := err == nil && want.Year() >= 1 && want.Format(TimeLayout) == string(text)
		got, ok := plainTime(text)
		if ok != isTime || ok && !got.Equal(want) {
			t.Fatalf("%s: read as %v, %t; want %v, %t", text, got, ok, want, isTime)
		}
	})
}
