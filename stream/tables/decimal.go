package tables

import "math/bits"

// Amount is a decimal in units of 10^-Scale: two's complement, 128 bits.
type Amount struct{ Hi, Lo uint64 }

// parseAmount reads a decimal such as -12.50, and reports whether the text is one and
// fits.
func parseAmount(text []byte) (a Amount, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	places, digits, point := 0, 0, false
	for _, c := range text {
		switch {
		case c == '.' && !point && digits > 0:
			point = true
			continue
		case c < '0' || c > '9':
			return Amount{}, false
		}
		digits++
		if point {
			if places++; places > Scale {
				if c != '0' {
					return Amount{}, false
				}
				continue
			}
		}
		if ok = a.shift(uint64(c - '0')); !ok {
			return Amount{}, false
		}
	}
	if digits == 0 || (point && places == 0) {
		return Amount{}, false
	}
	for ; places < Scale; places++ {
		if ok = a.shift(0); !ok {
			return Amount{}, false
		}
	}
	if negative {
		a = a.negated()
	}
	return a, true
}

// The upper and lower half of 10^Precision.
const (
	limitHi = 0x4B3B4CA85A86C47A
	limitLo = 0x098A224000000000
)

func (a Amount) timesTen() Amount {
	hi, lo := bits.Mul64(a.Lo, 10)
	return Amount{a.Hi*10 + hi, lo}
}

// shift appends a digit, and reports whether the amount still has at most Precision
// digits.
func (a *Amount) shift(digit uint64) bool {
	if a.Hi > limitHi/10 { // ten times as much is at least limit, and may not fit
		return false
	}
	next := a.timesTen()
	var carry uint64
	next.Lo, carry = bits.Add64(next.Lo, digit, 0)
	next.Hi += carry
	*a = next
	return next.less(Amount{limitHi, limitLo})
}

func (a Amount) less(b Amount) bool {
	return a.Hi < b.Hi || (a.Hi == b.Hi && a.Lo < b.Lo)
}

func (a Amount) negated() Amount {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, a.Hi, borrow)
	return Amount{hi, lo}
}

func (a Amount) negative() bool { return int64(a.Hi) < 0 }

// Compare returns -1, 0 or 1 as a is less than, equal to or greater than b.
func (a Amount) Compare(b Amount) int {
	switch {
	case a == b:
		return 0
	case int64(a.Hi) < int64(b.Hi), a.Hi == b.Hi && a.Lo < b.Lo:
		return -1
	}
	return 1
}

// append appends the decimal with all its places: -12.500000000000000000.
func (a Amount) append(dst []byte) []byte {
	if a.negative() {
		dst = append(dst, '-')
		a = a.negated()
	}
	var digits [Precision]byte
	for i := len(digits) - 1; i >= 0; i-- {
		var rest uint64
		a.Hi, rest = a.Hi/10, a.Hi%10
		a.Lo, rest = bits.Div64(rest, a.Lo, 10)
		digits[i] = byte('0' + rest)
	}
	from := 0
	for from < Precision-Scale-1 && digits[from] == '0' {
		from++
	}
	dst = append(dst, digits[from:Precision-Scale]...)
	dst = append(dst, '.')
	return append(dst, digits[Precision-Scale:]...)
}

// String returns the decimal with all its places.
func (a Amount) String() string { return string(a.append(nil)) }
