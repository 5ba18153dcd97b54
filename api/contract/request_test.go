package contract

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"netsim/fault"
)

const (
	simulation    = "/api/v1/simulations/sim_01kahcfv4ge3brkm7dy5s5h2k3"
	workspace     = "/api/v1/workspaces/workspace_01kahcfv4ge3brkm7f0v3x2m8p"
	configuration = "/api/v1/configurations/config_01kahcfv4ge3brkm7e1q8s0c9d"
	submissions   = "/api/v1/simple/simulations"
)

// refusal is the fault of a refused request. It is zero if the request passes.
type refusal struct {
	Code    fault.Code
	Message string
}

func invalid(message string) refusal { return refusal{fault.Validation, message} }

func TestSimpleSubmissions(t *testing.T) {
	t.Parallel()
	phases := func(phase string) string { return `{"workload":{"ranks":8,"phases":[` + phase + `]}}` }
	cases := []struct {
		given string
		then  refusal
	}{
		{`{"workload":{"ranks":64,"phases":[{"operationType":"allReduce","dataSize":1048576}]}}`, refusal{}},
		{`{"groups":[{"count":2,"groupSize":4,"phases":[{"operationType":"allGather","dataSize":1}]}]}`, refusal{}},
		{`{}`, refusal{}}, // the command checks that workload or groups is present
		{``, invalid("the request body is required")},
		{" \n", invalid("the request body is required")},
		{`{`, invalid("the request body is not json: it ends too early")},
		{`{"name":}`, invalid("the request body is not json at byte 9: invalid character '}' looking for beginning of value")},
		{`{} {}`, invalid("the request body must be one json value, but more follows at byte 4")},
		{`[]`, invalid("the request body must be an object, got an array")},
		{`null`, invalid("the request body must be an object, got null")},
		{`{"nmae":"x"}`, invalid("nmae is unknown; known members: groups, name, topology, topologyConstraints, workload")},
		{`{"Name":"x"}`, invalid("Name is unknown; known members: groups, name, topology, topologyConstraints, workload")},
		{`{"name":7}`, invalid("name must be a string, got 7")},
		{`{"name":null}`, invalid("name must be a string, got null")},
		{`{"name":""}`, invalid("name must be 1 to 255 letters, digits, '-', '_' or '*', beginning with a letter or digit, got ''")},
		{`{"name":"a b"}`, invalid("name must be 1 to 255 letters, digits, '-', '_' or '*', beginning with a letter or digit, got 'a b'")},
		{`{"name":"a\nb"}`, invalid(`name must be 1 to 255 letters, digits, '-', '_' or '*', beginning with a letter or digit, got 'a\nb'`)},
		{`{"workload":{"phases":[]}}`, invalid("workload.ranks is required")},
		{`{"workload":{"ranks":"8","phases":[]}}`, invalid("workload.phases must have between 1 and 1000 items, got 0")},
		{`{"workload":{"ranks":true,"phases":[{"operationType":"allReduce","dataSize":1}]}}`, invalid("workload.ranks must be an integer, got true")},
		{`{"workload":{"ranks":8.5,"phases":[{"operationType":"allReduce","dataSize":1}]}}`, invalid("workload.ranks must be an integer, got 8.5")},
		{`{"workload":{"ranks":8.0,"phases":[{"operationType":"allReduce","dataSize":1.048576e6}]}}`, refusal{}},
		{`{"workload":{"ranks":1e19,"phases":[{"operationType":"allReduce","dataSize":1}]}}`, invalid("workload.ranks must be a number of at most 64 bits, got 1e19")},
		{`{"workload":{"ranks":1e-1,"phases":[{"operationType":"allReduce","dataSize":1}]}}`, invalid("workload.ranks must be an integer, got 1e-1")},
		{`{"workload":{"ranks":0,"phases":[{"operationType":"allReduce","dataSize":1}]}}`, invalid("workload.ranks must be at least 1, got 0")},
		{`{"workload":{"ranks":99999999999999999999,"phases":[{"operationType":"allReduce","dataSize":1}]}}`, invalid("workload.ranks must be a number of at most 64 bits, got 99999999999999999999")},
		{phases(`{"operationType":"allReduce","dataSize":0}`), invalid("workload.phases[0].dataSize must be between 1 and 1099511627776, got 0")},
		{phases(`{"operationType":"allReduce","dataSize":1},{"operationType":"allReduce","dataSize":1099511627777}`), invalid("workload.phases[1].dataSize must be between 1 and 1099511627776, got 1099511627777")},
		{phases(`{"operationType":"allReduce"}`), invalid("workload.phases[0].dataSize is required")},
		{phases(`{"operationType":"allReduce","dataSize":1,"bytes":2}`), invalid("workload.phases[0].bytes is unknown; known members: algorithm, dataSize, operationType")},
		{phases(`"allReduce"`), invalid("workload.phases[0] must be an object, got 'allReduce'")},
		{`{"topologyConstraints":{"switchRadix":"32x400G"}}`, invalid("topologyConstraints.switchRadix must be one of [64x800G, 128x400G, 256x200G], got '32x400G'")},
		{`{"topology":""}`, invalid("topology must be absent, since it is reserved, got ''")},
		{phases(`{"operationType":"allReduce","algorithm":"","dataSize":1}`), invalid("workload.phases[0].algorithm must have between 1 and 64 characters, got 0")},
		{`{"groups":[{"count":0,"groupSize":4,"phases":[{"operationType":"allGather","dataSize":1}]}]}`, invalid("groups[0].count must be between 1 and 1048576, got 0")},
		{`{"topology":"` + strings.Repeat("x", 300) + `"}`, invalid("topology must be absent, since it is reserved, got '" + strings.Repeat("x", 64) + "…'")},
	}
	for _, c := range cases {
		when := httptest.NewRequest(http.MethodPost, submissions, strings.NewReader(c.given))
		when.Header.Set("Content-Type", "application/json; charset=utf-8")
		if diff := cmp.Diff(c.then, send(t, when)); diff != "" {
			t.Errorf("given %.80s (-want +got):\n%s", c.given, diff)
		}
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	sort := "sort must be a comma-separated list of created, name, status, started or completed, each followed by :asc or :desc, got "
	cases := []struct {
		method, given string
		then          refusal
	}{
		{"GET", "/api/v1/simulations?limit=100&status=bogus&search=&sort=name:asc,created:desc&createdAfter=2026-11-21T10:00:00%2B02:00", refusal{}},
		{"GET", "/api/v1/simulations?next=abc&cursor=abc", refusal{}},
		{"GET", "/api/v1/simulations?limit=0", invalid("limit must be between 1 and 100, got 0")},
		{"GET", "/api/v1/simulations?limit=101", invalid("limit must be between 1 and 100, got 101")},
		{"GET", "/api/v1/simulations?limit=", invalid("limit must be an integer, got ''")},
		{"GET", "/api/v1/simulations?limit=ten", invalid("limit must be an integer, got 'ten'")},
		{"GET", "/api/v1/simulations?limit=1&limit=2", invalid("limit is given 2 times")},
		{"GET", "/api/v1/events?type=a&type=b&since=2026-11-21T10:00:00Z", refusal{}},
		{"GET", "/api/v1/events?type=a&type=", invalid("type[1] must have between 1 and 255 characters, got 0")},
		{"GET", "/api/v1/events?type=a&family=workspaces&family=billing", invalid("family is given 2 times")},
		{"GET", "/api/v1/simulations?limit=99999999999999999999", invalid("limit must be between 1 and 100, got 99999999999999999999")},
		{"GET", "/api/v1/simulations?stauts=running", invalid("query parameter 'stauts' is unknown")},
		{"GET", "/api/v1/simulations?status=%zz", invalid("the query string is malformed")},
		{"GET", "/api/v1/simulations?workspaceId=sim_1", invalid("workspaceId must be workspace_ followed by 26 characters of lower-case base32, got 'sim_1'")},
		{"GET", "/api/v1/simulations?search=" + strings.Repeat("é", 101), invalid("search must have at most 100 characters, got 101")},
		{"GET", "/api/v1/simulations?search=a%00b", invalid("search must be utf-8 text without NUL characters")},
		{"GET", "/api/v1/simulations?search=%ff", invalid("search must be utf-8 text without NUL characters")},
		{"GET", simulation + "/logs?component=%00", invalid("component must be utf-8 text without NUL characters")},
		{"GET", "/api/v1/simulations?sort=size:asc", invalid(sort + "'size:asc'")},
		{"GET", "/api/v1/simulations?createdAfter=yesterday", invalid("createdAfter must be an RFC 3339 timestamp such as 2026-11-21T08:30:00Z, got 'yesterday'")},
		{"GET", "/api/v1/simulations?next=", invalid("next must have between 1 and 2048 characters, got 0")},
		{"GET", "/api/v1/billing/balance?limit=1001", invalid("limit must be between 1 and 1000, got 1001")},
		{"GET", "/api/v1/billing/costs?endDate=2026-11-30", invalid("startDate is required")},
		{"GET", "/api/v1/billing/costs?startDate=2026-02-30&endDate=2026-11-30", invalid("startDate must be a date such as 2026-11-21, got '2026-02-30'")},
		{"GET", "/api/v1/billing/items?status=open", invalid("status must be one of [active, closed], got 'open'")},
		{"GET", simulation + "/results/data", invalid("metric is required")},
		{"GET", simulation + "/results/data?metric=queue", invalid("metric must be one of [critical-path, nd-stats, perf, pfc, timeline], got 'queue'")},
		{"GET", simulation + "/results/data?metric=perf&tier=4", invalid("tier must be one of [all, ssw, fsw, rsw, nic, 0, 1, 2, 3], got '4'")},
		{"GET", simulation + "/logs?level=fatal", invalid("level must be one of [debug, info, warn, error], got 'fatal'")},
		{"GET", configuration + "/versions/0", invalid("version must be between 1 and 9007199254740991, got 0")},
		{"GET", configuration + "/versions/one", invalid("version must be an integer, got 'one'")},

		{"GET", "/api/v1/simulations/sim_1", invalid("sim_id must be sim_ followed by 26 characters of lower-case base32, got 'sim_1'")},
		{"GET", "/api/v1/simulations/sim_%2Fa", invalid("sim_id must be sim_ followed by 26 characters of lower-case base32, got 'sim_/a'")},
		{"GET", "/api/v1/workspaces/SIM", invalid("workspace_id must be workspace_ followed by 26 characters of lower-case base32, got 'SIM'")},
		{"GET", "/api/v1/billing/items/twelve", refusal{}}, // no item has this id (completions.md section 7)
		{"DELETE", "/api/v1/workspaces/SIM", invalid("workspace_id must be workspace_ followed by 26 characters of lower-case base32, got 'SIM'")},
		{"DELETE", "/api/v1/simulations/sim_1", invalid("sim_id must be sim_ followed by 26 characters of lower-case base32, got 'sim_1'")},
		{"POST", "/api/v1/simulations/sim_1/terminate", invalid("sim_id must be sim_ followed by 26 characters of lower-case base32, got 'sim_1'")},
		{"GET", "/api/v1/simulations/sim_01KAHCFV4GE3BRKM7DY5S5H2K3/results", invalid("sim_id must be sim_ followed by 26 characters of lower-case base32, got 'sim_01KAHCFV4GE3BRKM7DY5S5H2K3'")},
		{"GET", "/api/v1/configurations/config_8zzzzzzzzzzzzzzzzzzzzzzzzz", invalid("config_id must be config_ followed by 26 characters of lower-case base32, got 'config_8zzzzzzzzzzzzzzzzzzzzzzzzz'")},
	}
	for _, c := range cases {
		when := httptest.NewRequest(c.method, c.given, nil)
		if diff := cmp.Diff(c.then, send(t, when)); diff != "" {
			t.Errorf("given %s %s (-want +got):\n%s", c.method, c.given, diff)
		}
	}
}

func TestIdempotencyKeyIsVisibleASCII(t *testing.T) {
	t.Parallel()
	message := func(shown string) refusal {
		return invalid("Idempotency-Key must be 1 to 255 visible ASCII characters, got '" + shown + "'")
	}
	cases := []struct {
		given string
		then  refusal
	}{
		{"8f14e45f-ea5f-4c1b", refusal{}},
		{strings.Repeat("k", 255), refusal{}},
		{strings.Repeat("k", 256), message(strings.Repeat("k", 64) + "…")},
		{"", message("")},
		{"two words", message("two words")},
		{"schlüssel", message("schlüssel")},
	}
	for _, c := range cases {
		when := httptest.NewRequest(http.MethodPost, simulation+"/terminate", nil)
		when.Header.Set("Idempotency-Key", c.given)
		if diff := cmp.Diff(c.then, send(t, when)); diff != "" {
			t.Errorf("given %q (-want +got):\n%s", c.given, diff)
		}
	}
}

func TestRepeatedHeaderLinesAreOneList(t *testing.T) {
	t.Parallel()
	when := httptest.NewRequest(http.MethodGet, workspace, nil)
	when.Header["If-None-Match"] = []string{`"1"`, `"2"`}
	if got := send(t, when); got != (refusal{}) {
		t.Errorf("refused with %v", got)
	}
	if got := when.Header["If-None-Match"]; len(got) != 1 || got[0] != `"1", "2"` {
		t.Errorf("the handler gets %q, want one line of both tags", got)
	}
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	cases := []struct {
		given string
		then  refusal
	}{
		{"application/json", refusal{}},
		{"Application/JSON;charset=UTF-8", refusal{}},
		{"", refusal{fault.UnsupportedMediaType, "content type '' is not supported; use application/json"}},
		{"text/plain", refusal{fault.UnsupportedMediaType, "content type 'text/plain' is not supported; use application/json"}},
		{"application/json; charset=latin1", refusal{fault.UnsupportedMediaType, "content type 'application/json; charset=latin1' is not supported; use application/json"}},
		{"application/x-www-form-urlencoded", refusal{fault.UnsupportedMediaType, "content type 'application/x-www-form-urlencoded' is not supported; use application/json"}},
	}
	for _, c := range cases {
		when := httptest.NewRequest(http.MethodPost, submissions, strings.NewReader(`{}`))
		when.Header.Set("Content-Type", c.given)
		if diff := cmp.Diff(c.then, send(t, when)); diff != "" {
			t.Errorf("given %q (-want +got):\n%s", c.given, diff)
		}
	}
}

func TestBodiesAboveTheLimitAre413(t *testing.T) {
	t.Parallel()
	when := httptest.NewRequest(http.MethodPost, submissions, nil)
	when.Header.Set("Content-Type", "application/json")
	when.Body = http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(`{"name":"0123456789"}`)), 10)
	want := refusal{fault.PayloadTooLarge, "the request body is larger than 10 bytes"}
	if diff := cmp.Diff(want, send(t, when)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadOnlyMembersOfAPatchAreAccepted(t *testing.T) {
	t.Parallel()
	when := httptest.NewRequest(http.MethodPatch, workspace, strings.NewReader(
		`{"id":"anything","name":"research","owner":7,"createdAt":null,"modifiedAt":[],"stats":{"x":1}}`))
	when.Header.Set("Content-Type", "application/json")
	if got := send(t, when); got != (refusal{}) {
		t.Errorf("refused with %v", got)
	}
}

func TestRequestsWithoutAnOperationPass(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs", "/api/v1/nothing", "/api/v1/simulations/a/b/c"} {
		if got := send(t, httptest.NewRequest(http.MethodGet, path+"?x=1", nil)); got != (refusal{}) {
			t.Errorf("%s refused with %v", path, got)
		}
	}
}

// send sends the request through the middleware, behind a router as in the server,
// and returns its refusal.
func send(t *testing.T, r *http.Request) refusal {
	t.Helper()
	var got refusal
	fail := func(_ http.ResponseWriter, _ *http.Request, err error) {
		f, ok := errors.AsType[*fault.Fault](err)
		if !ok {
			t.Fatalf("%s %s: not a fault: %v", r.Method, r.URL, err)
		}
		got = refusal{f.Code, f.Message}
	}
	passed := false
	router := chi.NewRouter()
	router.Use(loaded(t).Check(fail))
	router.HandleFunc("/*", func(http.ResponseWriter, *http.Request) { passed = true })
	router.ServeHTTP(httptest.NewRecorder(), r)
	if passed != (got == refusal{}) {
		t.Fatalf("%s %s: refused with %v, passed %v", r.Method, r.URL, got, passed)
	}
	return got
}
