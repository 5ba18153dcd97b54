package web

import (
	"testing"

	"netsim/fault"
)

// TestPreferred: the response has the media type with the largest weight, the first one
// among equals; a more specific range decides over a wider one.
func TestPreferred(t *testing.T) {
	t.Parallel()
	const sse, lines = "text/event-stream", "application/x-ndjson"
	for accept, want := range map[string]string{
		"": sse, " , ": sse, "*/*": sse, sse: sse, lines: lines,
		sse + ", " + lines:                             sse,
		sse + ";q=0.5, " + lines:                       lines,
		sse + ";q=0, */*":                              lines,
		"application/*":                                lines,
		"text/*;q=0.2, application/*;q=0.3":            lines,
		"Text/Event-Stream":                            sse,
		"*/*;q=0":                                      "",
		"application/json":                             "",
		lines + ";q=0, " + sse + ";q=0":                "",
		"*/*, " + sse + ";q=0.1, " + lines + ";q=0.01": sse,
	} {
		var given []string
		if accept != "" {
			given = []string{accept}
		}
		got, err := Preferred(withAccept(t.Context(), given), sse, lines)
		if got != want || fault.Is(err, fault.NotAcceptable) != (want == "") {
			t.Errorf("Accept: %q: %q, %v; want %q", accept, got, err, want)
		}
	}
	if got, err := Preferred(t.Context(), lines); got != lines || err != nil {
		t.Errorf("without a request: %q, %v", got, err)
	}
}
