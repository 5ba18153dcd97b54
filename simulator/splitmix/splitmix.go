// Package splitmix implements the generator SplitMix64 and its hash (Steele, Lea and
// Flood, Fast splittable pseudorandom number generators, OOPSLA 2014). The results of
// simulations depend on every bit of its numbers.
package splitmix

import "math/bits"

// Step is added to the generator's state for each number: 2^64 over the golden ratio.
const Step = 0x9e3779b97f4a7c15

// Next advances the state and returns the next number.
func Next(state *uint64) uint64 {
	*state += Step
	return Mix(*state)
}

// Mix is the finalizer: a bijection in which every input bit affects every output
// bit. Mix(0) is 0.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Below maps x evenly to 0…n-1.
func Below(x uint64, n int) int {
	k, _ := bits.Mul64(x, uint64(n))
	return int(k)
}
