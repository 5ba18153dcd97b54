package splitmix_test

import (
	"testing"

	"netsim/simulator/splitmix"
)

// TestNext: the first numbers from the state 1234567 are those of the reference
// implementation, https://prng.di.unimi.it/splitmix64.c.
func TestNext(t *testing.T) {
	t.Parallel()
	state := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := splitmix.Next(&state); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}

// TestBelow: 64-bit numbers are mapped evenly to 0…9.
func TestBelow(t *testing.T) {
	t.Parallel()
	for x, want := range map[uint64]int{0: 0, 1 << 63: 5, 1<<64 - 1: 9} {
		if got := splitmix.Below(x, 10); got != want {
			t.Errorf("%d is mapped to %d of 10, want %d", x, got, want)
		}
	}
}
