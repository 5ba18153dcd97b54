package mapping

import (
	"math"
	"strconv"
	"strings"
)

// supremum is the bound that a scaled value must stay below: 1.8446744073709552e10
// Gb/s in bit/s, and 1.8446744073709552e16 ns in ps. It is slightly above 2^64.
const supremum = "18446744073709552000"

// scaled reads a decimal of the grammar, multiplies it by 10^shift and rounds half up. A
// product that exceeds 64 bits but is below the supremum becomes 2^64-1. ok is false if the
// text is not a decimal or the product is out of range: 0 is in range, other values below 1
// are not.
func scaled(text string, shift int) (v uint64, ok bool) {
	mantissa, exponent, hasExponent := cutExponent(text)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" || !digits(whole) || !digits(fraction) {
		return 0, false
	}
	if hasExponent {
		e, ok := parseExponent(exponent)
		if !ok {
			return 0, false
		}
		shift += e
	}
	significant := strings.TrimLeft(whole+fraction, "0")
	if significant == "" {
		return 0, true
	}
	point := len(significant) - len(fraction) + shift // digits before the point
	if point < 1 || point > len(supremum) {
		return 0, false
	}
	if pad := point - len(significant); pad > 0 {
		significant += strings.Repeat("0", pad)
	}
	integral, rest := significant[:point], significant[point:]
	if point == len(supremum) && integral >= supremum {
		return 0, false
	}
	v, err := strconv.ParseUint(integral, 10, 64)
	if err != nil {
		return math.MaxUint64, true
	}
	if rest != "" && rest[0] >= '5' && v < math.MaxUint64 {
		v++
	}
	return v, true
}

func cutExponent(text string) (mantissa, exponent string, found bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

// parseExponent reads an exponent with an optional sign and clamps it to ±1000.
func parseExponent(text string) (int, bool) {
	const limit = 1000
	number := strings.TrimPrefix(text, "-")
	negative := number != text
	if !negative {
		number = strings.TrimPrefix(text, "+")
	}
	if number == "" || !digits(number) {
		return 0, false
	}
	e, err := strconv.Atoi(number)
	if err != nil || e > limit {
		e = limit
	}
	if negative {
		e = -e
	}
	return e, true
}

func digits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}
