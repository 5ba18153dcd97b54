package webhooks

import "time"

// SetHook sets what happens at each step of the protocol.
func (d *Deliverer) SetHook(hook func(step string) error) { d.hook = hook }

// PauseAfter returns how long a message waits after so many failed attempts.
func PauseAfter(attempts int, first time.Duration, random float64) time.Duration {
	return pauseAfter(attempts, first, random)
}
