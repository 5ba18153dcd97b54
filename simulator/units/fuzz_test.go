package units

import "testing"

// FuzzParseDuration reads any text. A duration is within its bounds.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"100us", "1h30m", "PT60S", "P1D", "P1DT0.5S", "PT", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDuration(s); err == nil && (d <= 0 || d > MaxDuration) {
			t.Errorf("%q is %s", s, d)
		}
	})
}
