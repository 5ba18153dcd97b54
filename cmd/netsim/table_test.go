package main

import "testing"

func TestDurationsForPeople(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{
		-1: "", 0: "", 0.0042: "4ms", 59.9: "59s", 60: "1m 0s", 3_725: "1h 2m", 90_000: "1d 1h", 864_000: "10d 0h",
	} {
		if got := age(seconds); got != want {
			t.Errorf("age(%v) is %q, want %q", seconds, got, want)
		}
	}
}
