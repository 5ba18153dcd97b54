package main

import "testing"

func TestDurationsAndSizesForPeople(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{
		-1: "", 0: "", 0.0042: "4ms", 59.9: "59s", 60: "1m 0s", 3_725: "1h 2m", 90_000: "1d 1h", 864_000: "10d 0h",
	} {
		if got := age(seconds); got != want {
			t.Errorf("age(%v) is %q, want %q", seconds, got, want)
		}
	}
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 5 << 30: "5.0 GiB", 1<<63 - 1: "8.0 EiB"} {
		if got := size(bytes); got != want {
			t.Errorf("size(%d) is %q, want %q", bytes, got, want)
		}
	}
}
