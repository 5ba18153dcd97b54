package history_test

import (
	"strings"
	"testing"
	"time"

	"netsim/prove/history"
)

// op returns an operation of client n from a second to another.
func op(n int, kind history.Kind, outcome history.Outcome, from, to int, stream, name, match string) history.Operation {
	return history.Operation{
		Client: n, Kind: kind, Outcome: outcome, Call: time.Duration(from) * time.Second, Return: time.Duration(to) * time.Second,
		Stream: stream, Name: name, Match: match,
	}
}

func list(n, from, to int, seen ...string) history.Operation {
	o := op(n, history.List, history.Done, from, to, "", "", "")
	for _, s := range seen {
		stream, name, _ := strings.Cut(s, "=")
		o.Seen = append(o.Seen, history.Sight{Stream: stream, Name: name})
	}
	return o
}

// retried is an operation that the client repeated.
func retried(o history.Operation) history.Operation {
	o.Retried = true
	return o
}

// The histories are of the streams w and v, which the log has.
func TestHistories(t *testing.T) {
	t.Parallel()
	streams := map[string]history.Stream{
		"w": {Names: []string{"a", "b", "c"}, Deleted: true},
		"v": {Names: []string{"x", "y"}},
	}
	create := op(1, history.Create, history.Done, 0, 1, "w", "a", "")
	other := op(1, history.Create, history.Done, 0, 1, "v", "x", "")
	b := op(1, history.Write, history.Done, 2, 4, "w", "b", "a")
	c := op(1, history.Write, history.Done, 5, 6, "w", "c", "")
	y := op(2, history.Write, history.Done, 2, 4, "v", "y", "")
	gone := op(1, history.Delete, history.Done, 20, 21, "w", "", "")
	for _, test := range []struct {
		name   string
		ops    []history.Operation
		alone  string // part of a violation that CheckStreams finds
		across string // and CheckAcross
	}{
		{"a history without violations", []history.Operation{
			create, b, c, gone, op(2, history.Read, history.Done, 3, 4, "w", "b", ""), op(2, history.Read, history.Done, 3, 4, "w", "a", ""),
			op(3, history.Read, history.Done, 7, 8, "w", "c", ""), op(3, history.Read, history.Gone, 22, 23, "w", "", ""),
			op(3, history.Write, history.Refused, 7, 8, "w", "never", "a"), op(4, history.Write, history.Unknown, 0, 9, "w", "nothing", ""),
		}, "", ""},
		{"a read of the version before an acknowledged one", []history.Operation{create, b, c, gone, op(2, history.Read, history.Done, 7, 8, "w", "b", "")},
			"w is not linearizable", "cycle"},
		{"a read that goes back", []history.Operation{
			create, b, op(1, history.Write, history.Unknown, 5, 30, "w", "c", ""), gone,
			op(2, history.Read, history.Done, 7, 8, "w", "c", ""), op(3, history.Read, history.Done, 9, 10, "w", "b", ""),
		}, "w is not linearizable", "cycle"},
		{"a read of what was not created yet", []history.Operation{op(1, history.Create, history.Done, 5, 6, "w", "a", ""), b, c, gone, op(2, history.Read, history.Done, 0, 1, "w", "a", "")},
			"w is not linearizable", "cycle"},
		{"a refusal although the precondition held", []history.Operation{create, b, c, gone, op(2, history.Write, history.Refused, 8, 9, "w", "never", "c")},
			"w is not linearizable", ""},
		{"an acknowledged write on a precondition that did not hold", []history.Operation{
			create, b, op(1, history.Write, history.Done, 5, 6, "w", "c", "a"), gone}, "w is not linearizable", ""},
		{"an acknowledged write that the log does not have", []history.Operation{create, op(1, history.Write, history.Done, 2, 3, "w", "lost", "")},
			"the log does not have it", ""},
		{"a read of what is no fact", []history.Operation{create, op(1, history.Read, history.Done, 2, 3, "w", "dirty", "")}, "which the log does not have", ""},
		{"a refused write that the log has", []history.Operation{create, op(1, history.Write, history.Refused, 2, 3, "w", "b", "a")}, "but the log has it", ""},
		{"a repeated write that was refused although its first attempt is in the log", []history.Operation{
			create, retried(op(1, history.Write, history.Refused, 2, 3, "w", "b", "a")), op(2, history.Read, history.Done, 9, 10, "w", "b", ""),
		}, "", ""},
		{"a write of unknown outcome that is read later", []history.Operation{
			create, op(1, history.Write, history.Unknown, 2, 3, "w", "b", ""), op(2, history.Read, history.Done, 3, 4, "w", "a", ""),
			op(2, history.Read, history.Done, 9, 10, "w", "b", ""),
		}, "", ""},
		{"found after it was deleted", []history.Operation{create, b, c, gone, op(2, history.Read, history.Done, 22, 23, "w", "c", "")}, "w is not linearizable", "cycle"},
		{"not found although it is not deleted", []history.Operation{create, b, c, op(2, history.Read, history.Gone, 7, 8, "w", "", ""), gone}, "w is not linearizable", ""},
		{"a repeated deletion that finds what its first attempt has deleted", []history.Operation{
			create, b, c, retried(op(1, history.Delete, history.Gone, 20, 30, "w", "", "")), op(2, history.Read, history.Gone, 31, 32, "w", "", ""),
		}, "", ""},
		{"two lists that see two writes in different orders", []history.Operation{
			create, other, b, y,
			list(3, 2, 5, "w=a", "v=y"), list(4, 2, 5, "w=b", "v=x"),
		}, "", "cycle of 4"},
		{"two lists that see two writes in one order", []history.Operation{
			create, other, b, y,
			list(3, 2, 5, "w=a", "v=y"), list(4, 2, 5, "w=b", "v=y"), list(5, 2, 5, "w=a", "v=x"),
		}, "", ""},
		{"a list that sees a write and not one that was acknowledged before it", []history.Operation{
			create, other, op(1, history.Write, history.Done, 2, 3, "w", "b", ""), op(2, history.Write, history.Done, 4, 6, "v", "y", ""),
			list(3, 2, 7, "w=a", "v=y"),
		}, "", "cycle"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			order, errs := history.NewOrder(streams)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			want(t, "CheckStreams", history.CheckStreams(order, test.ops, time.Minute), test.alone)
			want(t, "CheckAcross", history.CheckAcross(order, test.ops), test.across)
		})
	}
}

func want(t *testing.T, check string, v history.Verdict, violation string) {
	t.Helper()
	all := strings.Join(v.Violations, "\n")
	if violation == "" && all != "" || !strings.Contains(all, violation) {
		t.Errorf("%s found %q, want %q", check, all, violation)
	}
}

// A write that is recorded twice was applied twice.
func TestANameThatWasSetTwiceIsFound(t *testing.T) {
	t.Parallel()
	if _, errs := history.NewOrder(map[string]history.Stream{"w": {Names: []string{"a", "b", "a"}}}); len(errs) != 1 {
		t.Errorf("NewOrder found %v, want one error", errs)
	}
}
