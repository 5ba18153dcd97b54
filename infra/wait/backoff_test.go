package wait_test

import (
	"slices"
	"testing"
	"time"

	"netsim/infra/wait"
)

func TestPausesDoubleUpToTheLongest(t *testing.T) {
	t.Parallel()
	pauses := wait.Doubling(50*time.Millisecond, 300*time.Millisecond)
	for range 2 {
		var got []time.Duration
		for range 5 {
			got = append(got, pauses.NextBackOff()/time.Millisecond)
		}
		if want := []time.Duration{50, 100, 200, 300, 300}; !slices.Equal(got, want) {
			t.Errorf("the pauses are %d ms, want %d", got, want)
		}
		pauses.Reset()
	}
}

func TestPausesAtRandomAreAtMostTwiceAsLong(t *testing.T) {
	t.Parallel()
	for range 100 {
		pauses := wait.Doubling(time.Millisecond, 4*time.Millisecond)
		pauses.RandomizationFactor = 1
		for _, most := range []time.Duration{2, 4, 8, 8} {
			if got := pauses.NextBackOff(); got < 0 || got > most*time.Millisecond {
				t.Errorf("paused for %s, want at most %d ms", got, most)
			}
		}
	}
}
