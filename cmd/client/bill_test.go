package client_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"netsim/audit"
)

// TestBillsForPeople follows a user: the costs of a period, what one follows from, and the
// proof of them, of which one digit is changed.
func TestBillsForPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.billed()
	m := w.m
	item := strings.TrimSpace(m.wants("bill", "explain", w.ids["first"], "--jq", `.[].item | select(.eventType == "cluster").billingItemId`))
	for pattern, args := range map[string][]string{
		`(?m)^DATE +ITEM .*\n(.*\n)*^total +0\.\d+ +CREDIT$`:                                                                  {"bill", "show"},
		`^item ` + item + `: cluster ` + w.ids["first"] + `, .*\nDATE .*\n\S+ +0\.\d+ +CREDIT .* cluster, .* a hour\n.* x 1 `: {"bill", "explain", item},
		`(?m)^total .*\n(.*\n)*everything agrees\n$`:                                                                          {"bill", "verify", "--save", w.path("bundle")},
	} {
		if out := m.wants(args...); !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("netsim %s prints\n%s\nwant %s", strings.Join(args, " "), out, pattern)
		}
	}
	m.fails(3, "nothing is billed for sim_none", "bill", "explain", "sim_none")
	m.fails(3, "404", "bill", "explain", "9223372036854775807")
	m.fails(2, "is not a date", "bill", "show", "--from", "today")
	m.fails(2, "--to is before --from", "bill", "verify", "--from", "2026-02-02", "--to", "2026-02-01")
	m.fails(1, "they differ", "bill", "verify", "--key", otherKey(t))

	// A service that forges a cost is found out.
	bundle := read(t, w.path("bundle"))
	digit := strings.LastIndex(bundle, `"cost":"`) + len(`"cost":"`)
	forger := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(bundle[:digit] + "7" + bundle[digit+1:]))
	}))
	t.Cleanup(forger.Close)
	m.env["NETSIM_URL"] = forger.URL
	out, code, _ := m.run("bill", "verify")
	if code != 1 || !strings.Contains(out, "FOUND line ") || !strings.HasSuffix(out, "\nnot everything agrees\n") {
		t.Errorf("a forged cost: exit %d\n%s", code, out)
	}
	if info, err := os.Stat(w.path("bundle")); err != nil || info.Size() == 0 {
		t.Error(err)
	}
}

// otherKey returns a public key that has signed nothing.
func otherKey(t *testing.T) string {
	t.Helper()
	key, err := audit.NewKey("other")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := audit.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer.Verifier
}
