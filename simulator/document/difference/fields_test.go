package difference_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"netsim/simulator/document/difference"
)

func TestFields(t *testing.T) {
	t.Parallel()
	got, err := difference.Fields(
		[]byte(`{"groups":[{"count":1,"phases":[{"dataSize":1024,"operationType":"allReduce"}]}],"ratio":"1:1"}`),
		[]byte(`{"groups":[{"count":1,"phases":[{"dataSize":2048,"operationType":"allReduce"},{"dataSize":1}]}],"ratio":"2:1","seed":7}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []difference.Change{
		{Kind: "changed", Subject: "submission", Path: "groups[0].phases[0].dataSize", Before: []byte("1024"), After: []byte("2048"), Text: "groups[0].phases[0].dataSize 1024 → 2048"},
		{Kind: "added", Subject: "submission", Path: "groups[0].phases[1]", Text: `groups[0].phases[1] {"dataSize":1} added`},
		{Kind: "changed", Subject: "submission", Path: "ratio", Before: []byte(`"1:1"`), After: []byte(`"2:1"`), Text: "ratio 1:1 → 2:1"},
		{Kind: "added", Subject: "submission", Path: "seed", Text: "seed 7 added"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := difference.Fields([]byte(`{}`), []byte(`{`)); err == nil {
		t.Error("a text that is not JSON is compared")
	}
}

// TestFieldsAreComplete: two submissions have no different fields exactly if they are equal.
func TestFieldsAreComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) []byte {
			tree := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "members") {
				var v any = rapid.IntRange(0, 2).Draw(t, "value")
				if rapid.Bool().Draw(t, "list") {
					v = []any{v, map[string]any{"x": rapid.IntRange(0, 1).Draw(t, "inner")}}
				}
				tree[rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")] = v
			}
			b, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		got, err := difference.Fields(a, b)
		if err != nil || (len(got) == 0) != (string(a) == string(b)) {
			t.Fatalf("%s and %s: %v, %v", a, b, got, err)
		}
		back, err := difference.Fields(b, a)
		if err != nil || len(back) != len(got) {
			t.Fatalf("%s and %s: there %v, back %v, %v", a, b, got, back, err)
		}
	})
}
