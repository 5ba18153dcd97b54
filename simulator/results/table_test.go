package results

import (
	"math"
	"testing"
)

func TestAppendFixed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v        int64
		decimals int
		want     string
	}{
		{0, 0, "0"}, {-7, 0, "-7"}, {0, 12, "0.000000000000"}, {1, 6, "0.000001"}, {-1_500_000, 6, "-1.500000"},
		{math.MaxInt64, 3, "9223372036854775.807"}, {math.MinInt64, 18, "-9.223372036854775808"},
	} {
		if got := string(appendFixed(nil, c.v, c.decimals)); got != c.want {
			t.Errorf("%d with %d decimals is %s, want %s", c.v, c.decimals, got, c.want)
		}
	}
}
