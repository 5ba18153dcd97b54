package web

import (
	"strconv"
	"strings"
)

const (
	jsonType    = "application/json"
	problemType = "application/problem+json"

	maxAccept = 1 << 10 // bytes; a longer Accept header is ignored
)

// wantsProblem reports whether the Accept header asks for problem details: it names
// their media type with at least the weight of application/json. Wildcards do not
// count, so */* gets the contract's error envelope.
func wantsProblem(accept []string) bool {
	field := strings.Join(accept, ",")
	if len(field) > maxAccept {
		return false
	}
	problem, json := quality(field, problemType), quality(field, jsonType)
	return problem > 0 && problem >= json
}

// quality returns the weight, in thousandths, with which the Accept field names the
// media type, or 0 if it does not name it.
func quality(field, mediaType string) int {
	best := 0
	for element := range strings.SplitSeq(field, ",") {
		name, parameters, _ := strings.Cut(element, ";")
		if strings.EqualFold(strings.TrimSpace(name), mediaType) {
			best = max(best, weight(parameters))
		}
	}
	return best
}

// weight returns the parameter q in thousandths (RFC 9110 section 12.4.2), or 0 if
// it is malformed.
func weight(parameters string) int {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		q, err := strconv.ParseFloat(value, 64)
		if err != nil || !(q >= 0 && q <= 1) || len(value) > len("0.000") {
			return 0
		}
		return int(q*1000 + 0.5)
	}
	return 1000
}
