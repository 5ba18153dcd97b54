package testworld

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Random returns the source of a test that draws its input by itself. Its seed is
// RAPID_SEED, as of the tests that use rapid, or a new one if that is missing or 0. The
// test logs it.
func Random(t testing.TB) *rand.Rand {
	seed := uint64(0)
	if set := os.Getenv("RAPID_SEED"); set != "" {
		var err error
		if seed, err = strconv.ParseUint(set, 0, 64); err != nil {
			t.Fatalf("RAPID_SEED: %v", err)
		}
	}
	if seed == 0 {
		seed = rand.Uint64() //nolint:gosec // a test's
	}
	t.Logf("RAPID_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test's
}
