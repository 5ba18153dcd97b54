package wait

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Doubling returns the pauses between the attempts at something that fails: NextBackOff
// returns first, then twice as long each time, at most longest. After Reset it begins with
// first again. There is no limit on the number of attempts and no jitter; the caller sets
// RandomizationFactor to 1 for pauses at random between 0 and twice as long.
func Doubling(first, longest time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: first, Multiplier: 2, MaxInterval: longest}
}
