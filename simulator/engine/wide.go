package engine

import (
	"math"
	"math/big"
	"math/bits"
)

// picoseconds in a second.
const picoseconds = 1_000_000_000_000

// work is an amount of data left to send, in units of 10⁻¹² bit, 128 bits wide. A rate
// in bit/s times a time in picoseconds is a whole number of these units, so what is left
// at a change of rate is exact.
type work struct{ hi, lo uint64 }

func workOf(bitCount int64) work {
	hi, lo := bits.Mul64(uint64(bitCount), picoseconds)
	return work{hi, lo}
}

// after returns what is left after sending at rate for ps, at least 0.
func (w work) after(rate, ps int64) work {
	hi, lo := bits.Mul64(uint64(rate), uint64(ps))
	lo, borrow := bits.Sub64(w.lo, lo, 0)
	hi, borrow = bits.Sub64(w.hi, hi, borrow)
	if borrow != 0 {
		return work{}
	}
	return work{hi, lo}
}

// duration returns the time in picoseconds, rounded up, that the work takes at rate
// bit/s, at most never.
func (w work) duration(rate int64) int64 {
	if w.hi >= uint64(rate) {
		return never
	}
	q, r := bits.Div64(w.hi, w.lo, uint64(rate))
	if r != 0 {
		q++
	}
	return int64(min(q, never))
}

// bits returns the work in whole bits, rounded up.
func (w work) bits() int64 {
	q, r := bits.Div64(w.hi, w.lo, picoseconds)
	if r != 0 {
		q++
	}
	return int64(q)
}

// mulDiv returns floor(a·b/c), saturated.
func mulDiv(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxUint64
	}
	q, _ := bits.Div64(hi, lo, c)
	return q
}

// Sum is a sum of times, 128 bits wide. Billions of transfers of several hours each do
// not overflow it.
type Sum struct{ Hi, Lo uint64 }

// Add adds a time.
func (s *Sum) Add(ps int64) {
	var carry uint64
	s.Lo, carry = bits.Add64(s.Lo, uint64(ps), 0)
	s.Hi += carry
}

// Mean returns the sum divided by n, rounded down; 0 if n is 0.
func (s *Sum) Mean(n int64) int64 {
	if n == 0 || s.Hi >= uint64(n) {
		return 0
	}
	q, _ := bits.Div64(s.Hi, s.Lo, uint64(n))
	return int64(q)
}

// Big returns the sum as a big.Int.
func (s *Sum) Big() *big.Int {
	b := new(big.Int).SetUint64(s.Hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(s.Lo))
}
