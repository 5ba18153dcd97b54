package units_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"netsim/simulator/units"
)

// Durations are read in Go form and ISO 8601 form.
func TestParseDuration(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"100us": 100 * time.Microsecond, "10m": 10 * time.Minute, "1h30m": 90 * time.Minute,
		"60s": time.Minute, "24h": 24 * time.Hour, "1ns": 1, "1.5s": 1500 * time.Millisecond,
		"PT60S": time.Minute, "PT1H30M": 90 * time.Minute, "P1D": 24 * time.Hour,
		"P0DT1H": time.Hour, "PT0.5S": 500 * time.Millisecond, "PT24H": 24 * time.Hour,
	} {
		got, err := units.ParseDuration(in)
		if err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", in, got, err, want)
		}
	}
}

// Other forms and durations out of bounds are refused.
func TestParseDurationRefuses(t *testing.T) {
	t.Parallel()
	const form, bounds = "must be a duration such as 10m, 100us or PT60S", "must be greater than 0 and at most 24h"
	for in, want := range map[string]string{
		"": form, "10": form, "ten": form, "-1s": form, "+1s": form, "1d": form,
		"P": form, "PT": form, "P1W": form, "P1Y": form, "PT1M1H": form, "PT1S1S": form,
		"PT1.5M": form, "P1DT": form, "PT-1S": form, "pt60s": form, "PT60s": form, "P1H": form,
		"PT.S": form, "0s": bounds, "PT0S": bounds, "24h1ns": bounds, "P1DT1S": bounds, "P2D": bounds,
		"P99999999999999999999D": bounds, "PT99999999999999999999S": bounds,
	} {
		_, err := units.ParseDuration(in)
		if err == nil || err.Error() != want+", got '"+in+"'" {
			t.Errorf("%q: got error %v, want %s", in, err, want+", got '"+in+"'")
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{units.FormatDuration(2_500_000_000), "2.5ms"},
		{units.FormatDuration(875_000_000), "875us"},
		{units.FormatDuration(60_000_000_000_000), "60s"},
		{units.FormatDuration(3_600_000_000_000_000), "3600s"},
		{units.FormatDuration(0), "0ns"},
		{units.FormatDuration(500), "0.5ns"},
		{units.FormatDuration(999_999_600), "1ms"},
		{units.FormatDuration(123_456_789), "123.457us"},
		{units.FormatRate(1_200_000_000_000), "1.2Tbps"},
		{units.FormatRate(999), "999bps"},
		{units.FormatSize(2_500_000), "2.5MB"},
		{units.FormatSize(1), "1B"},
		{units.FormatSize(1_234_567), "1.23457MB"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// A formatted duration is parsed to the same duration.
func TestParseDurationOfFormatted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1, 999_999).Draw(t, "ns"))
		got, err := units.ParseDuration(units.FormatDuration(int64(d) * 1000))
		if err != nil || got != d {
			t.Fatalf("%v is parsed as %v, %v", d, got, err)
		}
	})
}
