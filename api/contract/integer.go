package contract

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// maxDigits is the largest number of digits that whole writes out of another form, such
// as 1e3. A 64-bit integer has at most 20.
const maxDigits = 20

// whole formats a number without a fractional part as an integer, and reports
// whether it is one. JSON has one type of numbers, so 8.0 and 8e0 are 8. A number
// with more than maxDigits digits is not changed.
func whole(number json.Number) (json.Number, bool) {
	text, exponent := string(number), 0
	if !strings.ContainsAny(text, ".eE") {
		return number, true
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(text[at+1:]); err != nil {
			return number, false
		}
		text = text[:at]
	}
	text, negative := strings.CutPrefix(text, "-")
	before, after, _ := strings.Cut(text, ".")
	digits := strings.TrimRight(before+after, "0")
	significant := strings.TrimLeft(digits, "0")
	length := len(before) + exponent // digits before the decimal point
	switch {
	case significant == "":
		return "0", true
	case len(digits) > length:
		return number, false
	case len(significant)+length-len(digits) > maxDigits:
		return number, true
	}
	significant += strings.Repeat("0", length-len(digits))
	if negative {
		significant = "-" + significant
	}
	return json.Number(significant), true
}

// asInteger returns a checked value. If the schema says integer, the number gets its
// plain form, whatever form the client sent.
func (s *schema) asInteger(value any) any {
	number, ok := value.(json.Number)
	if !ok || !slices.Contains(s.types, "integer") || slices.Contains(s.types, "number") {
		return value
	}
	number, _ = whole(number)
	return number
}
