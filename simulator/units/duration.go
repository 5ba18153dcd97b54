// Package units reads and writes the service's durations, rates and sizes as
// completions.md section 1.2 spells them. Everything is integer arithmetic.
package units

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxDuration is the longest duration a request may ask for.
const MaxDuration = 24 * time.Hour

var errForm = errors.New("not a duration")

// ParseDuration reads a duration in Go form (100us, 1h30m) or ISO 8601 form
// (PT60S, P1D), greater than 0 and at most 24 h. The error's text is for the
// client; the caller puts the name of the field before it.
func ParseDuration(s string) (time.Duration, error) {
	d, err := parseAny(s)
	if err != nil {
		return 0, fmt.Errorf("must be a duration such as 10m, 100us or PT60S, got '%s'", s)
	}
	if d <= 0 || d > MaxDuration {
		return 0, fmt.Errorf("must be greater than 0 and at most 24h, got '%s'", s)
	}
	return d, nil
}

func parseAny(s string) (time.Duration, error) {
	switch {
	case s == "" || s[0] == '+' || s[0] == '-':
		return 0, errForm
	case s[0] == 'P':
		return parseISO(s[1:])
	default:
		return time.ParseDuration(s)
	}
}

// parseISO reads an ISO 8601 duration without its P: days, then after a T hours,
// minutes and seconds in this order. It refuses years, months, weeks, and
// fractions of anything but seconds.
func parseISO(s string) (time.Duration, error) {
	days, clock, hasClock := strings.Cut(s, "T")
	var total time.Duration
	if days != "" {
		n, ok := strings.CutSuffix(days, "D")
		if !ok || !isDigits(n) {
			return 0, errForm
		}
		d, err := time.ParseDuration(n + "h")
		if err != nil || d > MaxDuration {
			return MaxDuration + 1, nil
		}
		total = 24 * d
	}
	if !hasClock {
		if days == "" {
			return 0, errForm
		}
		return total, nil
	}
	if clock == "" || strings.ToUpper(clock) != clock {
		return 0, errForm
	}
	for rest := clock; rest != ""; {
		i := strings.IndexAny(rest, "HMS")
		if i < 1 || !isDigits(strings.Replace(rest[:i], ".", "", 1)) {
			return 0, errForm
		}
		unit := rest[i]
		if unit != 'S' && strings.Contains(rest[:i], ".") {
			return 0, errForm
		}
		rest = rest[i+1:]
		if strings.ContainsRune(rest, rune(unit)) || unit == 'S' && rest != "" || unit == 'M' && strings.Contains(rest, "H") {
			return 0, errForm
		}
	}
	d, err := time.ParseDuration(strings.ToLower(clock))
	if err != nil {
		return MaxDuration + 1, nil // the form is valid, so the duration is too long
	}
	if d > MaxDuration {
		return d, nil
	}
	return total + d, nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// FormatDuration writes a duration given in picoseconds with up to 6 significant
// digits, in the first unit of ns, us, ms and s that keeps it below 1000, or in s.
func FormatDuration(ps int64) string {
	return format(ps, 1_000, []string{"ns", "us", "ms", "s"})
}

// FormatRate writes a rate given in bit/s: 1.2Tbps.
func FormatRate(bps int64) string {
	return format(bps, 1, []string{"bps", "Kbps", "Mbps", "Gbps", "Tbps"})
}

// FormatSize writes a size given in bytes, decimal units: 2.5MB.
func FormatSize(bytes int64) string {
	return format(bytes, 1, []string{"B", "KB", "MB", "GB", "TB"})
}

// format writes v, rounded half up to 6 significant digits, in the first named unit
// that keeps it below 1000, or in the last one. base is the first unit; each next unit
// is 1000 times as large. v must not be negative.
func format(v, base int64, names []string) string {
	unit := 0
	for unit < len(names)-1 && roundSix(v) >= 1000*base {
		base *= 1000
		unit++
	}
	v = roundSix(v)
	text := strconv.FormatInt(v/base, 10)
	if rest := v % base; rest != 0 {
		width := len(strconv.FormatInt(base, 10)) - 1
		text += "." + strings.TrimRight(fmt.Sprintf("%0*d", width, rest), "0")
	}
	return text + names[unit]
}

// roundSix rounds v half up to 6 significant decimal digits.
func roundSix(v int64) int64 {
	step := int64(1)
	for v/step >= 1_000_000 {
		step *= 10
	}
	whole, rest := v/step, v%step
	if rest >= step-rest {
		whole++
	}
	if step == 1 {
		return v
	}
	return whole * step
}
