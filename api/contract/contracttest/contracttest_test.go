package contracttest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"netsim/api/contract/contracttest"
)

// recorder is a testing.TB that records failures instead of failing.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Error(args ...any) { r.failures = append(r.failures, fmt.Sprint(args...)) }

func TestTransportFailsTheTestOfAWrongResponse(t *testing.T) {
	t.Parallel()
	const matrix = `{"entries":[{"operationType":"scatter","allowedAlgorithms":["direct"],"defaultAlgorithm":"direct","powerOfTwoRequired":[]}]}`
	cases := []struct{ given, then string }{
		{matrix, ""},
		{`{"entries":null}`, "GetCompatibility (GET /api/v1/simple/compatibility) answered 200: entries must be an array, got null"},
		{`{"entries":[{"operationType":"scatter"}]}`, "GetCompatibility (GET /api/v1/simple/compatibility) answered 200: entries[0].allowedAlgorithms is required"},
	}
	for _, c := range cases {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, c.given)
		}))
		watched := &recorder{TB: t}
		client := http.Client{Transport: contracttest.Transport(watched, nil)}
		resp, err := client.Get(server.URL + "/api/v1/simple/compatibility")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		server.Close()
		if err != nil || string(body) != c.given {
			t.Errorf("the body became %q, %v", body, err)
		}
		if got := strings.Join(watched.failures, "; "); got != c.then {
			t.Errorf("given %s: %q, want %q", c.given, got, c.then)
		}
	}
}
