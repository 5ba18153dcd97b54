package webhooks_test

import (
	"testing"
	"time"

	"netsim/stream/webhooks"
)

// Ten attempts take three days, give or take the jitter of a tenth.
func TestTheScheduleTakesThreeDays(t *testing.T) {
	t.Parallel()
	const first = 10 * time.Second
	for _, random := range []float64{0, 0.5, 0.999} {
		var total, last time.Duration
		for attempts := 1; attempts < webhooks.MaxAttempts; attempts++ {
			pause := webhooks.PauseAfter(attempts, first, random)
			if pause < 2*last {
				t.Errorf("the pause %d is %s after one of %s", attempts, pause, last)
			}
			last = pause
			total += pause
		}
		if total < 60*time.Hour || total > 80*time.Hour {
			t.Errorf("random %v: the attempts take %s", random, total)
		}
	}
	if a, b := webhooks.PauseAfter(1, first, 0), webhooks.PauseAfter(1, first, 0.999); a < 9*time.Second || b > 11*time.Second || a >= b {
		t.Errorf("the first pause is %s to %s", a, b)
	}
}
