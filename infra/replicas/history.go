package replicas

import (
	"math"
	"sync"
	"time"

	"netsim/infra/projector"
)

// history has positions of the process's own database and when they were seen, so that
// the age of another database's position can be told without comparing clocks.
type history struct {
	spacing time.Duration // between two samples

	mu      sync.Mutex
	samples []sample // oldest first, at most maxSamples
}

type sample struct {
	seen     time.Time
	position projector.Position
}

const maxSamples = 16

// add records the position that the own database has now.
func (h *history) add(now time.Time, at projector.Position) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.samples); n > 0 && now.Sub(h.samples[n-1].seen) < h.spacing {
		return
	}
	if len(h.samples) == maxSamples {
		h.samples = append(h.samples[:0], h.samples[1:]...)
	}
	h.samples = append(h.samples, sample{now, at})
}

// never is the age of a position that is older than all samples.
const never = time.Duration(math.MaxInt64)

// age returns how old the position is at most: it has all that the own database had then.
func (h *history) age(now time.Time, at projector.Position) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.samples) - 1; i >= 0; i-- {
		if at.Reaches(h.samples[i].position) {
			return now.Sub(h.samples[i].seen)
		}
	}
	return never
}
