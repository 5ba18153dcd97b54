package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"netsim/fault"
)

const (
	jsonType    = "application/json"
	pageType    = "text/html; charset=utf-8"
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

// WantsPage reports whether a request is a browser's for a page: it reads, and its Accept
// header names HTML.
func WantsPage(r *http.Request) bool {
	field := strings.Join(r.Header.Values("Accept"), ",")
	return safe(r.Method) && len(field) <= maxAccept && quality(field, "text/html") > 0
}

// Page returns the page that shows an error.
type Page = func(status int, message string) []byte

// Pages makes Fail answer the requests of browsers for a page with one. It must be inside
// Identify.
func Pages(page Page) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if WantsPage(r) {
				note(r.Context(), func(n *request) { n.page = page })
			}
			next.ServeHTTP(w, r)
		})
	}
}

// pageOf returns what shows the error of a request as a page, nil for none.
func pageOf(r *http.Request) (page Page) {
	note(r.Context(), func(n *request) { page = n.page })
	return page
}

type acceptKey struct{}

// withAccept returns a context with the Accept header of a request.
func withAccept(ctx context.Context, accept []string) context.Context {
	return context.WithValue(ctx, acceptKey{}, strings.Join(accept, ","))
}

// Preferred returns which of the media types the request of a streamed response
// prefers, the first of those with the same weight. The error is NotAcceptable when
// the request accepts none of them.
func Preferred(ctx context.Context, mediaTypes ...string) (string, error) {
	field, _ := ctx.Value(acceptKey{}).(string)
	if strings.Trim(field, ", ") == "" || len(field) > maxAccept {
		return mediaTypes[0], nil
	}
	best, most := "", 0
	for _, mediaType := range mediaTypes {
		family, _, _ := strings.Cut(mediaType, "/")
		weight := 0
		for _, name := range []string{mediaType, family + "/*", "*/*"} { // the most specific one counts
			if given, named := weightOf(field, name); named {
				weight = given
				break
			}
		}
		if weight > most {
			best, most = mediaType, weight
		}
	}
	if best == "" {
		return "", fault.New(fault.NotAcceptable, "the response is %s; the request accepts neither", strings.Join(mediaTypes, " or "))
	}
	return best, nil
}

// quality returns the weight, in thousandths, with which the Accept field names the
// media type, or 0 if it does not name it.
func quality(field, mediaType string) int {
	best, _ := weightOf(field, mediaType)
	return best
}

// weightOf is quality, and reports whether the field names the media type.
func weightOf(field, mediaType string) (best int, named bool) {
	for element := range strings.SplitSeq(field, ",") {
		name, parameters, _ := strings.Cut(element, ";")
		if strings.EqualFold(strings.TrimSpace(name), mediaType) {
			best, named = max(best, weight(parameters)), true
		}
	}
	return best, named
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
