package rating

import (
	"fmt"

	"github.com/cockroachdb/apd/v3"
)

// Parse accepts only finite and short decimals, so that their sums and products
// are exact and cannot fail.

func newDecimal(coefficient int64, exponent int32) *apd.Decimal {
	return apd.New(coefficient, exponent)
}

func add(a, b *apd.Decimal) *apd.Decimal {
	sum := new(apd.Decimal)
	_, _ = apd.BaseContext.Add(sum, a, b)
	return sum
}

func sub(a, b *apd.Decimal) *apd.Decimal {
	difference := new(apd.Decimal)
	_, _ = apd.BaseContext.Sub(difference, a, b)
	return difference
}

// Times returns the exact product of two decimals from Parse.
func Times(a, b *apd.Decimal) *apd.Decimal {
	product := new(apd.Decimal)
	_, _ = apd.BaseContext.Mul(product, a, b)
	return product
}

// share returns a·k/n rounded half to even at 12 decimals. The quotient is computed
// to 60 digits first. With n below 2^20 these are enough to tell a tie from any
// other quotient.
func share(a *apd.Decimal, k, n int64) *apd.Decimal {
	c := apd.BaseContext.WithPrecision(60)
	c.Rounding = apd.RoundHalfEven
	quotient := new(apd.Decimal)
	_, _ = c.Quo(quotient, Times(a, newDecimal(k, 0)), newDecimal(n, 0))
	_, _ = c.Quantize(quotient, quotient, -12)
	return quotient
}

// plain formats a decimal without an exponent and without trailing zeros.
func plain(d *apd.Decimal) string {
	reduced := new(apd.Decimal)
	reduced.Reduce(d)
	if reduced.IsZero() {
		return "0"
	}
	return reduced.Text('f')
}

// Add returns the exact sum of two decimal strings.
func Add(a, b string) (string, error) { return combine(a, b, add) }

// Sub returns the exact difference of two decimal strings.
func Sub(a, b string) (string, error) { return combine(a, b, sub) }

func combine(a, b string, op func(a, b *apd.Decimal) *apd.Decimal) (string, error) {
	x, err := Parse(a)
	if err != nil {
		return "", err
	}
	y, err := Parse(b)
	if err != nil {
		return "", err
	}
	return plain(op(x, y)), nil
}

// Equal reports whether two decimal strings are the same number.
func Equal(a, b string) bool {
	x, errX := Parse(a)
	y, errY := Parse(b)
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

// The most decimals (completions 1.2) and digits of an amount. Within them, no
// operation of this package comes near the limits of apd.
const (
	maxDecimals = 18
	maxDigits   = 38
)

// Parse parses an amount: a decimal without an exponent, with at most 18 decimals
// and 40 characters.
func Parse(s string) (*apd.Decimal, error) {
	for _, c := range s {
		if (c < '0' || c > '9') && c != '.' && c != '-' {
			return nil, fmt.Errorf("%q is not a decimal number", s)
		}
	}
	d, _, err := apd.NewFromString(s)
	if err != nil || len(s) > maxDigits+2 || d.Exponent < -maxDecimals {
		return nil, fmt.Errorf("%q is not a decimal number of at most %d decimals", s, maxDecimals)
	}
	return d, nil
}

// Sum is an exact sum of decimal strings; its zero value is 0.
type Sum struct{ total apd.Decimal }

// Add adds a decimal string.
func (s *Sum) Add(amount string) error {
	d, err := Parse(amount)
	if err != nil {
		return err
	}
	_, _ = apd.BaseContext.Add(&s.total, &s.total, d)
	return nil
}

// AddTimes adds a decimal string, multiplied by times.
func (s *Sum) AddTimes(amount string, times int64) error {
	d, err := Parse(amount)
	if err != nil {
		return err
	}
	_, _ = apd.BaseContext.Add(&s.total, &s.total, Times(d, newDecimal(times, 0)))
	return nil
}

// String returns the sum without an exponent and without trailing zeros.
func (s *Sum) String() string { return plain(&s.total) }
