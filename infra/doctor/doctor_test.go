package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"netsim/internal/testwait"
)

// run returns the result of the check with the name.
func run(t *testing.T, checks []Check, name string) Result {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c.Run(t.Context())
		}
	}
	t.Fatalf("there is no check %q", name)
	return Result{}
}

// want fails the test unless the result has the status, and words in what it found and
// says to do.
func want(t *testing.T, got Result, status Status, words ...string) {
	t.Helper()
	if got.Status != status || (got.Advice == "") != (status == OK) {
		t.Errorf("got %+v, want %s", got, status)
	}
	for _, word := range words {
		if !strings.Contains(got.Finding+" "+got.Advice, word) {
			t.Errorf("got %+v, want %q in it", got, word)
		}
	}
}

// TestExamine: rows have the order of the checks; a failed gate skips the later checks of
// its component and of no other; a check that hangs fails alone.
func TestExamine(t *testing.T) {
	t.Parallel()
	good := func(context.Context) Result { return Good("fine") }
	bad := func(context.Context) Result { return Failure("mend it", "broken") }
	rows := Examine(t.Context(), []Check{
		{"a", "open", true, good}, {"b", "open", true, bad}, {"a", "first", false, bad}, {"b", "first", false, good}, {"a", "second", false, good},
	}, time.Hour)
	want := []Row{
		{"a", "open", OK, "fine", ""}, {"b", "open", Fail, "broken", "mend it"}, {"a", "first", Fail, "broken", "mend it"},
		{"b", "first", Skipped, `not checked, because the check "open" failed`, ""}, {"a", "second", OK, "fine", ""},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	hangs := make(chan struct{})
	defer close(hangs)
	rows = Examine(t.Context(), []Check{
		{"c", "hangs", false, func(context.Context) Result { testwait.Gate(t, hangs); return Good("too late") }},
		{"d", "obeys", false, func(ctx context.Context) Result {
			testwait.Gate(t, ctx.Done())
			return Failure("wait", "%v", ctx.Err())
		}},
	}, time.Millisecond)
	if rows[0].Finding != "no result within 1ms" || rows[0].Status != Fail || rows[1].Status != Fail {
		t.Errorf("checks that hang give %+v", rows)
	}
	for worst, rows := range map[Status][]Row{OK: {{Status: OK}, {Status: Skipped}}, Warn: {{Status: Warn}, {Status: OK}}, Fail: {{Status: Warn}, {Status: Fail}, {Status: OK}}} {
		if got := Worst(rows); got != worst {
			t.Errorf("the worst of %v is %s", rows, got)
		}
	}
}

func TestClocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		difference, uncertainty time.Duration
		status                  Status
		words                   string
	}{
		{time.Millisecond, time.Second, OK, "agrees"},
		{5 * time.Second, 4 * time.Second, OK, "to 5s"},
		{5 * time.Second, time.Second, Warn, "5s ahead of"},
		{-time.Minute, time.Second, Fail, "1m0s behind"},
	} {
		want(t, compareClocks(c.difference, c.uncertainty), c.status, c.words)
	}
}
