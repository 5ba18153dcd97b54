package webhooks

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// MaxAttempts is how often a message is attempted. With the default first pause that is
// over three days: the pauses are about 10 s, 34 s, 2 min, 7 min, 22 min, 1.3 h, 4.3 h,
// 15 h and 50 h.
const MaxAttempts = 10

const (
	growth = 3.4 // of each pause to the next
	jitter = 0.1 // the part by which a pause is shorter or longer at most

	maxRetryAfter = time.Hour
)

// pauseAfter returns how long a message waits after so many failed attempts. Random is in
// [0, 1).
func pauseAfter(attempts int, first time.Duration, random float64) time.Duration {
	pause := float64(first) * math.Pow(growth, float64(attempts-1))
	return time.Duration(pause * (1 + jitter*(2*random-1)))
}

// retryAfter reads the header Retry-After, in seconds or as a date: at most an hour, and 0
// if there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if text == "" {
		return 0
	}
	var after time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		after = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		after = at.Sub(now)
	}
	return min(max(after, 0), maxRetryAfter)
}
